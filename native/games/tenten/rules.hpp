// 1010!: polyominoes are placed on a board; full rows and columns vanish; the game ends when nothing fits.
//
// Cells are numbered row by row from the top left. A board is one bit per cell. Pieces come by chance: a hand is drawn
// slot by slot, placed in any order, and drawn anew when it is empty.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "core/bits.hpp"
#include "core/state.hpp"

namespace rookery::tenten {

using Board = Bits128;

inline constexpr int kMaxSide = 10;
inline constexpr int kMaxHand = 3;
inline constexpr int kMaxPieces = 64;
inline constexpr int kMaxTotalWeight = 4096;

struct Piece {
    Board cells = 0;      // in the board's top left corner
    Board anchors = 0;    // cells on which its top left corner may lie, on an empty board
    int size = 0;         // number of cells
    int height = 0, width = 0;
    std::vector<int> offsets;  // of its cells from the anchor
};

class Rules {
public:
    // A shape lists (row, column) of its cells; the smallest row and column must be 0.
    using CellList = std::vector<std::pair<int, int>>;

    Rules(int rows, int columns, const std::vector<CellList>& shapes, const std::vector<int>& weights, int hand)
        : rows_(rows), columns_(columns), hand_(hand) {
        if (rows < 1 || rows > kMaxSide || columns < 1 || columns > kMaxSide) {
            throw std::invalid_argument("the board must have 1 to 10 rows and columns");
        }
        if (hand < 1 || hand > kMaxHand) throw std::invalid_argument("a hand holds 1 to 3 pieces");
        if (shapes.empty() || shapes.size() > kMaxPieces) {
            throw std::invalid_argument("a piece set holds 1 to 64 pieces");
        }
        if (weights.size() != shapes.size()) throw std::invalid_argument("every piece needs one weight");
        for (const auto& shape : shapes) pieces_.push_back(make_piece(shape));
        for (std::size_t i = 0; i < weights.size(); ++i) {
            if (weights[i] < 1 || weights[i] > kMaxTotalWeight) {
                throw std::invalid_argument("weights are whole numbers from 1 to 4096");
            }
            draw_table_.insert(draw_table_.end(), weights[i], static_cast<std::uint8_t>(i));
            probabilities_.push_back(weights[i]);
        }
        if (draw_table_.size() > kMaxTotalWeight) throw std::invalid_argument("the weights add up to more than 4096");
        for (auto& probability : probabilities_) probability /= static_cast<double>(draw_table_.size());
        for (int row = 0; row < rows; ++row) row_masks_[row] = ((Board(1) << columns) - 1) << (row * columns);
        for (int column = 0; column < columns; ++column) {
            for (int row = 0; row < rows; ++row) column_masks_[column] |= Board(1) << (row * columns + column);
        }
    }

    int players() const { return 1; }
    Action num_actions() const { return std::max(hand_ * cells(), static_cast<int>(pieces_.size())); }
    Shape observation_shape() const { return {1 + hand_, rows_, columns_}; }

    int rows() const { return rows_; }
    int columns() const { return columns_; }
    int cells() const { return rows_ * columns_; }
    int hand() const { return hand_; }
    const std::vector<Piece>& pieces() const { return pieces_; }
    const std::vector<double>& probabilities() const { return probabilities_; }
    const std::vector<std::uint8_t>& draw_table() const { return draw_table_; }

    // A piece by its weight.
    int draw(Rng& rng) const { return draw_table_[rng.below(static_cast<std::uint32_t>(draw_table_.size()))]; }

    // Where the piece fits: a bit for each possible cell of its top left corner.
    Board placements(Board board, int piece) const {
        const Piece& p = pieces_[piece];
        const Board free = ~board;
        Board fits = p.anchors;
        for (const int offset : p.offsets) fits &= free >> offset;
        return fits;
    }

    // Clears all full rows and columns at once; `lines` receives their number. Only lines that cross the given
    // rectangle are looked at.
    Board clear_lines(Board board, int row, int column, int height, int width, int& lines) const {
        Board cleared = 0;
        lines = 0;
        for (int r = row; r < row + height; ++r) {
            if ((board & row_masks_[r]) == row_masks_[r]) cleared |= row_masks_[r], ++lines;
        }
        for (int c = column; c < column + width; ++c) {
            if ((board & column_masks_[c]) == column_masks_[c]) cleared |= column_masks_[c], ++lines;
        }
        return board & ~cleared;
    }

    Board clear_lines(Board board, int& lines) const { return clear_lines(board, 0, 0, rows_, columns_, lines); }

private:
    Piece make_piece(const CellList& shape) const {
        if (shape.empty()) throw std::invalid_argument("a piece needs at least one cell");
        Piece piece;
        int top = kMaxSide, left = kMaxSide;
        for (const auto& [row, column] : shape) {
            if (row < 0 || row >= kMaxSide || column < 0 || column >= kMaxSide) {
                throw std::invalid_argument("the cells of a piece lie in rows and columns 0 to 9");
            }
            top = std::min(top, row);
            left = std::min(left, column);
            piece.height = std::max(piece.height, row + 1);
            piece.width = std::max(piece.width, column + 1);
        }
        if (top != 0 || left != 0) throw std::invalid_argument("a piece must touch row 0 and column 0 of its shape");
        // A piece larger than the board is allowed: it never fits.
        const bool fits = piece.height <= rows_ && piece.width <= columns_;
        for (const auto& [row, column] : shape) {
            const int offset = row * columns_ + column;
            if (fits) {
                if (piece.cells >> offset & 1) throw std::invalid_argument("a piece lists a cell twice");
                piece.cells |= Board(1) << offset;
                piece.offsets.push_back(offset);
            }
        }
        piece.size = static_cast<int>(shape.size());
        for (int row = 0; row + piece.height <= rows_; ++row) {
            for (int column = 0; column + piece.width <= columns_; ++column) {
                piece.anchors |= Board(1) << (row * columns_ + column);
            }
        }
        return piece;
    }

    int rows_, columns_, hand_;
    std::vector<Piece> pieces_;
    std::vector<double> probabilities_;
    std::vector<std::uint8_t> draw_table_;  // one entry per unit of weight
    std::array<Board, kMaxSide> row_masks_{}, column_masks_{};
};

inline int line_score(int lines) { return 5 * lines * (lines + 1); }

class State {
public:
    using Rules = tenten::Rules;
    static constexpr std::int8_t kEmpty = -1;

    explicit State(const Rules& rules) : rules_(&rules) { hand_.fill(kEmpty); }

    // Any board without a full line, and what is drawn of the hand so far: kEmpty marks a slot already placed, or, when
    // `drawn` is less than the size of the hand, one still to be drawn.
    State(const Rules& rules, Board board, const std::vector<int>& hand, int drawn) : State(rules) {
        int lines = 0;
        if (board >> rules.cells() != 0) throw std::invalid_argument("the board has cells outside its size");
        if (rules.clear_lines(board, lines) != board) throw std::invalid_argument("the board has a full line");
        if (static_cast<int>(hand.size()) != rules.hand()) throw std::invalid_argument("the hand has the wrong size");
        if (drawn < 0 || drawn > rules.hand()) throw std::invalid_argument("drawn is out of range");
        board_ = board;
        bool any = false;
        for (int slot = 0; slot < rules.hand(); ++slot) {
            if (hand[slot] < kEmpty || hand[slot] >= static_cast<int>(rules.pieces().size())) {
                throw std::invalid_argument("unknown piece in the hand");
            }
            if (drawn < rules.hand() && (hand[slot] != kEmpty) != (slot < drawn)) {
                throw std::invalid_argument("a hand is drawn from the first slot to the last");
            }
            any |= hand[slot] != kEmpty;
            hand_[slot] = static_cast<std::int8_t>(hand[slot]);
        }
        if (drawn == rules.hand() && !any) throw std::invalid_argument("a drawn hand holds at least one piece");
        drawn_ = static_cast<std::uint8_t>(drawn);
        find_placements();
    }

    const Rules& rules() const { return *rules_; }

    int player() const {
        if (drawn_ < rules_->hand()) return kChance;
        return any_placement_ ? 0 : kTerminal;
    }

    // Action: slot * cells + cell of the piece's top left corner.
    void legal_actions(ActionList& actions) const {
        if (player() != 0) return;
        for (int slot = 0; slot < rules_->hand(); ++slot) {
            for (Board places = places_[slot]; places; places &= places - 1) {
                actions.push_back(slot * rules_->cells() + lowest_bit(places));
            }
        }
    }

    bool is_legal(Action action) const {
        if (action < 0 || action >= rules_->hand() * rules_->cells()) return false;
        return places_[action / rules_->cells()] >> (action % rules_->cells()) & 1;
    }

    Action random_action(Rng& rng) const {
        std::array<int, kMaxHand> counts{};
        int total = 0;
        for (int slot = 0; slot < rules_->hand(); ++slot) total += counts[slot] = popcount(places_[slot]);
        int n = static_cast<int>(rng.below(total));
        int slot = 0;
        while (n >= counts[slot]) n -= counts[slot++];
        return slot * rules_->cells() + nth_bit(places_[slot], n);
    }

    void chance_outcomes(ChanceList& outcomes) const {
        const auto& probabilities = rules_->probabilities();
        for (std::size_t piece = 0; piece < probabilities.size(); ++piece) {
            outcomes.emplace_back(static_cast<Action>(piece), probabilities[piece]);
        }
    }

    Action sample_chance(Rng& rng) const { return rules_->draw(rng); }

    void apply(Action action) {
        if (drawn_ < rules_->hand()) {
            hand_[drawn_++] = static_cast<std::int8_t>(action);
            if (drawn_ == rules_->hand()) find_placements();
            return;
        }
        place(action / rules_->cells(), action % rules_->cells());
    }

    Returns returns() const { return {static_cast<double>(score_), 0.0}; }

    std::string key() const {
        std::string bytes(sizeof(Board) + kMaxHand + 1, '\0');
        std::memcpy(bytes.data(), &board_, sizeof(Board));
        for (int slot = 0; slot < kMaxHand; ++slot) bytes[sizeof(Board) + slot] = static_cast<char>(hand_[slot]);
        bytes.back() = static_cast<char>(drawn_);
        return bytes;
    }

    // Plane 0: filled cells. Plane 1 + slot: the piece of that slot in the top left corner.
    template <class Plane>
    void observe(Plane* planes) const {
        const int cells = rules_->cells();
        write_bits(board_, cells, planes);
        for (int slot = 0; slot < rules_->hand(); ++slot) {
            const Board piece = hand_[slot] == kEmpty ? Board(0) : rules_->pieces()[hand_[slot]].cells;
            write_bits(piece, cells, planes + (1 + slot) * cells);
        }
    }

    Board board() const { return board_; }
    int hand_piece(int slot) const { return hand_[slot]; }
    int drawn() const { return drawn_; }
    std::int64_t score() const { return score_; }
    std::int64_t rounds() const { return rounds_; }

private:
    void place(int slot, int cell) {
        const Piece& piece = rules_->pieces()[hand_[slot]];
        int lines = 0;
        board_ = rules_->clear_lines(board_ | piece.cells << cell, cell / rules_->columns(), cell % rules_->columns(),
                                     piece.height, piece.width, lines);
        score_ += piece.size + line_score(lines);
        ++rounds_;
        hand_[slot] = kEmpty;
        places_[slot] = 0;
        for (int other = 0; other < rules_->hand(); ++other) {
            if (hand_[other] != kEmpty) return find_placements();
        }
        drawn_ = 0;
    }

    void find_placements() {
        Board any = 0;
        for (int slot = 0; slot < rules_->hand(); ++slot) {
            places_[slot] = hand_[slot] == kEmpty ? Board(0) : rules_->placements(board_, hand_[slot]);
            any |= places_[slot];
        }
        any_placement_ = any != 0;
    }

    const Rules* rules_;
    Board board_ = 0;
    std::array<Board, kMaxHand> places_{};  // where the piece of each slot fits
    std::array<std::int8_t, kMaxHand> hand_;
    std::uint8_t drawn_ = 0;
    bool any_placement_ = false;
    std::int64_t score_ = 0;
    std::int64_t rounds_ = 0;
};

}  // namespace rookery::tenten
