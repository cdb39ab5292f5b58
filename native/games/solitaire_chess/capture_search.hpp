// Searches for one solution of a Solitaire Chess position: depth first in a given order of captures, with or without
// memory, and best first. What they differ in is how many positions they enter, so that is what they count.
#pragma once

#include <optional>
#include <queue>

#include "core/control.hpp"
#include "games/solitaire_chess/capture_tree.hpp"
#include "games/solitaire_chess/capture_ranker.hpp"

namespace rookery::solitaire_chess {

// An order is a function that lists the legal captures of a state with a score each, the one to try first in front.
using ScoredMoves = std::vector<ScoredMove>;

// The order of the paper's backtracking: pieces from the bottom row up and from right to left, and the moves of each
// from the last to the first, where a queen has its straight moves before its diagonal ones and all run from the top
// left.
inline ScoredMoves paper_order(const State& state) {
    ScoredMoves moves;
    const Rules& rules = state.rules();
    for (Bitboard movers = state.occupied(); movers;) {
        const int from = 63 - std::countl_zero(movers);
        movers &= ~(Bitboard(1) << from);
        const Bitboard targets = state.targets(from);
        const Bitboard oblique = kind_of(state.board()[from]) == kQueen
                                     ? targets & rules.attacks(kBishop, from, state.occupied())
                                     : Bitboard(0);
        for (Bitboard part : {oblique, targets & ~oblique}) {
            while (part) {
                const int to = 63 - std::countl_zero(part);
                part &= ~(Bitboard(1) << to);
                moves.push_back({from * rules.cells() + to, 0});
            }
        }
    }
    return moves;
}

inline void best_in_front(ScoredMoves& moves) {
    std::stable_sort(moves.begin(), moves.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
}

// The best order known that nobody learned: captures on the squares nearest to the centre first.
inline ScoredMoves centre_order(const State& state) {
    ScoredMoves moves = paper_order(state);
    const int rows = state.rules().rows(), columns = state.rules().columns(), cells = rows * columns;
    for (ScoredMove& move : moves) {
        const int to = move.action % cells;
        const int down = 2 * (to / columns) - (rows - 1), right = 2 * (to % columns) - (columns - 1);
        move.score = -static_cast<float>(down * down + right * right);
    }
    best_in_front(moves);
    return moves;
}

// The learned order. The ranker is asked twice about a capture: here, and after it, where the capture is worth what the best
// capture then is worth. The mean of the two answers errs less than either (0.13 of the paper's states on made puzzles,
// where the ranker here alone needs 0.24 and after it alone 0.18). Positions after a capture are looked at, as a hand
// ordering looks at squares, but not entered; `looked_at` counts them. Without `look_ahead` only the first answer counts.
inline ScoredMoves ranked_order(const CaptureRanker& ranker, const State& state, bool look_ahead,
                                std::int64_t& looked_at) {
    constexpr float kCertain = 100;
    std::vector<float> here(state.rules().num_actions());
    for (const ScoredMove& move : ranker.rank(state)) here[move.action] = move.score;
    ScoredMoves moves = paper_order(state);
    for (ScoredMove& move : moves) {
        move.score = here[move.action];
        if (!look_ahead) continue;
        ++looked_at;
        State next = state;
        next.apply(move.action);
        float after = next.pieces() == 1 ? kCertain : -kCertain;
        for (const ScoredMove& reply : ranker.rank(next)) {
            // Any capture between the last two pieces solves the puzzle. The nets are not sure of it: they learn from
            // positions with more pieces.
            after = std::max(after, next.pieces() == 2 ? kCertain : reply.score);
        }
        move.score = (here[move.action] + after) / 2;
    }
    best_in_front(moves);
    return moves;
}

// Is it plain that the position cannot be solved? Looks at what every piece could reach if nothing were ever in its
// way and no square it needs were ever empty, which is more than it can do in truth; so the answer is never wrong.
inline bool plainly_dead(const State& state) {
    const Rules& rules = state.rules();
    const Bitboard occupied = state.occupied();
    const int pieces = state.pieces();
    if (pieces == 1) return false;
    Bitboard kings = 0;  // squares on which nothing but the king that stands there can be
    int captures_left = 0;
    for (Bitboard left = occupied; left; left &= left - 1) {
        const int cell = lowest_bit(left);
        captures_left += rules.max_captures() - captures_of(state.board()[cell]);
        if (rules.king_last() && kind_of(state.board()[cell]) == kKing) kings |= Bitboard(1) << cell;
    }
    if (popcount(kings) > 1) return true;
    if (rules.max_captures() > 0 && captures_left < pieces - 1) return true;
    Bitboard vacated = 0;                          // squares that some piece could leave
    std::array<Bitboard, kMaxCells> joined{};      // squares between which some piece could go
    for (Bitboard left = occupied; left; left &= left - 1) {
        const int home = lowest_bit(left), kind = kind_of(state.board()[home]);
        int steps = rules.max_captures() > 0 ? rules.max_captures() - captures_of(state.board()[home]) : pieces;
        Bitboard reached = Bitboard(1) << home, fresh = reached;
        for (; steps > 0 && fresh; --steps) {
            Bitboard next = 0;
            for (Bitboard from = fresh; from; from &= from - 1) {
                const int cell = lowest_bit(from);
                // A king's square becomes free for others only when it has left, and then it is empty for good.
                const Bitboard to = rules.leaps(kind, cell) & occupied & ~kings;
                if (!to) continue;
                vacated |= Bitboard(1) << cell;
                joined[cell] |= to;
                for (Bitboard end = to; end; end &= end - 1) joined[lowest_bit(end)] |= Bitboard(1) << cell;
                next |= to;
            }
            fresh = next & ~reached;
            reached |= next;
        }
    }
    // Every square but one must be left in the end, and captures join all squares to that one.
    if (popcount(occupied & ~vacated) > 1) return true;
    Bitboard component = occupied & -occupied, fresh = component;
    while (fresh) {
        Bitboard next = 0;
        for (; fresh; fresh &= fresh - 1) next |= joined[lowest_bit(fresh)];
        fresh = next & ~component;
        component |= next;
    }
    return component != occupied;
}

// A position that a search entered: where it came from and by which capture. The first one is the root.
struct Entered {
    std::int64_t parent;
    Action action;
};

struct SearchResult {
    std::optional<ActionList> moves;    // a solution
    std::int64_t states = 0;            // positions entered, the first one included
    bool finished = true;               // false if the limit was reached: then nothing is known
    std::vector<Entered> tree;          // the first of them, in the order in which they were entered
};

struct SearchLimits {
    std::int64_t max_states;  // positions after which to give up
    std::int64_t max_tree;    // positions to keep in the result's tree
    bool prune;               // do not enter positions that are plainly dead
};

// Depth first to the first solution; with `memory`, no position known to be dead is entered again.
template <class Order>
class DepthFirst {
public:
    DepthFirst(const Order& order, bool memory, SearchLimits limits, Control& control)
        : order_(order), memory_(memory), limits_(limits), control_(control) {}

    SearchResult find(const State& state) {
        ActionList moves;
        if (enter(state, -1, 0, moves)) result_.moves = moves;
        return result_;
    }

private:
    // Beyond this many, dead positions are no longer remembered, which costs time and nothing else.
    static constexpr std::size_t kMaxDead = 4'000'000;

    bool enter(const State& state, std::int64_t parent, Action action, ActionList& moves) {
        if (control_.stopped()) throw std::runtime_error("stopped before the answer was known");
        if (result_.states == limits_.max_states) {
            result_.finished = false;
            return false;
        }
        const std::int64_t self = result_.states++;
        control_.add(1);
        if (self < limits_.max_tree) result_.tree.push_back({parent, action});
        if (state.pieces() == 1) return true;
        for (const ScoredMove& move : order_(state)) {
            State next = state;
            next.apply(move.action);
            if (memory_ && dead_.contains(next.board())) continue;
            if (limits_.prune && plainly_dead(next)) continue;
            moves.push_back(move.action);
            if (enter(next, self, move.action, moves)) return true;
            moves.pop_back();
            if (!result_.finished) return false;
        }
        if (memory_ && dead_.size() < kMaxDead) dead_.insert(state.board());
        return false;
    }

    const Order& order_;
    bool memory_;
    SearchLimits limits_;
    Control& control_;
    SearchResult result_;
    std::unordered_set<Board, BoardHash> dead_;
};

// Log-odds from which a position counts as good: beliefs above it are equal, so that the search stays on a line that is
// believed in and does not hop between several such lines.
inline constexpr float kGood = 2.0f;

// What each capture already made adds to the belief in a position, as log-odds: of several good positions the deepest
// comes first, and a doubt does not throw the search back to the start. docs/studies/solitaire_chess.md says how both were
// chosen.
inline constexpr float kDepthBonus = 0.3f;

// So many positions after the first are entered by belief alone; from then on every second one is the best among those
// with equally many pieces, each number in its turn. A belief that is wrong near the start would otherwise be found out
// only when everything below it has been entered.
inline constexpr std::int64_t kPatience = 100;

// Best first: of all positions seen but not yet entered, enter the one that is believed in most, by the score of the
// capture that leads to it and by how many were made; of equal ones the deepest, then the one of greatest score. No
// position is entered twice.
template <class Order>
SearchResult best_first(const State& root, const Order& order, SearchLimits limits, Control& control) {
    struct Seen {
        State state;
        std::int64_t parent;  // among the seen
        Action action;
        std::int64_t entered;  // its number once it has been entered
    };
    struct Waiting {
        float belief;
        int pieces;
        float score;
        std::int64_t seen;
        bool operator<(const Waiting& other) const {
            if (belief != other.belief) return belief < other.belief;
            if (pieces != other.pieces) return pieces > other.pieces;
            if (score != other.score) return score < other.score;
            return seen > other.seen;
        }
    };
    SearchResult result;
    std::vector<Seen> seen{{root, -1, 0, -1}};
    std::unordered_set<Board, BoardHash> known{root.board()};
    std::priority_queue<Waiting> waiting;
    std::vector<std::priority_queue<Waiting>> by_pieces(root.pieces() + 1);  // the same ones
    std::size_t turn = 0;
    const auto next = [&]() -> std::optional<Waiting> {
        const auto pop = [&](std::priority_queue<Waiting>& queue) -> std::optional<Waiting> {
            while (!queue.empty()) {
                const Waiting best = queue.top();
                queue.pop();
                if (seen[best.seen].entered < 0) return best;
            }
            return std::nullopt;
        };
        if (result.states > kPatience && result.states % 2 == 0) {
            for (std::size_t i = 0; i < by_pieces.size(); ++i) {
                turn = (turn + 1) % by_pieces.size();
                if (const auto best = pop(by_pieces[turn])) return best;
            }
        }
        return pop(waiting);
    };
    const auto wait = [&](const Waiting& position) {
        waiting.push(position);
        by_pieces[position.pieces].push(position);
    };
    wait({0, root.pieces(), 0, 0});
    for (std::optional<Waiting> entering; (entering = next());) {
        if (control.stopped()) throw std::runtime_error("stopped before the answer was known");
        if (result.states == limits.max_states) {
            result.finished = false;
            return result;
        }
        const Waiting best = *entering;
        seen[best.seen].entered = result.states++;
        control.add(1);
        const State state = seen[best.seen].state;
        if (static_cast<std::int64_t>(result.tree.size()) < limits.max_tree) {
            const std::int64_t parent = seen[best.seen].parent;
            result.tree.push_back({parent < 0 ? -1 : seen[parent].entered, seen[best.seen].action});
        }
        if (best.pieces == 1) {
            ActionList moves;
            for (std::int64_t at = best.seen; at != 0; at = seen[at].parent) moves.push_back(seen[at].action);
            std::reverse(moves.begin(), moves.end());
            result.moves = moves;
            return result;
        }
        for (const ScoredMove& move : order(state)) {
            State after = state;
            after.apply(move.action);
            if (limits.prune && plainly_dead(after)) continue;
            if (!known.insert(after.board()).second) continue;
            const int captures = root.pieces() - best.pieces + 1;
            const float belief = std::min(move.score, kGood) + kDepthBonus * static_cast<float>(captures);
            wait({belief, best.pieces - 1, move.score, static_cast<std::int64_t>(seen.size())});
            seen.push_back({after, best.seen, move.action, -1});
        }
    }
    return result;
}

}  // namespace rookery::solitaire_chess
