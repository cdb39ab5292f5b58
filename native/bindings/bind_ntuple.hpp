// N-tuple networks as Python sees them.
#pragma once

#include <nanobind/stl/vector.h>

#include "bindings/handle.hpp"
#include "bindings/interruptible.hpp"
#include "learn/ntuple.hpp"

namespace rookery {

void bind_tuple_net(nb::module_& m);

// Methods of a state.
template <GameState S>
void bind_ntuple(nb::class_<Handle<S>>& cls) {
    using H = Handle<S>;
    const auto check = [](const S& state, const TupleNet& net) {
        const Shape shape = state.rules().observation_shape();
        if (shape[1] * shape[2] != net.cells() || state.rules().players() != net.sides()) {
            throw nb::value_error("the network is for another board");
        }
    };
    cls.def_static(
        "has_cells", [] { return requires(const S& state, std::uint8_t* cells) { state.cells(cells); }; },
        "Whether the game itself says what is on its cells.");
    cls.def(
        "ntuple_cells",
        [](const H& self, const CellView& view) {
            const Shape shape = self.state.rules().observation_shape();
            const std::size_t rows = static_cast<std::size_t>(shape[1]), columns = static_cast<std::size_t>(shape[2]);
            std::vector<std::uint8_t> cells(rows * columns);
            std::vector<float> scratch;
            view.read(self.state, scratch, cells);
            return to_numpy(std::move(cells), {rows, columns});
        },
        "view"_a, "What is on the cells, `[rows, columns]`.");
    cls.def(
        "ntuple_values",
        [check](const H& self, TupleNet& net, const CellView& view, const TupleSettings& settings, int depth) {
            check(self.state, net);
            if (self.state.player() < 0) return std::vector<double>();
            nb::gil_scoped_release release;
            TupleLearner<S> learner(net, view, settings);
            const auto values = learner.values(self.state, depth);
            return std::vector<double>(values.begin(), values.end());
        },
        "net"_a, "view"_a, "settings"_a, "depth"_a,
        "The values of the legal actions for the player to move, looking `depth` moves further ahead.");
    cls.def_static(
        "ntuple_learn",
        [check](const std::vector<const H*>& starts, TupleNet& net, const CellView& view, const TupleSettings& settings,
                std::int64_t first, std::int64_t end, std::int64_t games, std::uint64_t seed, int threads,
                double seconds, Control* given) {
            std::vector<S> states;
            for (const H* start : starts) states.push_back(start->state);
            if (states.empty()) throw nb::value_error("there must be at least one start");
            check(states.front(), net);
            ControlOrNone call(given);
            return interruptible(
                call.control,
                [&] {
                    return learn_tuples<S>(net, view, settings, states, first, end, games, seed, threads, seconds,
                                           call.control);
                },
                true);
        },
        "starts"_a, "net"_a, "view"_a, "settings"_a, "first"_a, "end"_a, "games"_a, "seed"_a, "threads"_a, "seconds"_a,
        "control"_a = nb::none(),
        "Plays games first to end - 1 of `games`, each from the next of the starts, and learns from them. Stopped by "
        "Ctrl-C or after `seconds`, it returns how far it came.");
    using Sweeper = TupleSweeper<S>;
    nb::class_<Sweeper>(cls, "TupleSweeper", "Positions that are remembered one by one, for one player.")
        .def(
            "__init__",
            [check](Sweeper* self, const H& like, TupleNet& net, const CellView& view, const TupleSettings& settings,
                    std::size_t most, int threads) {
                check(like.state, net);
                if (net.sides() != 1) throw nb::value_error("only games for one player are swept");
                new (self) Sweeper(net, view, settings, most, threads);
            },
            "like"_a, "net"_a, "view"_a, "settings"_a, "most"_a, "threads"_a, nb::keep_alive<1, 3>(),
            nb::keep_alive<1, 4>())
        .def(
            "explore",
            [](Sweeper& self, const H& start, std::int64_t first, std::int64_t end, std::uint64_t seed,
               Control* given) {
                if (end < first) throw nb::value_error("the games must end after they begin");
                ControlOrNone call(given);
                return interruptible(
                    call.control, [&] { return self.explore(start.state, first, end, seed, call.control); }, true);
            },
            "start"_a, "first"_a, "end"_a, "seed"_a, "control"_a = nb::none(),
            "Plays games first to end - 1 and remembers the positions after all of their legal moves.")
        .def(
            "sweep",
            [](Sweeper& self, Control* given) {
                ControlOrNone call(given);
                interruptible(call.control, [&] { self.sweep(call.control); }, true);
            },
            "control"_a = nb::none(), "Gives every remembered position its value anew, the latest in a game first.");
}

}  // namespace rookery
