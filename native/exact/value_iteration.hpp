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
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "games/tenten.hpp"

namespace rookery::tenten {

using SmallBoard = std::uint32_t;
inline constexpr int kMinTableCells = 3;
inline constexpr int kMaxTableCells = 32;

struct Rewards {
    double constant = 0;  // a draw, whether the piece fits or not
    double moves = 0;     // times the expected number of placements of the next piece
    double cells = 0;     // a cell placed; counts in the evaluation of a policy only
    std::array<double, 2 * kMaxSide + 1> lines{};  // by the number of lines cleared at once
};

// The rules on boards of up to 32 cells, as the sweeps need them. The lowest three cells are the lanes of a tile: eight
// boards that differ in them only lie side by side in memory and are computed together.
class SmallRules {
public:
    static constexpr int kLanes = 8;
    static constexpr SmallBoard kLaneBits = kLanes - 1;

    struct Piece {
        int weight = 0, size = 0;
        SmallBoard anchors = 0, lane_anchors = 0;  // lane_anchors: placements that cover cells of the tile
        std::vector<int> offsets;
        std::array<SmallBoard, kMaxTableCells> masks{};  // by anchor
    };

    explicit SmallRules(const Rules& rules) : columns_(rules.columns()), rows_(rules.rows()) {
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
                if (small.masks[anchor] & kLaneBits) small.lane_anchors |= SmallBoard(1) << anchor;
            }
            pieces_.push_back(small);
        }
        for (const auto piece : rules.draw_table()) ++pieces_[piece].weight;
        total_weight_ = static_cast<int>(rules.draw_table().size());
        row_ = (SmallBoard(1) << columns_) - 1;
        if (columns_ == 32) row_ = ~SmallBoard(0);
        for (int row = 0; row < rows_; ++row) first_column_ |= SmallBoard(1) << (row * columns_);
    }

    const std::vector<Piece>& pieces() const { return pieces_; }
    int total_weight() const { return total_weight_; }
    int cells() const { return rows_ * columns_; }
    std::uint64_t boards() const { return std::uint64_t(1) << cells(); }

    static SmallBoard placements(const Piece& piece, SmallBoard board) {
        const SmallBoard free = ~board;
        SmallBoard fits = piece.anchors;
        for (const int offset : piece.offsets) fits &= free >> offset;
        return fits;
    }

    bool has_line(SmallBoard board) const { return full_rows(board) | full_columns(board); }

    SmallBoard clear(SmallBoard board, int& lines) const {
        const SmallBoard rows = full_rows(board), columns = full_columns(board);
        lines = std::popcount(rows) + std::popcount(columns);
        return board & ~(rows * row_ | columns * first_column_);
    }

private:
    // A bit in the first column for every full row.
    SmallBoard full_rows(SmallBoard board) const {
        SmallBoard full = board & first_column_;
        for (int column = 1; column < columns_; ++column) full &= board >> column;
        return full;
    }
    // A bit in the first row for every full column.
    SmallBoard full_columns(SmallBoard board) const {
        SmallBoard full = board & row_;
        for (int row = 1; row < rows_; ++row) full &= board >> (row * columns_);
        return full;
    }

    int columns_, rows_, total_weight_ = 0;
    SmallBoard row_ = 0, first_column_ = 0;
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

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // tiles never cross a call: everything here is inlined
#endif

// Eight values side by side; they may lie at any address of the table.
template <class T>
struct TileOf;
template <>
struct TileOf<float> {
    typedef float type __attribute__((vector_size(32), aligned(4), may_alias));
};
template <>
struct TileOf<double> {
    typedef double type __attribute__((vector_size(64), aligned(8), may_alias));
};
template <class T>
using Tile = typename TileOf<T>::type;

// Lane i takes lane i | covered, or 0 where the piece would cover a filled cell.
template <SmallBoard covered, class T>
[[gnu::always_inline]] inline Tile<T> covered_lanes(Tile<T> tile) {
    constexpr auto from = [](int lane) { return lane & covered ? 8 : lane | static_cast<int>(covered); };
    return __builtin_shufflevector(tile, Tile<T>{}, from(0), from(1), from(2), from(3), from(4), from(5), from(6),
                                   from(7));
}

template <class T>
[[gnu::always_inline]] inline Tile<T> covered_lanes(Tile<T> tile, SmallBoard covered) {
    switch (covered) {
        case 1: return covered_lanes<1, T>(tile);
        case 2: return covered_lanes<2, T>(tile);
        case 3: return covered_lanes<3, T>(tile);
        case 4: return covered_lanes<4, T>(tile);
        case 5: return covered_lanes<5, T>(tile);
        case 6: return covered_lanes<6, T>(tile);
        default: return covered_lanes<7, T>(tile);
    }
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
    constexpr SmallBoard kLaneBits = SmallRules::kLaneBits;

    const auto refresh = [&](SmallBoard board, Change& change) {
        int lines = 0;
        const SmallBoard cleared = rules.clear(board, lines);
        const T value = static_cast<T>(scale * rewards.lines[lines]) + values[cleared];
        change.add(static_cast<double>(value) - static_cast<double>(values[board]));
        values[board] = value;
    };
    return descend(rules, threads, control, [&](std::uint64_t first, std::uint64_t end) {
        Change change;
        for (std::uint64_t next = end; next > first; next -= SmallRules::kLanes) {
            const auto tile = static_cast<SmallBoard>(next - SmallRules::kLanes);
            if (rules.has_line(tile)) {
                for (int lane = SmallRules::kLanes - 1; lane >= 0; --lane) refresh(tile | lane, change);
                continue;
            }
            // Lanes with a full line come first: other lanes of this tile may lead to them.
            const bool some_lines = rules.has_line(tile | kLaneBits);
            unsigned with_line = 0;
            if (some_lines) {
                for (int lane = 0; lane < SmallRules::kLanes; ++lane) {
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
            for (const auto& piece : rules.pieces()) {
                Tile<T> best{};
                const SmallBoard fits = SmallRules::placements(piece, tile);
                const auto weight = static_cast<T>(piece.weight);
                SmallBoard inside = 0;
                for (SmallBoard plain = fits & ~piece.lane_anchors; plain; plain &= plain - 1) {
                    const auto& value = reinterpret_cast<const Tile<T>&>(values[tile | piece.masks[std::countr_zero(plain)]]);
                    best = best > value ? best : value;
                }
                for (SmallBoard lanes = fits & piece.lane_anchors; lanes; lanes &= lanes - 1) {
                    const SmallBoard mask = piece.masks[std::countr_zero(lanes)];
                    if ((mask & ~kLaneBits) == 0) {
                        inside |= lanes & -lanes;
                    } else {
                        const auto& successor = reinterpret_cast<const Tile<T>&>(values[tile | (mask & ~kLaneBits)]);
                        const Tile<T> value = covered_lanes<T>(successor, mask & kLaneBits);
                        best = best > value ? best : value;
                    }
                    if (rewards.moves != 0) moves += covered_lanes<T>(Tile<T>{} + weight, mask & kLaneBits);
                }
                if (rewards.moves != 0) moves += weight * static_cast<T>(std::popcount(fits & ~piece.lane_anchors));
                if (inside) {
                    inner[inner_count++] = {weight, best, inside, &piece};
                } else {
                    expected += weight * best;
                }
            }
            for (int lane = SmallRules::kLanes - 1; lane >= 0; --lane) {
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
