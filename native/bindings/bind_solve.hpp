// The exact solution of a game as Python sees it.
#pragma once

#include "bindings/handle.hpp"
#include "bindings/interruptible.hpp"
#include "exact/solve.hpp"

namespace rookery {

// What stays of a solved game: positions by key, and what they are worth.
struct SolvedTable {
    int players = 1;
    std::uint64_t moves = 0;   // and chance outcomes, over all positions
    std::size_t memory = 0;    // bytes that solving took
    KeyTable keys;
    std::vector<std::int8_t> player;
    Solved solved;
};

// Solves what can be reached from a state; ValueError says why that cannot be done.
template <GameState S>
SolvedTable solve_from(const S& root, std::int64_t most_positions, std::int64_t most_bytes, double precision,
                       double discount, Control& control) {
    SolvedTable table;
    table.players = root.rules().players();
    PositionGraph graph = reach(root, most_positions, most_bytes, control);
    if (!control.stopped()) table.solved = solve(graph, precision, discount, control);
    table.moves = graph.edge.size();
    table.memory = graph.bytes() + graph.size() * 24;
    table.keys = std::move(graph.keys);
    table.player = std::move(graph.player);
    return table;
}

template <class T>
nb::ndarray<nb::numpy, const T> view(nb::handle owner, const std::vector<T>& data) {
    return nb::ndarray<nb::numpy, const T>(data.data(), {data.size()}, owner);
}

inline void bind_solved(nb::module_& m) {
    using T = SolvedTable;
    nb::class_<T>(m, "Solved", "A solved game: every position by its number, in the order in which they were met.")
        .def(
            "__init__",
            [](T* self, int players, std::uint64_t moves, nb::bytes text,
               nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> ends,
               nb::ndarray<const std::int8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> player,
               nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu> low,
               nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu> high,
               nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> distance) {
                const std::size_t n = ends.size();
                if (player.size() != n || low.size() != n || distance.size() != n ||
                    (high.size() && high.size() != n)) {
                    throw nb::value_error("the arrays of a solved game do not fit together");
                }
                T table;
                table.players = players;
                table.moves = moves;
                std::uint64_t begin = 0;
                for (std::size_t i = 0; i < n; ++i) {
                    if (ends(i) < begin || ends(i) > text.size()) throw nb::value_error("the keys are damaged");
                    const auto [number, is_new] = table.keys.add({text.c_str() + begin, ends(i) - begin});
                    if (!is_new) throw nb::value_error("a key stands there twice");
                    begin = ends(i);
                }
                table.player.assign(player.data(), player.data() + n);
                table.solved.low.assign(low.data(), low.data() + n);
                table.solved.high.assign(high.data(), high.data() + high.size());
                table.solved.distance.assign(distance.data(), distance.data() + n);
                new (self) T(std::move(table));
            },
            "players"_a, "moves"_a, "text"_a, "ends"_a, "player"_a, "low"_a, "high"_a, "distance"_a)
        .def("__len__", [](const T& self) { return self.keys.size(); })
        .def(
            "find",
            [](const T& self, nb::bytes key) {
                const auto found = self.keys.find({key.c_str(), key.size()});
                return found == KeyTable::kNone ? std::int64_t{-1} : static_cast<std::int64_t>(found);
            },
            "key"_a, "The number of a position, -1 if it is not there.")
        .def(
            "key",
            [](const T& self, std::size_t i) {
                if (i >= self.keys.size()) throw nb::index_error("there is no such position");
                const auto key = self.keys[i];
                return nb::bytes(key.data(), key.size());
            },
            "number"_a)
        .def_ro("players", &T::players)
        .def_ro("moves", &T::moves, "Moves and chance outcomes over all positions.")
        .def_ro("memory", &T::memory, "Bytes that solving took.")
        .def_prop_ro("sweeps", [](const T& self) { return self.solved.sweeps; })
        .def_prop_ro(
            "error", [](const T& self) { return self.solved.error(); }, "The widest gap between two bounds.")
        .def_prop_ro("player", [](nb::handle self) { return view(self, nb::cast<const T&>(self).player); })
        .def_prop_ro(
            "low", [](nb::handle self) { return view(self, nb::cast<const T&>(self).solved.low); },
            "What player 0 still earns, at least.")
        .def_prop_ro(
            "high", [](nb::handle self) { return view(self, nb::cast<const T&>(self).solved.high); },
            "At most; empty if `low` is exact.")
        .def_prop_ro(
            "distance", [](nb::handle self) { return view(self, nb::cast<const T&>(self).solved.distance); },
            "Steps to the end with best play; -1 where there need be none or chance decides.")
        .def(
            "keys",
            [](const T& self) {
                std::string text;
                std::vector<std::uint64_t> ends;
                for (std::size_t i = 0; i < self.keys.size(); ++i) {
                    text += self.keys[i];
                    ends.push_back(text.size());
                }
                const std::size_t n = ends.size();
                return std::make_pair(nb::bytes(text.data(), text.size()), to_numpy(std::move(ends), {n}));
            },
            "All keys after one another, and where each ends.");
}

template <GameState S, class Class>
void bind_solve(Class& cls) {
    cls.def(
        "solve_reachable",
        [](const Handle<S>& self, std::int64_t most_positions, std::int64_t most_bytes, double precision,
           double discount, Control* given) {
            ControlOrNone call(given);
            try {
                return interruptible(call.control, [&] {
                    return solve_from(self.state, most_positions, most_bytes, precision, discount, call.control);
                });
            } catch (const TooLarge& error) {
                const std::string sentence =
                    std::string(error.what()) == "bytes"
                        ? "the positions that can be reached need more than " + std::to_string(most_bytes / 1'000'000) +
                              " MB of memory"
                        : "more than " + std::to_string(most_positions) + " positions can be reached";
                throw nb::value_error(sentence.c_str());
            }
        },
        "most_positions"_a, "most_bytes"_a, "precision"_a, "discount"_a, "control"_a = nb::none(),
        "Solve everything that can be reached from here. `control.done` counts positions met.");
}

}  // namespace rookery
