// Everything there is to know about one Solitaire Chess position, by walking its captures to the end.
//
// Every capture takes a piece off, so no line is longer than the number of pieces and no position comes twice in one;
// positions that several lines reach are worked out once.
#pragma once

#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/control.hpp"
#include "games/solitaire_chess/rules.hpp"

namespace rookery::solitaire_chess {

struct BoardHash {
    std::size_t operator()(const Board& board) const {
        std::uint64_t hash = 0;
        for (int i = 0; i < kMaxCells; i += 8) {
            std::uint64_t word;
            std::memcpy(&word, board.data() + i, 8);
            hash = (std::rotl(hash, 23) ^ word) * 0x9e3779b97f4a7c15ULL;
        }
        return hash ^ hash >> 32;
    }
};

// What the captures from one position lead to. The counts stop at the largest number they can hold.
struct CaptureTree {
    std::array<Bitboard, kKinds> finals{};  // for each kind, where it can stand as the only piece left
    std::uint64_t solutions = 0;            // sequences of captures that leave one piece
    std::uint64_t nodes = 1;                // of the whole tree, the position itself included
};

class TreeWalk {
public:
    // Stops with an exception once there are more than `max_states` distinct positions.
    TreeWalk(std::int64_t max_states, Control& control) : max_states_(max_states), control_(control) {}

    // `control.done` counts distinct positions.
    CaptureTree walk(const State& state) {
        if (const auto known = seen_.find(state.board()); known != seen_.end()) return known->second;
        if (control_.stopped()) throw std::runtime_error("stopped before the whole tree was seen");
        CaptureTree tree;
        const Bitboard occupied = state.occupied();
        if (state.pieces() == 1) {
            const int cell = lowest_bit(occupied);
            tree.finals[kind_of(state.board()[cell])] = occupied;
            tree.solutions = 1;
        }
        for (Bitboard movers = occupied; movers; movers &= movers - 1) {
            const int from = lowest_bit(movers);
            for (Bitboard to = state.targets(from); to; to &= to - 1) {
                State next = state;
                next.apply(from * state.rules().cells() + lowest_bit(to));
                const CaptureTree below = walk(next);
                for (int kind = 0; kind < kKinds; ++kind) tree.finals[kind] |= below.finals[kind];
                tree.solutions = add(tree.solutions, below.solutions);
                tree.nodes = add(tree.nodes, below.nodes);
            }
        }
        if (distinct() >= max_states_) {
            throw std::runtime_error("there are more than " + std::to_string(max_states_) + " positions in this tree");
        }
        control_.add(1);
        return seen_[state.board()] = tree;
    }

    std::int64_t distinct() const { return static_cast<std::int64_t>(seen_.size()); }

    // Whether a position that was walked through can be solved.
    bool solvable(const Board& board) const { return seen_.at(board).solutions > 0; }

    // Every position walked through, in no order that means anything.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& [board, tree] : seen_) visit(board, tree);
    }

private:
    static std::uint64_t add(std::uint64_t a, std::uint64_t b) {
        return a + b < a ? std::numeric_limits<std::uint64_t>::max() : a + b;
    }

    std::int64_t max_states_;
    Control& control_;
    std::unordered_map<Board, CaptureTree, BoardHash> seen_;
};

// Depth first to the first solution, captures in the order of their numbers; positions known to be dead are not
// entered again. `states` and `control.done` count the positions entered, the first one included.
class FirstSolution {
public:
    explicit FirstSolution(Control& control) : control_(control) {}

    std::optional<ActionList> find(const State& state) {
        ActionList moves;
        if (!enter(state, moves)) return std::nullopt;
        return moves;
    }

    std::int64_t states() const { return states_; }

private:
    // Beyond this many (some 400 MB) dead positions are no longer remembered, which costs time and nothing else.
    static constexpr std::size_t kMaxDead = 4'000'000;

    bool enter(const State& state, ActionList& moves) {
        if (control_.stopped()) throw std::runtime_error("stopped before the answer was known");
        ++states_;
        control_.add(1);
        if (state.pieces() == 1) return true;
        for (Bitboard movers = state.occupied(); movers; movers &= movers - 1) {
            const int from = lowest_bit(movers);
            for (Bitboard to = state.targets(from); to; to &= to - 1) {
                const Action action = from * state.rules().cells() + lowest_bit(to);
                State next = state;
                next.apply(action);
                if (dead_.contains(next.board())) continue;
                moves.push_back(action);
                if (enter(next, moves)) return true;
                moves.pop_back();
            }
        }
        if (dead_.size() < kMaxDead) dead_.insert(state.board());
        return false;
    }

    Control& control_;
    std::int64_t states_ = 0;
    std::unordered_set<Board, BoardHash> dead_;
};

}  // namespace rookery::solitaire_chess
