#include "bindings/bind_ntuple.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>

#include <bit>
#include <utility>

namespace rookery {

void bind_tuple_net(nb::module_& m) {
    using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Keys = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    const auto found = [](const TupleNet& self, Bytes cells, int side) {
        if (std::cmp_not_equal(cells.size(), self.cells())) throw nb::value_error("there must be one number per cell");
        if (side < 0 || side >= self.sides()) throw nb::index_error("there is no such side");
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (cells(i) >> self.bits()) throw nb::value_error("a number on a cell is too large");
        }
        std::vector<TupleNet::Index> places(self.lookups());
        self.find(cells.data(), side, places.data());
        return places;
    };
    nb::class_<CellView>(m, "CellView", "What is on the cells of a grid, as small whole numbers.")
        .def(
            "__init__",
            [](CellView* self, std::vector<int> planes, const std::vector<std::uint64_t>& patterns, int most) {
                if (planes.size() > 64 || patterns.size() > 255 || most < 1 || most > 255) {
                    throw nb::value_error("a cell has at most 64 planes and 256 values");
                }
                new (self) CellView{std::move(planes), {}, static_cast<std::uint8_t>(most)};
                for (std::size_t i = 0; i < patterns.size(); ++i) {
                    self->codes[patterns[i]] = static_cast<std::uint8_t>(std::min<std::size_t>(i + 1, most));
                }
            },
            "planes"_a, "patterns"_a, "most"_a,
            "Pattern i of planes, a bit for each of `planes`, is the value i + 1; what is not listed or greater is `most`.");
    nb::class_<TupleSettings>(m, "TupleSettings")
        .def(
            "__init__",
            [](TupleSettings* self, double alpha, double discount, double trace, int trace_length, double epsilon,
               double last_epsilon, bool every_outcome) {
                if (trace_length < 1) throw nb::value_error("the trace must have at least one position");
                new (self) TupleSettings{alpha, discount, trace, trace_length, epsilon, last_epsilon, every_outcome};
            },
            "alpha"_a, "discount"_a, "trace"_a, "trace_length"_a, "epsilon"_a, "last_epsilon"_a, "every_outcome"_a);
    nb::class_<TupleTraining>(m, "TupleTraining", "What happened in a part of the training.")
        .def_ro("games", &TupleTraining::games)
        .def_ro("moves", &TupleTraining::moves)
        .def_ro("returns", &TupleTraining::returns, "Of player 0, over all games.")
        .def_ro("squares", &TupleTraining::squares, "Of the returns of player 0, over all games.")
        .def_ro("best", &TupleTraining::best, "The greatest return of player 0.")
        .def_ro("results", &TupleTraining::results, "Games in which returns were above, at and below 0.");
    nb::class_<TupleNet>(m, "TupleNet", "Tables of weights, indexed by what is on tuples of cells.")
        .def(
            "__init__",
            [](TupleNet* self, int cells, int bits, int sides, const std::vector<std::vector<int>>& tuples,
               const std::vector<std::vector<int>>& symmetries, bool coherent, double first_value, int table_bits) {
                new (self) TupleNet(cells, bits, sides, tuples, symmetries, coherent, first_value, table_bits);
            },
            "cells"_a, "bits"_a, "sides"_a, "tuples"_a, "symmetries"_a, "coherent"_a, "first_value"_a, "table_bits"_a)
        .def_prop_ro("lookups", &TupleNet::lookups, "Weights that are added up.")
        .def_prop_ro("weights", &TupleNet::weights)
        .def_prop_ro("memory", &TupleNet::bytes, "Bytes of all tables.")
        .def("find", found, "cells"_a, "side"_a, "Where the weights of a position are, by the numbers on its cells.")
        .def(
            "value",
            [found](const TupleNet& self, Bytes cells, int side) {
                return self.value(found(self, cells, side).data());
            },
            "cells"_a, "side"_a, "The value of a position to a side that has just moved.")
        .def(
            "arrays",
            [](const TupleNet& self, bool all) {
                // A bit for each weight that is not new, and these one after the other.
                const auto data = self.data();
                const std::size_t stride = self.stride(), weights = self.weights();
                std::vector<std::uint8_t> known((weights + 7) / 8);
                std::size_t count = 0;
                const auto is_new = [&](std::size_t i) {
                    return data[i * stride] == 0 && (stride == 1 || data[i * stride + 2] == 0);
                };
                for (std::size_t i = 0; i < weights; ++i) {
                    if (is_new(i)) continue;
                    known[i / 8] |= static_cast<std::uint8_t>(1 << i % 8);
                    ++count;
                }
                const std::size_t numbers = all ? stride : 1;
                std::vector<float> values(count * numbers);
                std::size_t at = 0;
                for (std::size_t i = 0; i < weights; ++i) {
                    if (!(known[i / 8] >> i % 8 & 1)) continue;
                    for (std::size_t k = 0; k < numbers; ++k) values[k * count + at] = data[i * stride + k];
                    ++at;
                }
                const std::size_t bytes = known.size();
                return std::make_tuple(to_numpy(std::move(known), {bytes}),
                                       to_numpy(std::move(values), {count * numbers}));
            },
            "all"_a,
            "A bit for each weight that was learned, and these: their values, with `all` then their sums of errors and sums "
            "of sizes of errors if there are any.")
        .def(
            "restore",
            [](TupleNet& self, Bytes known, Floats values) {
                const auto data = self.data();
                const std::size_t stride = self.stride(), weights = self.weights();
                std::size_t count = 0;
                for (std::size_t i = 0; i < known.size(); ++i)
                    count += static_cast<std::size_t>(std::popcount(known(i)));
                const std::size_t numbers = count ? values.size() / count : 1;
                if (known.size() != (weights + 7) / 8 || values.size() != count * numbers ||
                    (numbers != 1 && numbers != stride)) {
                    throw nb::value_error("the weights are those of another network");
                }
                for (std::size_t i = weights; i < known.size() * 8; ++i) {
                    if (known(i / 8) >> i % 8 & 1) throw nb::value_error("the weights are those of another network");
                }
                std::fill(data.begin(), data.end(), 0.0f);
                std::size_t at = 0;
                for (std::size_t i = 0; i < weights; ++i) {
                    if (!(known(i / 8) >> i % 8 & 1)) continue;
                    for (std::size_t k = 0; k < numbers; ++k) data[i * stride + k] = values(k * count + at);
                    ++at;
                }
            },
            "known"_a, "values"_a, "What `arrays` gave.")
        .def_prop_ro("remembered", &TupleNet::remembered, "Positions that have a value of their own.")
        .def("set_optimism", &TupleNet::set_optimism, "optimism"_a,
             "All other positions are worth more than the tables say, by this share, while some are remembered.")
        .def(
            "positions",
            [](const TupleNet& self) {
                std::vector<std::uint64_t> keys;
                std::vector<float> values;
                for (std::size_t i = 0; i < self.keys().size(); ++i) {
                    if (self.keys()[i] == TupleNet::kNone) continue;
                    keys.push_back(self.keys()[i]);
                    values.push_back(self.key_values()[i]);
                }
                const std::size_t count = keys.size();
                return std::make_tuple(to_numpy(std::move(keys), {count}), to_numpy(std::move(values), {count}));
            },
            "Keys of the remembered positions, and their values.")
        .def(
            "remember",
            [](TupleNet& self, Keys keys, Floats values) {
                if (keys.size() != values.size()) throw nb::value_error("every position must have a value");
                for (std::size_t i = 0; i < keys.size(); ++i) {
                    self.remember(std::min(keys(i), TupleNet::kNone - 1), values(i));
                }
            },
            "keys"_a, "values"_a, "What `positions` gave.");
}

}  // namespace rookery
