#include "bindings/bind_solve.hpp"

#include <nanobind/stl/optional.h>

#include "bindings/module.hpp"
#include "games/_2048/layers.hpp"

namespace rookery {

ROOKERY_BIND(_2048, 1) {
    using L = _2048::Layers;
    using H = Handle<_2048::State>;
    nb::class_<L> layers(m, "Layers", "A solved board: the positions in layers by the sum of their tiles.");
    layers.def(
        "__init__",
        [](L* self, const H& start, std::int64_t most_positions, std::int64_t most_bytes, int threads, Control* given) {
            if (threads < 0) throw nb::value_error("the number of threads must not be negative; 0 means all cores");
            ControlOrNone call(given);
            new (self) L(interruptible(
                call.control, [&] { return L(start.state, most_positions, most_bytes, threads, call.control); }));
        },
        "start"_a, "most_positions"_a, "most_bytes"_a, "threads"_a = 0, "control"_a = nb::none(),
        "Solve everything that can be reached from a state. `control.done` counts positions.");
    layers.def(
        "__init__",
        [](L* self, int rows, int columns, int first_sum,
           nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> first,
           nb::ndarray<const L::Key, nb::ndim<1>, nb::c_contig, nb::device::cpu> keys,
           nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu> values, std::int64_t ends,
           std::int64_t chances, std::int64_t moves) {
            const auto copied = [](const auto& array) {
                return std::vector(array.data(), array.data() + array.size());
            };
            new (self) L(_2048::Rules(rows, columns), first_sum, copied(first), copied(keys), copied(values),
                         {ends, chances, moves});
        },
        "rows"_a, "columns"_a, "first_sum"_a, "first"_a, "keys"_a, "values"_a, "ends"_a, "chances"_a, "moves"_a,
        "What was solved before, as the properties of the same names give it.");
    layers.def("__len__", [](const L& self) { return self.keys().size(); });
    layers.def(
        "value",
        [](const L& self, const H& state) {
            const _2048::Rules &own = self.rules(), &other = state.state.rules();
            if (own.rows() != other.rows() || own.columns() != other.columns()) {
                throw nb::value_error("the state is of a board of another size");
            }
            return self.value(state.state);
        },
        "state"_a, "What perfect play still earns; None if that was not solved.");
    layers.def_prop_ro("rows", [](const L& self) { return self.rules().rows(); });
    layers.def_prop_ro("columns", [](const L& self) { return self.rules().columns(); });
    layers.def_prop_ro("first_sum", &L::first_sum, "Half the sum of the tiles in the first layer.");
    layers.def_prop_ro(
        "first", [](nb::handle self) { return view(self, nb::cast<const L&>(self).first()); },
        "Where each layer begins, and the last one ends.");
    layers.def_prop_ro("keys", [](nb::handle self) { return view(self, nb::cast<const L&>(self).keys()); });
    layers.def_prop_ro("values", [](nb::handle self) { return view(self, nb::cast<const L&>(self).values()); });
    layers.def_prop_ro("ends", [](const L& self) { return self.counts().ends; });
    layers.def_prop_ro("chances", [](const L& self) { return self.counts().chances; });
    layers.def_prop_ro(
        "moves", [](const L& self) { return self.counts().moves; }, "Moves and new tiles over all positions.");
}

}  // namespace rookery
