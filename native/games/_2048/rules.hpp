// 2048: all tiles slide to one side, equal ones that meet merge, and a new tile comes; the game ends when nothing
// moves.
//
// Cells are numbered row by row from the top left. A board has four bits per cell, the exponent of its tile or 0, and
// 16 bits per row whatever the number of columns; what lies outside a smaller board stays 0. Tiles come by chance: two
// at the start, one after every move.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "core/bits.hpp"
#include "core/state.hpp"

namespace rookery::_2048 {

using Board = std::uint64_t;

enum Direction : Action { kUp, kRight, kDown, kLeft };

inline constexpr int kDirections = 4;
inline constexpr int kMaxSide = 4;
inline constexpr int kLastExponent = 15;       // four bits hold no more
inline constexpr double kShareOfFours = 0.1;   // of the new tiles; the others are twos
inline constexpr Board kOnes = 0x1111'1111'1111'1111;  // the lowest bit of every cell

// The lowest bit of every cell that is not 0.
inline Board not_empty(Board board) { return (board | board >> 1 | board >> 2 | board >> 3) & kOnes; }

// Rows become columns.
inline Board transposed(Board x) {
    x = (x & 0xf0f0'0f0f'f0f0'0f0f) | (x & 0x0000'f0f0'0000'f0f0) << 12 | (x & 0x0f0f'0000'0f0f'0000) >> 12;
    return (x & 0xff00'ff00'00ff'00ff) | (x & 0x00ff'00ff'0000'0000) >> 24 | (x & 0x0000'0000'ff00'ff00) << 24;
}

// What becomes of a line, first cell in the lowest bits, when its tiles slide to either end. A line earns the same at
// both ends.
struct Line {
    std::uint16_t to_first, to_last;
    std::uint32_t reward;
};

// Every line of a number of cells. Two tiles of the last exponent do not merge.
inline std::vector<Line> make_lines(int length, int last_exponent) {
    const auto slid = [&](std::array<int, kMaxSide> cells, std::uint32_t& reward) {
        std::array<int, kMaxSide> after{};
        int count = 0;
        bool may_merge = false;  // a tile merges once
        reward = 0;
        for (int i = 0; i < length; ++i) {
            if (cells[i] == 0) continue;
            if (may_merge && after[count - 1] == cells[i] && cells[i] < last_exponent) {
                reward += 1u << ++after[count - 1];
                may_merge = false;
            } else {
                after[count++] = cells[i];
                may_merge = true;
            }
        }
        return after;
    };
    std::vector<Line> lines(std::size_t(1) << (4 * length));
    for (std::size_t code = 0; code < lines.size(); ++code) {
        std::array<int, kMaxSide> cells{}, turned{};
        for (int i = 0; i < length; ++i) cells[i] = turned[length - 1 - i] = static_cast<int>(code >> (4 * i) & 15);
        Line& line = lines[code];
        const auto first = slid(cells, line.reward), last = slid(turned, line.reward);
        line.to_first = line.to_last = 0;
        for (int i = 0; i < length; ++i) {
            line.to_first |= static_cast<std::uint16_t>(first[i] << (4 * i));
            line.to_last |= static_cast<std::uint16_t>(last[length - 1 - i] << (4 * i));
        }
    }
    return lines;
}

class Rules {
public:
    Rules(int rows, int columns) : rows_(rows), columns_(columns) {
        if (rows < 2 || rows > kMaxSide || columns < 2 || columns > kMaxSide) {
            throw std::invalid_argument("the board must have 2 to 4 rows and columns");
        }
        // With a 4 on every cell but the last, and another one to come, tiles go up in steps: 4 to 2^(cells + 1).
        most_ = std::min(kLastExponent, cells() + 1);
        for (int row = 0; row < rows; ++row) {
            for (int column = 0; column < columns; ++column) {
                const int cell = row * columns + column, at = row * kMaxSide + column;
                shift_[cell] = static_cast<std::uint8_t>(4 * at);
                cell_[at] = static_cast<std::uint8_t>(cell);
                const Board bit = Board(1) << (4 * at);
                board_ |= bit;
                if (row > 0) not_first_row_ |= bit;
                if (row < rows - 1) not_last_row_ |= bit;
                if (column > 0) not_first_column_ |= bit;
                if (column < columns - 1) not_last_column_ |= bit;
            }
        }
        row_lines_ = make_lines(columns, most_);
        if (rows != columns) column_lines_ = make_lines(rows, most_);
    }

    int players() const { return 1; }
    Action num_actions() const { return 2 * cells(); }  // the directions, and at chance nodes 2 * cell + (is it a 4)
    Shape observation_shape() const { return {most_ + 1, rows_, columns_}; }

    int rows() const { return rows_; }
    int columns() const { return columns_; }
    int cells() const { return rows_ * columns_; }
    int most_cell() const { return most_; }  // the greatest exponent; two such tiles do not merge
    int shift(int cell) const { return shift_[cell]; }
    int cell_at(int shift) const { return cell_[shift / 4]; }

    // The lowest bit of every empty cell.
    Board empty(Board board) const { return board_ & ~not_empty(board); }

    // The board after all tiles slid to a side, and what that earns; the same board if nothing moves.
    Board slid(Board board, Action direction, std::uint32_t& reward) const {
        switch (direction) {
            case kUp:
                return transposed(slid_lines<true>(transposed(board), column_lines(), columns_, reward));
            case kRight:
                return slid_lines<false>(board, row_lines_.data(), rows_, reward);
            case kDown:
                return transposed(slid_lines<false>(transposed(board), column_lines(), columns_, reward));
            default:
                return slid_lines<true>(board, row_lines_.data(), rows_, reward);
        }
    }

    // The directions in which something moves, a bit for each.
    int moves(Board board) const {
        const Board tiles = not_empty(board), merging = tiles & not_empty(board ^ kOnes * most_);
        const Board beside = merging & ~not_empty(board ^ board >> 4) & not_last_column_;
        const Board below = merging & ~not_empty(board ^ board >> 16) & not_last_row_;
        const Board up = below | (tiles & ~(tiles << 16) & not_first_row_);
        const Board down = below | (tiles & ~(tiles >> 16) & not_last_row_);
        const Board left = beside | (tiles & ~(tiles << 4) & not_first_column_);
        const Board right = beside | (tiles & ~(tiles >> 4) & not_last_column_);
        return (up != 0) << kUp | (right != 0) << kRight | (down != 0) << kDown | (left != 0) << kLeft;
    }

    // The same board for all its images in a mirror and, if it is square, turned.
    Board canonical(Board board) const {
        Board least = least_mirrored(board);
        if (rows_ == columns_) least = std::min(least, least_mirrored(transposed(board)));
        return least;
    }

private:
    const Line* column_lines() const { return column_lines_.empty() ? row_lines_.data() : column_lines_.data(); }

    template <bool kToFirst>
    static Board slid_lines(Board board, const Line* lines, int count, std::uint32_t& reward) {
        Board after = 0;
        reward = 0;
        for (int i = 0; i < count; ++i) {
            const Line& line = lines[board >> (16 * i) & 0xffff];
            after |= Board(kToFirst ? line.to_first : line.to_last) << (16 * i);
            reward += line.reward;
        }
        return after;
    }

    Board left_to_right(Board x) const {
        x = (x & 0x00ff'00ff'00ff'00ff) << 8 | (x >> 8 & 0x00ff'00ff'00ff'00ff);
        x = (x & 0x0f0f'0f0f'0f0f'0f0f) << 4 | (x >> 4 & 0x0f0f'0f0f'0f0f'0f0f);
        return x >> (4 * (kMaxSide - columns_));
    }
    Board upside_down(Board x) const {
        x = x << 32 | x >> 32;
        x = (x & 0x0000'ffff'0000'ffff) << 16 | (x >> 16 & 0x0000'ffff'0000'ffff);
        return x >> (16 * (kMaxSide - rows_));
    }
    Board least_mirrored(Board board) const {
        const Board turned = left_to_right(board);
        return std::min(std::min(board, turned), std::min(upside_down(board), upside_down(turned)));
    }

    int rows_, columns_, most_;
    std::array<std::uint8_t, kMaxSide * kMaxSide> shift_{}, cell_{};
    Board board_ = 0, not_first_row_ = 0, not_last_row_ = 0, not_first_column_ = 0, not_last_column_ = 0;
    std::vector<Line> row_lines_, column_lines_;  // the latter empty if the board is square: they are the same
};

class State {
public:
    using Rules = _2048::Rules;

    explicit State(const Rules& rules) : rules_(&rules), due_(2) {}

    // Exponents row by row, and the number of tiles that chance has still to put down: two on an empty board, else one
    // or none.
    State(const Rules& rules, const std::vector<int>& cells, int due) : rules_(&rules) {
        if (static_cast<int>(cells.size()) != rules.cells()) throw std::invalid_argument("the board has another size");
        for (int cell = 0; cell < rules.cells(); ++cell) {
            if (cells[cell] < 0 || cells[cell] > rules.most_cell()) {
                throw std::invalid_argument("there is no such tile");
            }
            board_ |= Board(cells[cell]) << rules.shift(cell);
        }
        if (board_ == 0 ? due != 2 : due < 0 || due > 1) {
            throw std::invalid_argument("two tiles are due on an empty board, else one or none");
        }
        if (due == 1 && rules.empty(board_) == 0) throw std::invalid_argument("there is no room for another tile");
        due_ = static_cast<std::uint8_t>(due);
        if (due == 0) moves_ = static_cast<std::uint8_t>(rules.moves(board_));
    }

    const Rules& rules() const { return *rules_; }

    int player() const {
        if (due_ > 0) return kChance;
        return moves_ != 0 ? 0 : kTerminal;
    }

    void legal_actions(ActionList& actions) const {
        for (Action direction = 0; direction < kDirections; ++direction) {
            if (moves_ >> direction & 1) actions.push_back(direction);
        }
    }

    bool is_legal(Action action) const { return action >= 0 && action < kDirections && (moves_ >> action & 1); }

    Action random_action(Rng& rng) const {
        const std::uint64_t moves = moves_;
        return nth_bit(moves, static_cast<int>(rng.below(static_cast<std::uint32_t>(popcount(moves)))));
    }

    void chance_outcomes(ChanceList& outcomes) const {
        const Board empty = rules_->empty(board_);
        const double share = 1.0 / popcount(empty);
        for (Board left = empty; left; left &= left - 1) {
            const Action cell = rules_->cell_at(lowest_bit(left));
            outcomes.emplace_back(2 * cell, (1 - kShareOfFours) * share);
            outcomes.emplace_back(2 * cell + 1, kShareOfFours * share);
        }
    }

    Action sample_chance(Rng& rng) const {
        const Board empty = rules_->empty(board_);
        const std::uint32_t n = rng.below(10 * static_cast<std::uint32_t>(popcount(empty)));
        return 2 * rules_->cell_at(nth_bit(empty, static_cast<int>(n / 10))) + (n % 10 == 0);
    }

    void apply(Action action) {
        if (due_ > 0) {
            board_ |= Board(1 + (action & 1)) << rules_->shift(action >> 1);
            if (--due_ == 0) moves_ = static_cast<std::uint8_t>(rules_->moves(board_));
            return;
        }
        std::uint32_t reward;
        board_ = rules_->slid(board_, action, reward);
        score_ += reward;
        moves_ = 0;
        due_ = 1;
    }

    Returns returns() const { return {static_cast<double>(score_), 0.0}; }

    std::string key() const {
        std::string bytes(sizeof(Board) + 1, '\0');
        std::memcpy(bytes.data(), &board_, sizeof(Board));
        bytes.back() = static_cast<char>(due_);
        return bytes;
    }

    // Plane 0: the empty cells. Plane e: the tiles 2^e.
    template <class Plane>
    void observe(Plane* planes) const {
        const int cells = rules_->cells();
        std::fill_n(planes, (rules_->most_cell() + 1) * cells, Plane(0));
        for (int cell = 0; cell < cells; ++cell) planes[exponent(cell) * cells + cell] = 1;
    }

    // The exponent of every cell, 0 if it is empty.
    void cells(std::uint8_t* exponents) const {
        for (int cell = 0; cell < rules_->cells(); ++cell) exponents[cell] = static_cast<std::uint8_t>(exponent(cell));
    }

    Board board() const { return board_; }
    int due() const { return due_; }
    std::int64_t score() const { return score_; }

private:
    int exponent(int cell) const { return static_cast<int>(board_ >> rules_->shift(cell) & 15); }

    const Rules* rules_;
    Board board_ = 0;
    std::int64_t score_ = 0;
    std::uint8_t due_ = 0;    // tiles that chance has still to put down
    std::uint8_t moves_ = 0;  // directions in which something moves, once that is done
};

}  // namespace rookery::_2048
