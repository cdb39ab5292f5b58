// Value iteration for 1010! over boards alone: the piece is averaged out, one array holds a value for every raw board.
//
// A raw board is what lies on the table just after a placement, full lines still there. Its value counts the reward of
// arriving there:
//   U(full board)  = reward of its lines + U(board after clearing)
//   U(other board) = constant + moves * E[number of placements of the next piece]
//                    + discount * E[best U(board with the piece on it), or 0 where it does not fit]
// A placement only adds cells, so every successor has a larger number than the board itself. A sweep from the full board
// down to the empty one therefore reads values of this very sweep, except behind cleared lines, where it reads those of
// the sweep before: one sweep solves the game from one cleared line to the next.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "games/tenten/lines.hpp"
#include "games/tenten/rules.hpp"

namespace rookery::tenten {

using SmallBoard = std::uint32_t;
inline constexpr int kMinTableCells = 3;
inline constexpr int kMaxTableCells = 32;

struct Rewards {
    double constant = 0;  // a draw, whether the piece fits or not
    double moves = 0;  // times the expected number of placements of the next piece
    double cells = 0;  // a cell placed; counts in the evaluation of a policy only
    std::array<double, 2 * kMaxSide + 1> lines{};  // by the number of lines cleared at once
};

// The rules on boards of up to 32 cells, as the sweeps need them.
class SmallRules {
public:
    struct Piece {
        int weight = 0, size = 0;
        SmallBoard anchors = 0;
        std::vector<int> offsets;
        std::array<SmallBoard, kMaxTableCells> masks{};  // by anchor
    };

    explicit SmallRules(const Rules& rules) : lines_(Lines<SmallBoard>::of(rules.rows(), rules.columns())) {
        if (rules.cells() < kMinTableCells || rules.cells() > kMaxTableCells) {
            throw std::invalid_argument("a table of values needs a board of 3 to 32 cells");
        }
        if (rules.hand() != 1) throw std::invalid_argument("a table of values needs hands of one piece");
        for (const auto& piece : rules.pieces()) {
            Piece small;
            small.size = piece.size;
            small.anchors = static_cast<SmallBoard>(piece.anchors);
            small.offsets = piece.offsets;
            for (SmallBoard anchors = small.anchors; anchors; anchors &= anchors - 1) {
                const int anchor = std::countr_zero(anchors);
                small.masks[anchor] = static_cast<SmallBoard>(piece.cells << anchor);
            }
            pieces_.push_back(small);
        }
        for (const auto piece : rules.draw_table()) ++pieces_[piece].weight;
        total_weight_ = static_cast<int>(rules.draw_table().size());
    }

    const std::vector<Piece>& pieces() const { return pieces_; }
    int total_weight() const { return total_weight_; }
    int cells() const { return lines_.rows * lines_.columns; }
    std::uint64_t boards() const { return std::uint64_t(1) << cells(); }

    static SmallBoard placements(const Piece& piece, SmallBoard board) {
        const SmallBoard free = ~board;
        SmallBoard fits = piece.anchors;
        for (const int offset : piece.offsets) fits &= free >> offset;
        return fits;
    }

    bool has_line(SmallBoard board) const { return lines_.has_line(board); }

    SmallBoard clear(SmallBoard board, int& lines) const {
        lines = std::popcount(lines_.full_rows(board)) + std::popcount(lines_.full_columns(board));
        return lines_.clear(board);
    }

private:
    Lines<SmallBoard> lines_;
    int total_weight_ = 0;
    std::vector<Piece> pieces_;
};

// The smallest and the greatest change of a stored value in a sweep, over the boards with full lines: copies of values
// behind cleared lines, the only ones a sweep reads from the sweep before. The copies are renewed when the sweep comes
// to them, so these changes say by how much the values of the *previous* sweep missed their equation.
struct Change {
    double lowest = std::numeric_limits<double>::infinity();
    double highest = -std::numeric_limits<double>::infinity();

    void add(double change) {
        lowest = std::min(lowest, change);
        highest = std::max(highest, change);
    }
    void add(const Change& other) {
        lowest = std::min(lowest, other.lowest);
        highest = std::max(highest, other.highest);
    }
};

// Calls block(first, end) -> Change for ranges of boards that cover the table, so that all supersets of a board come
// before it. Ranges whose high cells are different sets of the same size cannot reach each other and run in parallel;
// the result does not depend on the number of threads. `control.done` counts boards.
template <class Block>
Change descend(const SmallRules& rules, int threads, Control& control, Block&& block) {
    const int low = std::min(rules.cells(), std::max(12, std::min(15, rules.cells() - 4)));
    const int high = rules.cells() - low;
    if (high < 6) threads = 1;
    Change total;
    for (int level = high; level >= 0; --level) {
        std::vector<std::uint64_t> ranges;
        for (std::uint64_t set = 0; set < std::uint64_t(1) << high; ++set) {
            if (std::popcount(set) == level) ranges.push_back(set);
        }
        std::vector<Change> changes(ranges.size());
        parallel_blocks(static_cast<std::int64_t>(ranges.size()), threads, [&](std::int64_t i) {
            if (control.stopped()) return;
            const std::uint64_t first = ranges[i] << low, size = std::uint64_t(1) << low;
            changes[i] = block(first, first + size);
            control.add(static_cast<std::int64_t>(size));
        });
        for (const auto& change : changes) total.add(change);
    }
    return total;
}

// A tile is a few boards that differ in their lowest cells only: they lie side by side in memory and are computed
// together, eight values in single precision, four in double.
template <class T>
struct TileOf;
template <>
struct TileOf<float> {
    typedef float type __attribute__((vector_size(32)));
};
template <>
struct TileOf<double> {
    typedef double type __attribute__((vector_size(32)));
};
template <class T>
using Tile = typename TileOf<T>::type;
template <class T>
inline constexpr int kLanes = 32 / sizeof(T);

template <class T>
Tile<T> load_tile(const T* values) {
    Tile<T> tile;
    std::memcpy(&tile, values, sizeof tile);
    return tile;
}

// Lane i takes lane i | covered, or 0 where the piece would cover a filled cell.
template <SmallBoard covered, class T>
Tile<T> covered_lanes(Tile<T> tile) {
    constexpr auto from = [](int lane) { return lane & covered ? kLanes<T> : lane | static_cast<int>(covered); };
    if constexpr (kLanes<T> == 8) {
        return __builtin_shufflevector(tile, Tile<T>{}, from(0), from(1), from(2), from(3), from(4), from(5), from(6),
                                       from(7));
    } else {
        return __builtin_shufflevector(tile, Tile<T>{}, from(0), from(1), from(2), from(3));
    }
}

template <class T>
Tile<T> covered_lanes(Tile<T> tile, SmallBoard covered) {
    switch (covered) {
        case 1:
            return covered_lanes<1, T>(tile);
        case 2:
            return covered_lanes<2, T>(tile);
        case 3:
            return covered_lanes<3, T>(tile);
    }
    if constexpr (kLanes<T> == 8) {
        switch (covered) {
            case 4:
                return covered_lanes<4, T>(tile);
            case 5:
                return covered_lanes<5, T>(tile);
            case 6:
                return covered_lanes<6, T>(tile);
        }
    }
    return covered_lanes<kLanes<T> - 1, T>(tile);
}

// One sweep in place over values[0 .. 2^cells). All rewards are multiplied by `scale`; they must not be negative.
// A stopped sweep leaves a mixture of old and new values, from which the next one can go on.
template <class T>
Change sweep(const Rules& game, T* values, const Rewards& rewards, double discount, double scale, int threads,
             Control& control) {
    const SmallRules rules(game);
    const T base_reward = static_cast<T>(scale * rewards.constant);
    const T move_reward = static_cast<T>(scale * rewards.moves / rules.total_weight());
    const T future = static_cast<T>(discount / rules.total_weight());
    constexpr SmallBoard kLaneBits = kLanes<T> - 1;
    std::vector<SmallBoard> lane_anchors;  // by piece: the placements that cover cells of the tile
    for (const auto& piece : rules.pieces()) {
        SmallBoard found = 0;
        for (SmallBoard anchors = piece.anchors; anchors; anchors &= anchors - 1) {
            if (piece.masks[std::countr_zero(anchors)] & kLaneBits) found |= anchors & -anchors;
        }
        lane_anchors.push_back(found);
    }

    const auto refresh = [&](SmallBoard board, Change& change) {
        int lines = 0;
        const SmallBoard cleared = rules.clear(board, lines);
        const T value = static_cast<T>(scale * rewards.lines[lines]) + values[cleared];
        change.add(static_cast<double>(value) - static_cast<double>(values[board]));
        values[board] = value;
    };
    return descend(rules, threads, control, [&](std::uint64_t first, std::uint64_t end) {
        Change change;
        for (std::uint64_t next = end; next > first; next -= kLanes<T>) {
            const auto tile = static_cast<SmallBoard>(next - kLanes<T>);
            if (rules.has_line(tile)) {
                for (int lane = kLanes<T> - 1; lane >= 0; --lane) refresh(tile | lane, change);
                continue;
            }
            // Lanes with a full line come first: other lanes of this tile may lead to them.
            const bool some_lines = rules.has_line(tile | kLaneBits);
            unsigned with_line = 0;
            if (some_lines) {
                for (int lane = 0; lane < kLanes<T>; ++lane) {
                    if (!rules.has_line(tile | lane)) continue;
                    with_line |= 1u << lane;
                    refresh(tile | lane, change);
                }
            }
            // Placements inside the tile need the values of its own higher lanes, so lanes are finished one by one
            // where a piece can lie wholly in the tile; everything else is the same for all lanes.
            Tile<T> expected{}, moves{};
            struct Inner {
                T weight;
                Tile<T> best;
                SmallBoard anchors;
                const SmallRules::Piece* piece;
            };
            std::array<Inner, kMaxPieces> inner;
            int inner_count = 0;
            for (std::size_t p = 0; p < lane_anchors.size(); ++p) {
                const auto& piece = rules.pieces()[p];
                Tile<T> best{};
                const SmallBoard fits = SmallRules::placements(piece, tile);
                const auto weight = static_cast<T>(piece.weight);
                SmallBoard inside = 0;
                for (SmallBoard plain = fits & ~lane_anchors[p]; plain; plain &= plain - 1) {
                    const Tile<T> value = load_tile(values + (tile | piece.masks[std::countr_zero(plain)]));
                    best = best > value ? best : value;
                }
                for (SmallBoard lanes = fits & lane_anchors[p]; lanes; lanes &= lanes - 1) {
                    const SmallBoard mask = piece.masks[std::countr_zero(lanes)];
                    if ((mask & ~kLaneBits) == 0) {
                        inside |= lanes & -lanes;
                    } else {
                        const Tile<T> successor = load_tile(values + (tile | (mask & ~kLaneBits)));
                        const Tile<T> value = covered_lanes<T>(successor, mask & kLaneBits);
                        best = best > value ? best : value;
                    }
                    if (rewards.moves != 0) moves += covered_lanes<T>(Tile<T>{} + weight, mask & kLaneBits);
                }
                if (rewards.moves != 0) moves += weight * static_cast<T>(std::popcount(fits & ~lane_anchors[p]));
                if (inside) {
                    inner[inner_count++] = {weight, best, inside, &piece};
                } else {
                    expected += weight * best;
                }
            }
            for (int lane = kLanes<T> - 1; lane >= 0; --lane) {
                if (with_line >> lane & 1) continue;
                T sum = expected[lane];
                for (int i = 0; i < inner_count; ++i) {
                    T best = inner[i].best[lane];
                    for (SmallBoard anchors = inner[i].anchors; anchors; anchors &= anchors - 1) {
                        const SmallBoard mask = inner[i].piece->masks[std::countr_zero(anchors)];
                        if ((mask & lane) == 0) best = std::max(best, values[tile | lane | mask]);
                    }
                    sum += inner[i].weight * best;
                }
                values[tile | lane] = base_reward + move_reward * moves[lane] + future * sum;
            }
        }
        return change;
    });
}

}  // namespace rookery::tenten
