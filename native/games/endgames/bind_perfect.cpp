#include "games/endgames/perfect.hpp"

#include <nanobind/stl/string_view.h>

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"

namespace rookery {

using namespace endgames;

using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig>;

static auto view(nb::handle owner, const std::vector<float>& values) {
    return nb::ndarray<nb::numpy, const float>(values.data(), {values.size()}, owner);
}

ROOKERY_BIND(endgames, 2) {
    nb::class_<PerfectLearner::Verdict>(m, "PerfectVerdict")
        .def_ro("won", &PerfectLearner::Verdict::won)
        .def_ro("optimal", &PerfectLearner::Verdict::optimal)
        .def_ro("exact", &PerfectLearner::Verdict::exact)
        .def_ro("drawn", &PerfectLearner::Verdict::drawn)
        .def_ro("drawn_exact", &PerfectLearner::Verdict::drawn_exact);
    nb::class_<PositionValues>(m, "PositionValues",
                               "The value of every position of one endgame with the side that has the pieces to move.")
        .def(
            "__init__",
            [](PositionValues* self, std::string_view pieces, float discount, Floats best) {
                new (self) PositionValues(read_kinds(pieces), discount, {best.data(), best.data() + best.size()});
            },
            "pieces"_a, "discount"_a, "best"_a)
        .def_prop_ro("best", [](nb::handle self) { return view(self, nb::cast<const PositionValues&>(self).best()); })
        .def(
            "values",
            [](const PositionValues& self, const Handle<State>& state) {
                const Position& p = state.state.position();
                if (!self.covers(p)) throw nb::value_error("these are the values of another endgame");
                std::vector<std::pair<Action, float>> found;
                self.values(p, [&](Action action, float value) { found.emplace_back(action, value); });
                return found;
            },
            "state"_a, "Every legal action with its value for the side to move.");
    nb::class_<PerfectLearner, PositionValues>(
        m, "PerfectLearner", "Values of every position and move of one endgame, learned from backups.")
        .def(
            "__init__",
            [](PerfectLearner* self, std::string_view pieces, float discount) {
                new (self) PerfectLearner(read_kinds(pieces), discount);
            },
            "pieces"_a, "discount"_a)
        .def_prop_ro("positions", &PerfectLearner::positions)
        .def_prop_ro("rounds", &PerfectLearner::rounds)
        .def_prop_ro("pairs", [](const PerfectLearner& self) { return self.q().size(); })
        .def_prop_ro("q", [](nb::handle self) { return view(self, nb::cast<const PerfectLearner&>(self).q()); })
        .def(
            "restore",
            [](PerfectLearner& self, Floats q, Floats best, std::uint32_t rounds) {
                self.restore({q.data(), q.data() + q.size()}, {best.data(), best.data() + best.size()}, rounds);
            },
            "q"_a, "best"_a, "rounds"_a)
        .def(
            "round",
            [](PerfectLearner& self, std::int64_t starts, std::uint64_t seed, int threads, Control* given) {
                if (starts < 0) throw nb::value_error("the number of starts must not be negative");
                if (threads < 0) throw nb::value_error("the number of threads must not be negative; 0 means all cores");
                ControlOrNone call(given);
                interruptible(call.control, [&] { self.round(starts, seed, threads, call.control); });
            },
            "starts"_a, "seed"_a, "threads"_a, "control"_a = nb::none())
        .def(
            "judge",
            [](const PerfectLearner& self, const DistanceTable& table, int threads) {
                Control control;
                return interruptible(control, [&] { return self.judge(table, threads); });
            },
            "table"_a, "threads"_a);
}

}  // namespace rookery
