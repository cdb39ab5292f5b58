#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string_view.h>

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"
#include "games/endgames/retrograde.hpp"

namespace rookery {

using namespace endgames;
using H = Handle<endgames::State>;

static const Position& covered(const DistanceTable& table, const H& state) {
    const Position& p = state.state.position();
    if (!table.covers(p)) throw std::invalid_argument("the table does not cover this material");
    return p;
}

static std::size_t checked(const DistanceTable& table, std::size_t number) {
    if (number >= table.index.size()) throw std::out_of_range("the endgame has fewer numbers than that");
    return number;
}

ROOKERY_BIND(endgames, 1) {
    m.attr("DRAWN_BYTE") = static_cast<int>(kDrawn);
    m.attr("UNUSED_BYTE") = static_cast<int>(kUnused);
    m.attr("DRAW") = static_cast<int>(kDrawDistance);
    m.attr("ILLEGAL") = static_cast<int>(kNoDistance);
    nb::class_<DistanceTable> table(m, "Table", "Distance to mate in every position of one endgame.");
    table.def_static(
        "generate",
        [](std::string_view pieces, DistanceTable::Tables others, int threads, Control* given) {
            if (threads < 0) throw nb::value_error("the number of threads must not be negative; 0 means all cores");
            ControlOrNone call(given);
            const Kinds kinds = read_kinds(pieces);
            auto made = interruptible(call.control, [&] { return generate(kinds, others, threads, call.control); });
            if (call.control.stopped()) throw std::runtime_error("the table was stopped before it was complete");
            return made;
        },
        "pieces"_a, "others"_a, "threads"_a, "control"_a = nb::none());
    table.def_static(
        "load",
        [](std::string_view pieces, DistanceTable::Tables others, nb::bytes strong, nb::bytes weak) {
            auto loaded = std::make_shared<DistanceTable>(read_kinds(pieces), std::move(others));
            const std::array<nb::bytes, 2> sides{strong, weak};
            for (int side = 0; side < 2; ++side) {
                if (sides[side].size() != loaded->index.size()) throw nb::value_error("the table has another size");
                std::memcpy(loaded->plies[side].data(), sides[side].c_str(), sides[side].size());
            }
            return loaded;
        },
        "pieces"_a, "others"_a, "strong"_a, "weak"_a);
    table.def_static(
        "size_of", [](std::string_view pieces) { return EndgameIndex(read_kinds(pieces)).size(); }, "pieces"_a);
    table.def_prop_ro("size", [](const DistanceTable& self) { return self.index.size(); });
    table.def(
        "plies",
        [](nb::handle py_self, int side) {
            const auto& bytes = nb::cast<const DistanceTable&>(py_self).plies.at(side);
            return nb::ndarray<nb::numpy, const std::uint8_t>(bytes.data(), {bytes.size()}, py_self);
        },
        "side"_a);
    table.def(
        "distance", [](const DistanceTable& self, const H& state) { return self.distance(covered(self, state)); },
        "state"_a);
    table.def(
        "moves",
        [](const DistanceTable& self, const H& state) {
            std::vector<std::pair<Action, int>> rows;
            for (const auto& move : move_distances(self, covered(self, state))) {
                rows.emplace_back(move.action, move.distance);
            }
            return rows;
        },
        "state"_a);
    table.def(
        "distances",
        [](const DistanceTable& self, nb::ndarray<const std::uint8_t, nb::shape<-1, 8>, nb::c_contig> keys) {
            std::vector<std::int16_t> found(keys.shape(0));
            {
                nb::gil_scoped_release release;
                for (std::size_t i = 0; i < found.size(); ++i) {
                    Position p;
                    std::memcpy(&p, keys.data() + 8 * i, sizeof p);
                    found[i] = self.distance_if_legal(p);
                }
            }
            return to_numpy(std::move(found), {keys.shape(0)});
        },
        "keys"_a);
    table.def(
        "index",
        [](const DistanceTable& self, const H& state) {
            const Position& p = state.state.position();
            if (!self.index.covers(p)) throw std::invalid_argument("the position has other material than the table");
            return self.index.of(p);
        },
        "state"_a);
    table.def(
        "fen",
        [](const DistanceTable& self, std::size_t number, bool white_to_move) -> std::optional<std::string> {
            const auto p = self.index.legal(checked(self, number), white_to_move ? 0 : 1);
            if (!p) return std::nullopt;
            return to_fen({*p});
        },
        "number"_a, "white_to_move"_a);
    table.def("histogram", [](const DistanceTable& self) {
        std::vector<std::int64_t> counts;
        for (const auto& side : self.histogram()) counts.insert(counts.end(), side.begin(), side.end());
        return to_numpy(std::move(counts), {2, 256});
    });
}

}  // namespace rookery
