// Solitaire Chess: every move captures, all pieces are on one side, and the aim is to be left with one piece.
//
// Cells are numbered row by row from the top left. Pawns capture diagonally towards the top row and never promote. A
// piece may be limited to a number of captures (Solo Chess: 2), and the king, where there is one, is left to the last:
// it is never captured.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "core/bits.hpp"
#include "core/state.hpp"

namespace rookery::solitaire_chess {

using Bitboard = std::uint64_t;

inline constexpr int kMinSide = 2, kMaxSide = 8;
inline constexpr int kMaxCells = kMaxSide * kMaxSide;
inline constexpr int kMaxCaptures = 15;

enum Kind { kKing, kQueen, kRook, kBishop, kKnight, kPawn };
inline constexpr int kKinds = 6;
inline constexpr int kNoPiece = -1;  // the kind of an empty cell where kinds are listed

// One byte per cell: 0 where it is empty, else 1 + kind in the low three bits and the captures made so far above them.
using Board = std::array<std::uint8_t, kMaxCells>;

inline std::uint8_t make_piece(int kind, int captures) { return static_cast<std::uint8_t>(1 + kind + captures * 8); }
inline int kind_of(std::uint8_t piece) { return (piece & 7) - 1; }
inline int captures_of(std::uint8_t piece) { return piece >> 3; }

class Rules {
public:
    // `max_captures` a piece, 0 for any number. The start position lists the kind on every cell, kNoPiece where there
    // is none, and the captures the piece there has made.
    Rules(int rows, int columns, int max_captures, bool king_last, const std::vector<int>& kinds,
          const std::vector<int>& captures)
        : rows_(rows), columns_(columns), max_captures_(max_captures), king_last_(king_last) {
        if (rows < kMinSide || rows > kMaxSide || columns < kMinSide || columns > kMaxSide) {
            throw std::invalid_argument("the board must have 2 to 8 rows and columns");
        }
        if (max_captures < 0 || max_captures > kMaxCaptures) {
            throw std::invalid_argument("max_captures must be 1 to 15, or 0 for no limit");
        }
        for (int cell = 0; cell < cells(); ++cell) find_attacks(cell);
        start_ = make_board(kinds, captures);
    }

    int players() const { return 1; }
    Action num_actions() const { return cells() * cells(); }
    Shape observation_shape() const { return {kKinds + (max_captures_ > 0), rows_, columns_}; }

    bool fractions() const { return max_captures_ > 1; }

    int rows() const { return rows_; }
    int columns() const { return columns_; }
    int cells() const { return rows_ * columns_; }
    int max_captures() const { return max_captures_; }
    bool king_last() const { return king_last_; }
    const Board& start() const { return start_; }

    // The occupied cells that a piece on `cell` attacks: sliding pieces see the first piece in their way only.
    Bitboard attacks(int kind, int cell, Bitboard occupied) const {
        switch (kind) {
            case kKing:
                return king_[cell] & occupied;
            case kQueen:
                return first_on(straight_[cell], occupied) | first_on(diagonal_[cell], occupied);
            case kRook:
                return first_on(straight_[cell], occupied);
            case kBishop:
                return first_on(diagonal_[cell], occupied);
            case kKnight:
                return knight_[cell] & occupied;
            default:
                return pawn_[cell] & occupied;
        }
    }

    // All cells that a piece on `cell` could capture on if nothing were in its way.
    Bitboard leaps(int kind, int cell) const {
        const Bitboard straight = all_of(straight_[cell]), diagonal = all_of(diagonal_[cell]);
        switch (kind) {
            case kKing:
                return king_[cell];
            case kQueen:
                return straight | diagonal;
            case kRook:
                return straight;
            case kBishop:
                return diagonal;
            case kKnight:
                return knight_[cell];
            default:
                return pawn_[cell];
        }
    }

    Board make_board(const std::vector<int>& kinds, const std::vector<int>& captures) const {
        if (static_cast<int>(kinds.size()) != cells() || static_cast<int>(captures.size()) != cells()) {
            throw std::invalid_argument("a position lists a kind and a number of captures for every cell");
        }
        Board board{};
        bool empty = true;
        for (int cell = 0; cell < cells(); ++cell) {
            if (kinds[cell] < kNoPiece || kinds[cell] >= kKinds) {
                throw std::invalid_argument("kinds of pieces are 0 to 5, and -1 for an empty cell");
            }
            const int limit = kinds[cell] == kNoPiece ? 0 : max_captures_;
            if (captures[cell] < 0 || captures[cell] > limit) {
                throw std::invalid_argument(
                    "a piece has made 0 to max_captures captures, an empty cell and a piece "
                    "without that limit 0");
            }
            if (kinds[cell] == kNoPiece) continue;
            board[cell] = make_piece(kinds[cell], captures[cell]);
            empty = false;
        }
        if (empty) throw std::invalid_argument("a position has at least one piece");
        return board;
    }

private:
    // Rays from a cell: the first two run towards lower cell numbers, the others towards higher ones.
    using Rays = std::array<Bitboard, 4>;

    static Bitboard first_on(const Rays& rays, Bitboard occupied) {
        const Bitboard up = rays[2] & occupied, down = rays[3] & occupied;
        return std::bit_floor(rays[0] & occupied) | std::bit_floor(rays[1] & occupied) | (up & -up) | (down & -down);
    }

    static Bitboard all_of(const Rays& rays) { return rays[0] | rays[1] | rays[2] | rays[3]; }

    void find_attacks(int cell) {
        static constexpr int kStraight[4][2] = {{-1, 0}, {0, -1}, {0, 1}, {1, 0}};
        static constexpr int kDiagonal[4][2] = {{-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
        for (int ray = 0; ray < 4; ++ray) {
            for (const bool diagonal : {false, true}) {
                const auto& step = diagonal ? kDiagonal[ray] : kStraight[ray];
                king_[cell] |= from(cell, step[0], step[1]);
                for (int n = 1; n < kMaxSide; ++n) {
                    (diagonal ? diagonal_ : straight_)[cell][ray] |= from(cell, n * step[0], n * step[1]);
                }
            }
        }
        for (const int side : {-1, 1}) {
            pawn_[cell] |= from(cell, -1, side);
            for (const int rows : {-2, -1, 1, 2}) knight_[cell] |= from(cell, rows, side * (3 - std::abs(rows)));
        }
    }

    // The bit of the cell that lies the given rows below and columns to the right, 0 if that is off the board.
    Bitboard from(int cell, int rows, int columns) const {
        const int row = cell / columns_ + rows, column = cell % columns_ + columns;
        const bool inside = row >= 0 && row < rows_ && column >= 0 && column < columns_;
        return inside ? Bitboard(1) << (row * columns_ + column) : 0;
    }

    int rows_, columns_, max_captures_;
    bool king_last_;
    Board start_{};
    std::array<Bitboard, kMaxCells> king_{}, knight_{}, pawn_{};
    std::array<Rays, kMaxCells> straight_{}, diagonal_{};
};

class State {
public:
    using Rules = solitaire_chess::Rules;

    explicit State(const Rules& rules) : State(rules, rules.start()) {}

    State(const Rules& rules, const std::vector<int>& kinds, const std::vector<int>& captures)
        : State(rules, rules.make_board(kinds, captures)) {}

    // From the board of another state under the same rules; it is not checked again.
    State(const Rules& rules, const Board& board) : rules_(&rules), board_(board) {
        for (int cell = 0; cell < rules.cells(); ++cell) {
            if (board[cell] == 0) continue;
            occupied_ |= Bitboard(1) << cell;
            if (!rules.king_last() || kind_of(board[cell]) != kKing) capturable_ |= Bitboard(1) << cell;
        }
    }

    const Rules& rules() const { return *rules_; }
    const Board& board() const { return board_; }
    Bitboard occupied() const { return occupied_; }
    int pieces() const { return popcount(occupied_); }

    // The cells on which the piece on `cell` can capture.
    Bitboard targets(int cell) const {
        const std::uint8_t piece = board_[cell];
        if (rules_->max_captures() > 0 && captures_of(piece) == rules_->max_captures()) return 0;
        return rules_->attacks(kind_of(piece), cell, occupied_) & capturable_;
    }

    int player() const {
        for (Bitboard movers = occupied_; movers; movers &= movers - 1) {
            if (targets(lowest_bit(movers))) return 0;
        }
        return kTerminal;
    }

    // Action: from * cells + to.
    void legal_actions(ActionList& actions) const {
        for (Bitboard movers = occupied_; movers; movers &= movers - 1) {
            const int from = lowest_bit(movers);
            for (Bitboard to = targets(from); to; to &= to - 1) actions.push_back(action(from, lowest_bit(to)));
        }
    }

    std::uint64_t count_legal() const {
        std::uint64_t count = 0;
        for (Bitboard movers = occupied_; movers; movers &= movers - 1) count += popcount(targets(lowest_bit(movers)));
        return count;
    }

    bool is_legal(Action action) const {
        if (action < 0 || action >= rules_->num_actions()) return false;
        const int from = action / rules_->cells(), to = action % rules_->cells();
        return (occupied_ >> from & 1) && (targets(from) >> to & 1);
    }

    Action random_action(Rng& rng) const {
        std::array<Bitboard, kMaxCells> found;
        int total = 0;
        for (Bitboard movers = occupied_; movers; movers &= movers - 1) {
            const int from = lowest_bit(movers);
            total += popcount(found[from] = targets(from));
        }
        int n = static_cast<int>(rng.below(total));
        for (Bitboard movers = occupied_;; movers &= movers - 1) {
            const int from = lowest_bit(movers), count = popcount(found[from]);
            if (n < count) return action(from, nth_bit(found[from], n));
            n -= count;
        }
    }

    void apply(Action action) {
        const int from = action / rules_->cells(), to = action % rules_->cells();
        const std::uint8_t piece = board_[from];
        board_[to] = make_piece(kind_of(piece), rules_->max_captures() > 0 ? captures_of(piece) + 1 : 0);
        board_[from] = 0;
        occupied_ &= ~(Bitboard(1) << from);
        // The mover's cells change places in the set of capturable pieces: if it is a king, it stays out of it.
        const Bitboard was = capturable_ >> from & 1;
        capturable_ &= ~(Bitboard(1) << from | Bitboard(1) << to);
        capturable_ |= was << to;
    }

    Returns returns() const { return {pieces() == 1 ? 1.0 : 0.0, 0.0}; }

    std::string key() const { return {reinterpret_cast<const char*>(board_.data()), std::size_t(rules_->cells())}; }

    // One plane per kind: K, Q, R, B, N, P. With a limit on captures, one more: the share that the piece has left.
    template <class Plane>
    void observe(Plane* planes) const {
        const int cells = rules_->cells();
        std::fill_n(planes, rules_->observation_shape()[0] * cells, Plane(0));
        for (Bitboard left = occupied_; left; left &= left - 1) {
            const int cell = lowest_bit(left);
            planes[kind_of(board_[cell]) * cells + cell] = 1;
            if (const int limit = rules_->max_captures()) {
                planes[kKinds * cells + cell] =
                    static_cast<Plane>(static_cast<float>(limit - captures_of(board_[cell])) / limit);
            }
        }
    }

private:
    Action action(int from, int to) const { return from * rules_->cells() + to; }

    const Rules* rules_;
    Bitboard occupied_ = 0;
    Bitboard capturable_ = 0;  // all pieces, but for kings where they are left to the last
    Board board_;
};

}  // namespace rookery::solitaire_chess
