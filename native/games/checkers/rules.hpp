// English draughts (checkers). Black, player 0, moves first.
//
// Squares have the standard numbers 1 to 32, here 0 to 31: row by row from Black's side, which is drawn on top, four
// dark squares per row, those of row 0 in columns 1, 3, 5, 7 and those of row 1 in columns 0, 2, 4, 6. Black's men go
// down the board, to higher numbers, White's go up.
//
// `Position` and the functions on it are the rules of moving; `State` adds what draws a game: counters and repetition.
#pragma once

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "core/bits.hpp"
#include "core/state.hpp"

namespace rookery::checkers {

using Squares = std::uint32_t;  // a set of squares, one bit each

inline constexpr int kBlack = 0;
inline constexpr int kWhite = 1;
inline constexpr int kMaxPieces = 12;  // per side

// Directions. A man of player p has 2p and 2p + 1, a king all four. The opposite of d is 3 - d.
enum Direction { kDownLeft, kDownRight, kUpLeft, kUpRight };

inline constexpr Squares kEvenRows = 0x0f0f0f0f;
inline constexpr Squares kOddRows = 0xf0f0f0f0;
inline constexpr Squares kEvenRowsButRightmost = 0x07070707;
inline constexpr Squares kOddRowsButLeftmost = 0xe0e0e0e0;
inline constexpr std::array<Squares, 2> kKingRow = {0xf0000000, 0x0000000f};  // where the men of each player crown

// All the squares moved one step in a direction; those that would leave the board vanish.
template <int direction>
constexpr Squares shift(Squares s) {
    if constexpr (direction == kDownLeft) return (s & kEvenRows) << 4 | (s & kOddRowsButLeftmost) << 3;
    if constexpr (direction == kDownRight) return (s & kEvenRowsButRightmost) << 5 | (s & kOddRows) << 4;
    if constexpr (direction == kUpLeft) return (s & kEvenRows) >> 4 | (s & kOddRowsButLeftmost) >> 5;
    if constexpr (direction == kUpRight) return (s & kEvenRowsButRightmost) >> 3 | (s & kOddRows) >> 4;
}

constexpr Squares shift(Squares s, int direction) {
    switch (direction) {
        case kDownLeft:
            return shift<kDownLeft>(s);
        case kDownRight:
            return shift<kDownRight>(s);
        case kUpLeft:
            return shift<kUpLeft>(s);
        default:
            return shift<kUpRight>(s);
    }
}

// What lies next to a square and beyond it; empty sets and square 0 where the board ends.
struct Neighbours {
    Squares next = 0, beyond = 0;
    int beyond_square = 0;
};

inline constexpr auto kNeighbours = [] {
    std::array<std::array<Neighbours, 4>, 32> table{};
    for (int square = 0; square < 32; ++square) {
        for (int direction = 0; direction < 4; ++direction) {
            const Squares next = shift(Squares(1) << square, direction);
            const Squares beyond = shift(next, direction);
            table[square][direction] = {next, beyond, beyond ? std::countr_zero(beyond) : 0};
        }
    }
    return table;
}();

// An action is a whole move. The actions are numbered densely: first the steps, ordered by direction and then by the
// square they start from, then the captures, which are the paths of a king that take no piece twice. Captures are
// ordered by their number of jumps, then by their directions, then by the square they start from.
inline constexpr Action kFirstCapture = 98;
inline constexpr Action kNumActions = 1426;

// What an action does in every position where it is legal. Captures form a trie: one is another extended by a jump.
struct Track {
    Squares start = 0, end = 0, captured = 0;
    std::uint8_t direction = 0;  // of the step, or of the last jump
    std::int16_t shorter = 0;    // the capture without its last jump; 0 for a single jump
    std::array<std::int16_t, 4> longer{};  // the capture extended by a jump in each direction; 0 where there is none

    int from() const { return std::countr_zero(start); }
};

struct ActionTables {
    std::array<Track, kNumActions> tracks{};
    // By from + 32 * direction; 0 where the board ends.
    std::array<std::uint8_t, 128> steps{};
    std::array<std::int16_t, 128> jumps{};
    int count = 0;
};

inline constexpr ActionTables kActionTables = [] {
    ActionTables t;
    for (int i = 0; i < 128; ++i) {
        const Squares next = kNeighbours[i % 32][i / 32].next;
        if (!next) continue;
        t.steps[i] = static_cast<std::uint8_t>(t.count);
        t.tracks[t.count++] = {Squares(1) << i % 32, next, 0, static_cast<std::uint8_t>(i / 32)};
    }
    // Runs of captures with the same directions, in the order of those; `first[i]` to `first[i + 1]`.
    std::array<int, kNumActions> first{};
    int runs = 0;
    const auto add = [&](const Track& track, int direction, int shorter) -> std::int16_t {
        const int square = std::countr_zero(track.end);
        const Neighbours& jump = kNeighbours[square][direction];
        if (!jump.beyond || jump.next & track.captured) return 0;
        t.tracks[t.count] = {track.start, jump.beyond, track.captured | jump.next, static_cast<std::uint8_t>(direction),
                             static_cast<std::int16_t>(shorter)};
        return static_cast<std::int16_t>(t.count++);
    };
    for (int i = 0; i < 128; ++i) {
        if (i % 32 == 0) first[runs++] = t.count;
        const Squares from = Squares(1) << i % 32;
        t.jumps[i] = add({from, from}, i / 32, 0);
    }
    first[runs] = t.count;
    for (int run = 0; run < runs; ++run) {
        for (int direction = 0; direction < 4; ++direction) {
            for (int i = first[run]; i < first[run + 1]; ++i) {
                t.tracks[i].longer[direction] = add(t.tracks[i], direction, i);
            }
            if (t.count > first[runs]) first[++runs] = t.count;
        }
    }
    return t;
}();
static_assert(kActionTables.count == kNumActions && kActionTables.jumps[1] == kFirstCapture);

// The action must be in range.
inline const Track& track(Action action) { return kActionTables.tracks[action]; }

// A move as the squares it visits, first to last, and the squares it jumps over.
struct Move {
    std::vector<int> path;
    std::vector<int> captured;
};

inline Move decode(Action action) {
    if (action < 0 || action >= kNumActions) throw std::invalid_argument("actions are 0 to 1425");
    Move move;
    const auto& tracks = kActionTables.tracks;
    move.path.push_back(std::countr_zero(tracks[action].end));
    for (Action a = action; a >= kFirstCapture; a = tracks[a].shorter) {
        const Track& before = tracks[tracks[a].shorter];
        move.captured.push_back(std::countr_zero(tracks[a].captured ^ before.captured));
        if (tracks[a].shorter) move.path.push_back(std::countr_zero(before.end));
    }
    move.path.push_back(tracks[action].from());
    std::reverse(move.path.begin(), move.path.end());
    std::reverse(move.captured.begin(), move.captured.end());
    return move;
}

// The action that visits these squares: two neighbouring ones for a step, else every landing of a capture.
inline Action encode(const std::vector<int>& path) {
    for (const int square : path) {
        if (square < 0 || square > 31) throw std::invalid_argument("squares are 1 to 32");
    }
    if (path.size() < 2) throw std::invalid_argument("a move visits two squares at least, its start among them");
    for (int direction = 0; path.size() == 2 && direction < 4; ++direction) {
        if (kNeighbours[path[0]][direction].next == Squares(1) << path[1]) {
            return kActionTables.steps[path[0] + 32 * direction];
        }
    }
    Action action = 0;
    for (std::size_t i = 1; i < path.size(); ++i) {
        int direction = 0;
        while (direction < 4 && kNeighbours[path[i - 1]][direction].beyond != Squares(1) << path[i]) ++direction;
        if (direction == 4) throw std::invalid_argument("a move is one diagonal step, or jumps two squares diagonally");
        action = i == 1 ? kActionTables.jumps[path[0] + 32 * direction] : track(action).longer[direction];
        if (!action) throw std::invalid_argument("a capture takes no piece twice");
    }
    return action;
}

struct Position {
    std::array<Squares, 2> pieces = {0x00000fff, 0xfff00000};  // men and kings of Black and of White
    Squares kings = 0;
    std::uint32_t side = kBlack;  // whose turn it is

    Squares own() const { return pieces[side]; }
    Squares other() const { return pieces[1 - side]; }
    Squares empty() const { return ~(pieces[0] | pieces[1]); }

    friend bool operator==(const Position&, const Position&) = default;
};

// Square s becomes square 31 - s.
constexpr Squares turned(Squares s) {
    s = (s & 0x55555555) << 1 | (s >> 1 & 0x55555555);
    s = (s & 0x33333333) << 2 | (s >> 2 & 0x33333333);
    s = (s & 0x0f0f0f0f) << 4 | (s >> 4 & 0x0f0f0f0f);
    s = (s & 0x00ff00ff) << 8 | (s >> 8 & 0x00ff00ff);
    return s << 16 | s >> 16;
}

// The same position with Black to move: the board turned round and the colours exchanged if it is White's turn.
inline Position seen_by_mover(const Position& p) {
    if (p.side == kBlack) return p;
    return {{turned(p.pieces[kWhite]), turned(p.pieces[kBlack])}, turned(p.kings), kBlack};
}

inline std::uint64_t hash(const Position& p) {
    std::uint64_t x = std::uint64_t(p.pieces[0]) << 32 | p.pieces[1];
    std::uint64_t y = splitmix64(x) ^ (std::uint64_t(p.kings) << 1 | p.side);
    return splitmix64(y);
}

inline void check(const Position& p) {
    if (p.pieces[0] & p.pieces[1]) throw std::invalid_argument("a square holds at most one piece");
    if (!(p.pieces[0] | p.pieces[1])) throw std::invalid_argument("the board needs at least one piece");
    if (p.kings & p.empty()) throw std::invalid_argument("a king stands on a square without a piece");
    if (p.side > 1) throw std::invalid_argument("the side to move is 0 (Black) or 1 (White)");
    for (int player = 0; player < 2; ++player) {
        if (std::popcount(p.pieces[player]) > kMaxPieces) throw std::invalid_argument("a side has at most 12 pieces");
        if (p.pieces[player] & ~p.kings & kKingRow[player]) {
            throw std::invalid_argument("a man cannot stand on its king row: 29 to 32 for Black, 1 to 4 for White");
        }
    }
}

// First squares of moves. Bit `from + 32 * direction` of the 128 is set if a move starts so; read as 64-bit halves.
struct Starts {
    std::uint64_t down = 0, up = 0;
    bool captures = false;  // they are first jumps, not steps: captures are compulsory

    bool any() const { return (down | up) != 0; }
    int count() const { return popcount(down) + popcount(up); }
    // The n-th step; for starts that are no captures.
    Action nth_step(int n) const {
        const int in_down = popcount(down);
        return kActionTables.steps[n < in_down ? nth_bit(down, n) : 64 + nth_bit(up, n - in_down)];
    }
};

inline Starts find_starts(const Position& p) {
    const Squares kings = p.own() & p.kings;
    const std::uint64_t down = std::uint64_t(p.side == kBlack ? p.own() : kings) * 0x100000001;
    const std::uint64_t up = std::uint64_t(p.side == kWhite ? p.own() : kings) * 0x100000001;
    const auto join = [](Squares left, Squares right) { return std::uint64_t(right) << 32 | left; };
    // Where a step in each direction ends on an empty square: looked at from the empty squares, backwards.
    const Squares empty = p.empty(), other = p.other();
    const Squares down_left = shift<kUpRight>(empty), down_right = shift<kUpLeft>(empty);
    const Squares up_left = shift<kDownRight>(empty), up_right = shift<kDownLeft>(empty);
    const Starts jumps = {down & join(shift<kUpRight>(other & down_left), shift<kUpLeft>(other & down_right)),
                          up & join(shift<kDownRight>(other & up_left), shift<kDownLeft>(other & up_right)), true};
    if (jumps.any()) return jumps;
    return {down & join(down_left, down_right), up & join(up_left, up_right), false};
}

// Calls visit(action) for every way to carry a capture, which is `action` so far, to its end. `empty` includes the
// square the piece started from, so it may come back to it; a piece once jumped is no longer in `other`, so it is not
// jumped again. (Whether it stays on the board until the end of the move does not matter: a chain never lands on
// squares of the kind it jumps over.)
template <class Visit>
void complete_capture(Squares other, Squares empty, int square, int first_direction, int last_direction, Action action,
                      Visit& visit) {
    bool complete = true;
    for (int direction = first_direction; direction <= last_direction; ++direction) {
        const Neighbours& jump = kNeighbours[square][direction];
        if (!(jump.next & other) || !(jump.beyond & empty)) continue;
        complete = false;
        complete_capture(other ^ jump.next, empty, jump.beyond_square, first_direction, last_direction,
                         track(action).longer[direction], visit);
    }
    if (complete) visit(action);
}

// Calls visit(action) for every legal action. A man that reaches the king row has no forward jump left, so it stops.
template <class Visit>
void for_each_action(const Position& p, const Starts& starts, Visit&& visit) {
    for (int half = 0; half < 2; ++half) {
        for (std::uint64_t bits = half ? starts.up : starts.down; bits; bits &= bits - 1) {
            const int start = 64 * half + lowest_bit(bits);
            if (!starts.captures) {
                visit(kActionTables.steps[start]);
                continue;
            }
            const int from = start & 31, direction = start >> 5;
            const Squares piece = Squares(1) << from;
            const bool king = p.kings & piece;
            const Neighbours& jump = kNeighbours[from][direction];
            complete_capture(p.other() ^ jump.next, p.empty() | piece, jump.beyond_square, king ? 0 : 2 * p.side,
                             king ? 3 : 2 * p.side + 1, kActionTables.jumps[start], visit);
        }
    }
}

// The position after a legal action.
inline Position play(const Position& p, Action action) {
    const Track& t = track(action);
    const Squares start = t.start, end = t.end, captured = t.captured;
    Position next = p;
    next.pieces[p.side] = (p.own() & ~start) | end;
    next.pieces[1 - p.side] &= ~captured;
    next.kings &= ~captured;
    if (p.kings & start) next.kings = (next.kings & ~start) | end;
    next.kings |= end & kKingRow[p.side];
    next.side = 1 - p.side;
    return next;
}

// What ends a game as a draw. 0 and false turn a rule off. Whatever the rules, a game that goes on for kMaxQuiet plies
// without a capture is drawn, so that every game ends.
class Rules {
public:
    static constexpr int kMaxQuiet = 100'000;
    static constexpr int kFortyMoves = 80;  // plies

    // `repetition`: occurrences of one position. `quiet_limit`: plies without a capture.
    // `forty_move_rule`: 40 moves by each side without a capture or a man moved.
    Rules(int repetition, int quiet_limit, bool forty_move_rule)
        : repetition_(repetition), quiet_limit_(quiet_limit), forty_move_rule_(forty_move_rule) {
        if (repetition != 0 && (repetition < 2 || repetition > 100)) {
            throw std::invalid_argument("repetition is 2 to 100 occurrences, or 0 for no such rule");
        }
        if (quiet_limit < 0 || quiet_limit > kMaxQuiet) {
            throw std::invalid_argument("quiet_limit is 1 to 100000 plies, or 0 for no such rule");
        }
    }

    int players() const { return 2; }
    Action num_actions() const { return kNumActions; }
    Shape observation_shape() const { return {5, 8, 8}; }

    int repetition() const { return repetition_; }
    int max_quiet() const { return quiet_limit_ ? quiet_limit_ : kMaxQuiet; }
    int max_reversible() const { return forty_move_rule_ ? kFortyMoves : kMaxQuiet; }

private:
    int repetition_, quiet_limit_;
    bool forty_move_rule_;
};

class State {
public:
    using Rules = checkers::Rules;

    explicit State(const Rules& rules) : State(rules, Position{}) {}

    State(const Rules& rules, const Position& position) : rules_(&rules), position_(position) {
        check(position);
        starts_ = find_starts(position_);
    }

    const Rules& rules() const { return *rules_; }
    const Position& position() const { return position_; }

    int player() const { return drawn_ || !starts_.any() ? kTerminal : static_cast<int>(position_.side); }

    void legal_actions(ActionList& actions) const {
        if (drawn_) return;
        for_each_action(position_, starts_, [&](Action action) { actions.push_back(action); });
    }

    std::uint64_t count_legal() const {
        if (drawn_) return 0;
        if (!starts_.captures) return starts_.count();
        std::uint64_t n = 0;
        for_each_action(position_, starts_, [&](Action) { ++n; });
        return n;
    }

    bool is_legal(Action action) const {
        bool found = false;
        if (!drawn_) for_each_action(position_, starts_, [&](Action legal) { found |= legal == action; });
        return found;
    }

    Action random_action(Rng& rng) const {
        if (!starts_.captures) return starts_.nth_step(static_cast<int>(rng.below(starts_.count())));
        std::array<Action, 16> first;
        std::uint32_t n = 0;
        for_each_action(position_, starts_, [&](Action action) {
            if (n < first.size()) first[n] = action;
            ++n;
        });
        const std::uint32_t chosen = n == 1 ? 0 : rng.below(n);
        if (chosen < first.size()) return first[chosen];
        Action result = 0;
        n = 0;
        for_each_action(position_, starts_, [&](Action action) {
            if (n++ == chosen) result = action;
        });
        return result;
    }

    void apply(Action action) {
        const bool reversible = action < kFirstCapture && (position_.kings & track(action).start);
        if (reversible) {
            if (rules_->repetition()) earlier_.push_back(position_);
            ++reversible_plies_;
        } else {
            earlier_.clear();
            reversible_plies_ = 0;
        }
        quiet_plies_ = action < kFirstCapture ? quiet_plies_ + 1 : 0;
        position_ = play(position_, action);
        starts_ = find_starts(position_);
        drawn_ = quiet_plies_ >= rules_->max_quiet() || reversible_plies_ >= rules_->max_reversible() ||
                 (rules_->repetition() && occurrences() >= rules_->repetition());
    }

    // A player who cannot move has lost, even where a draw would be due.
    Returns returns() const {
        if (starts_.any()) return {0.0, 0.0};
        return position_.side == kBlack ? Returns{-1.0, 1.0} : Returns{1.0, -1.0};
    }

    std::string key() const {
        std::string bytes;
        for (const Squares word : {position_.pieces[0], position_.pieces[1], position_.kings}) {
            for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(word >> 8 * i));
        }
        bytes.push_back(static_cast<char>(position_.side));
        return bytes;
    }

    // Planes: Black's men, Black's kings, White's men, White's kings; the last is filled with 1 if White is to move.
    template <class Plane>
    void observe(Plane* planes) const {
        constexpr std::uint64_t kDarkSquares = 0x55aa55aa55aa55aa;
        for (const Squares pieces : position_.pieces) {
            write_bits(spread_bits(pieces & ~position_.kings, kDarkSquares), 64, planes);
            write_bits(spread_bits(pieces & position_.kings, kDarkSquares), 64, planes + 64);
            planes += 2 * 64;
        }
        std::fill_n(planes, 64, static_cast<Plane>(position_.side));
    }

    // Material for a search at its horizon, between -1 and 1 and short of both: a king counts as a man and a half, and
    // the share of all material makes it good to trade when ahead.
    double evaluate(int player) const {
        const auto worth = [&](int p) {
            return 2.0 * std::popcount(position_.pieces[p]) + std::popcount(position_.pieces[p] & position_.kings);
        };
        const double own = worth(player), other = worth(1 - player);
        return 0.99 * (own - other) / (own + other);
    }

    void forget_history() {
        earlier_.clear();
        quiet_plies_ = reversible_plies_ = 0;
        drawn_ = false;
    }

    // The positions since the last capture or move of a man, before this one; none if repetition does not count.
    const std::vector<Position>& earlier() const { return earlier_; }
    int quiet_plies() const { return quiet_plies_; }
    int reversible_plies() const { return reversible_plies_; }

    // How often the position has occurred since the last capture or move of a man, now included.
    int occurrences() const {
        int n = 1;
        // It takes four plies at least to come back.
        for (std::size_t ago = 4; ago <= earlier_.size(); ago += 2) n += earlier_[earlier_.size() - ago] == position_;
        return n;
    }

private:
    const Rules* rules_;
    Position position_;
    Starts starts_;
    bool drawn_ = false;
    std::int32_t quiet_plies_ = 0;       // since the last capture
    std::int32_t reversible_plies_ = 0;  // since the last capture or move of a man
    std::vector<Position> earlier_;      // the positions before each of these, if repetition counts
};

}  // namespace rookery::checkers
