// Alpha-beta for checkers: iterative deepening, a transposition table, captures searched to their end.
//
// The value of a position at a depth is that of plain minimax: entries of the table are used at their own depth only,
// and nothing is cut that could matter. So what is found does not depend on the table's size or content, nor on the
// order of moves; they decide how long it takes.
//
// Inside the tree a position counts by itself. At the root the game's past counts too: a move that ends the game or goes
// back to a position that occurred before is a draw.
#pragma once

#include <memory>
#include <vector>

#include "core/control.hpp"
#include "games/checkers/database.hpp"
#include "games/checkers/rules.hpp"

namespace rookery::checkers {

using Score = std::int32_t;  // for the side to move

// A position decided n plies ahead, seen where d plies are left to search, scores kDecided - n + d: wins that are near
// the root score more, and no evaluation reaches any of them.
inline constexpr Score kDecided = 100'000;
inline constexpr Score kMaxEvaluation = 90'000;

class Evaluation {
public:
    virtual ~Evaluation() = default;
    virtual Score operator()(const Position& p) const = 0;
};

// The evaluation of the ladder: a man is worth 100, a king 130.
class MaterialValue : public Evaluation {
public:
    Score operator()(const Position& p) const override {
        const auto worth = [&](Squares s) { return 100 * std::popcount(s) + 30 * std::popcount(s & p.kings); };
        return worth(p.own()) - worth(p.other());
    }
};

class Search {
public:
    static constexpr int kMaxDepth = 60;

    struct Value {
        Action action;
        Score score;
    };

    // `endgames` may be null. Both must outlive the search.
    Search(const Evaluation& evaluation, const Database* endgames, int log_entries = 16)
        : evaluation_(evaluation), endgames_(endgames), entries_(std::size_t(1) << log_entries) {}

    std::uint64_t nodes = 0;

    // The moves of greatest score, all of them, in the order of legal_actions.
    std::vector<Value> best(const State& root, int depth, Control& control) {
        std::vector<Value> moves = begin(root, depth, control);
        // Until the last depth is reached the values are only good for ordering.
        for (int d = moves.size() > 1 ? 1 : depth; d <= depth; ++d) {
            Score best = -2 * kDecided;
            for (auto& move : moves) {
                // A move as good as the best so far gets its exact score, a worse one some bound below it.
                move.score = score_move(root, move.action, d, best - 1, 2 * kDecided);
                best = std::max(best, move.score);
            }
            std::stable_sort(moves.begin(), moves.end(),
                             [](const Value& a, const Value& b) { return a.score > b.score; });
        }
        end();
        std::erase_if(moves, [&](const Value& move) { return move.score < moves.front().score; });
        std::sort(moves.begin(), moves.end(), [](const Value& a, const Value& b) { return a.action < b.action; });
        return moves;
    }

    // Every legal move with its exact score.
    std::vector<Value> values(const State& root, int depth, Control& control) {
        std::vector<Value> moves = begin(root, depth, control);
        for (int d = 1; d <= depth; ++d) {
            for (auto& move : moves) move.score = score_move(root, move.action, d, -2 * kDecided, 2 * kDecided);
        }
        end();
        return moves;
    }

private:
    enum Bound : std::uint32_t { kNone, kAtLeast, kAtMost, kExact };

    struct Entry {
        std::uint64_t key = 0;
        Score score = 0;
        std::uint32_t action : 24 = 0, depth : 6 = 0, bound : 2 = kNone;
    };
    static_assert(kNumActions <= 1 << 24 && kMaxDepth < 1 << 6);

    std::vector<Value> begin(const State& root, int depth, Control& control) {
        if (root.player() < 0) throw std::invalid_argument("search needs a position in which a player is to move");
        if (depth < 1 || depth > kMaxDepth) throw std::invalid_argument("the depth must be 1 to 60");
        control_ = &control;
        nodes = 0;
        std::vector<Value> moves;
        ActionList actions;
        root.legal_actions(actions);
        for (const Action action : actions) moves.push_back({action, 0});
        return moves;
    }

    // A search that was stopped leaves wrong scores behind.
    void end() {
        if (control_->stopped()) std::fill(entries_.begin(), entries_.end(), Entry{});
    }

    Score score_move(const State& root, Action action, int depth, Score alpha, Score beta) {
        State next = root;
        next.apply(action);
        if (next.player() != kTerminal && next.occurrences() > 1) return 0;
        if (next.player() == kTerminal && next.returns()[root.player()] == 0) return 0;
        return -search(next.position(), depth - 1, -beta, -alpha, 0);
    }

    Score search(const Position& p, int depth, Score alpha, Score beta, int ply) {
        ++nodes;
        const Starts starts = find_starts(p);
        if (!starts.any()) return -(kDecided + depth);
        if (endgames_ && endgames_->covers(p)) return solved(p, depth);
        if (depth == 0 && !starts.captures) return evaluation_(p);
        if (control_->stopped()) return 0;

        const std::uint64_t key = hash(p);
        Entry& entry = entries_[key & (entries_.size() - 1)];
        Action first = -1;
        if (depth > 0 && entry.bound != kNone && entry.key == key) {
            first = static_cast<Action>(entry.action);
            if (static_cast<int>(entry.depth) == depth) {
                if (entry.bound == kExact) return entry.score;
                if (entry.bound == kAtLeast && entry.score >= beta) return entry.score;
                if (entry.bound == kAtMost && entry.score <= alpha) return entry.score;
            }
        }

        // By index all along: deeper plies make moves_ grow.
        if (ply >= static_cast<int>(moves_.size())) moves_.emplace_back();
        moves_[ply].clear();
        for_each_action(p, starts, [&](Action action) {
            const std::uint32_t history = action < kFirstCapture ? history_[p.side][action] : 0;
            moves_[ply].push_back({action, action == first ? ~0u : history});
        });
        const std::size_t count = moves_[ply].size();
        Score best = -2 * kDecided;
        const Score alpha_before = alpha;
        Action best_action = 0;
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t pick = i;
            for (std::size_t j = i + 1; j < count; ++j) {
                if (moves_[ply][j].rank > moves_[ply][pick].rank) pick = j;
            }
            std::swap(moves_[ply][i], moves_[ply][pick]);
            const Action action = moves_[ply][i].action;
            const Score score = -search(play(p, action), std::max(depth - 1, 0), -beta, -alpha, ply + 1);
            if (score > best) {
                best = score;
                best_action = action;
            }
            alpha = std::max(alpha, score);
            if (alpha >= beta) break;
        }
        if (depth > 0 && !control_->stopped()) {
            entry.key = key;
            entry.score = best;
            entry.action = static_cast<std::uint32_t>(best_action);
            entry.depth = static_cast<std::uint32_t>(depth);
            entry.bound = best >= beta ? kAtLeast : best <= alpha_before ? kAtMost : kExact;
            if (best >= beta && best_action < kFirstCapture) {
                auto& history = history_[p.side][best_action];
                history = std::min<std::uint32_t>(history + depth * depth, 1u << 30);
            }
        }
        return best;
    }

    Score solved(const Position& p, int depth) const {
        const int plies = endgames_->look_up(p);
        if (plies == Database::kDrawn) return 0;
        const Score score = kDecided - plies + depth;
        return plies % 2 == 1 ? score : -score;
    }

    struct Ranked {
        Action action;
        std::uint32_t rank;
    };

    const Evaluation& evaluation_;
    const Database* endgames_;
    std::vector<Entry> entries_;
    Control* control_ = nullptr;
    std::vector<std::vector<Ranked>> moves_;  // by ply
    std::uint32_t history_[2][kFirstCapture] = {};  // how often a step was the one that cut
};

}  // namespace rookery::checkers
