// What a player finds out by itself who plays a puzzle and takes captures back until it is solved: which captures lead
// to the solution, and which lead nowhere because everything after them has been tried.
#pragma once

#include <algorithm>
#include <unordered_set>

#include "core/parallel.hpp"
#include "core/rng.hpp"
#include "games/solitaire_chess/capture_tree.hpp"
#include "games/solitaire_chess/capture_ranker.hpp"

namespace rookery::solitaire_chess {

// Positions and what became of their captures, in the order of legal actions: bit i of `tried` is set if all is known
// about the i-th, and that of `good` if it leads to a solution.
struct Experience {
    std::vector<Board> boards;
    std::vector<std::uint64_t> good, tried;
    std::vector<std::uint8_t> solved;     // for each puzzle
    std::vector<std::int32_t> positions;  // entered in each
};

class Backtracking {
public:
    // Captures are tried in the ranker's order, and in a random order at this share of the positions.
    Backtracking(const CaptureRanker& ranker, double epsilon, int max_states, std::uint64_t seed, std::uint64_t stream)
        : ranker_(ranker), epsilon_(epsilon), max_states_(max_states), rng_(seed, stream) {}

    // Whether the puzzle was solved.
    bool play(const State& puzzle) { return enter(puzzle); }

    int states() const { return states_; }

    // All positions on the way to the solution, or to where the player gave up, and as many dead ones, drawn at random;
    // all of three pieces or more.
    void tell(Experience& all) {
        std::size_t kept = 0;
        for (const Seen& seen : last_line_) {
            if (seen.pieces >= 3) add(all, seen), ++kept;
        }
        for (std::size_t j = 0; j < std::min(kept, dead_ends_.size()); ++j) {
            std::swap(dead_ends_[j], dead_ends_[j + rng_.below(static_cast<std::uint32_t>(dead_ends_.size() - j))]);
            add(all, dead_ends_[j]);
        }
    }

private:
    struct Seen {
        Board board;
        int pieces;
        std::uint64_t good, tried;
    };

    static void add(Experience& all, const Seen& seen) {
        all.boards.push_back(seen.board);
        all.good.push_back(seen.good);
        all.tried.push_back(seen.tried);
    }

    bool enter(const State& state) {
        if (state.pieces() == 1) return true;
        if (states_ == max_states_) return gave_up_ = true, false;
        ++states_;
        std::vector<ScoredMove> moves = ranker_.rank(state);
        ActionList actions;
        for (const ScoredMove& move : moves) actions.push_back(move.action);
        if (rng_.uniform() < epsilon_) {
            for (ScoredMove& move : moves) move.score = static_cast<float>(rng_.uniform());
        }
        std::stable_sort(moves.begin(), moves.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
        Seen seen{state.board(), state.pieces(), 0, 0};
        for (const ScoredMove& move : moves) {
            State next = state;
            next.apply(move.action);
            const auto place = std::find(actions.begin(), actions.end(), move.action) - actions.begin();
            const std::uint64_t bit = place < 64 ? std::uint64_t(1) << place : 0;
            const bool solved = !dead_.contains(next.board()) && enter(next);
            if (!gave_up_) seen.tried |= bit;
            if (solved) seen.good |= bit;
            if (solved || gave_up_) {
                last_line_.push_back(seen);
                return solved;
            }
        }
        dead_.insert(state.board());
        if (state.pieces() >= 3 && !moves.empty()) dead_ends_.push_back(seen);
        return false;
    }

    const CaptureRanker& ranker_;
    double epsilon_;
    int max_states_;
    Rng rng_;
    int states_ = 0;
    bool gave_up_ = false;
    std::unordered_set<Board, BoardHash> dead_;
    std::vector<Seen> last_line_, dead_ends_;
};

// Every puzzle is played, with a share of random orders of its own.
inline Experience play_with_backtracking(const std::vector<State>& puzzles, const CaptureRanker& ranker,
                                         const std::vector<double>& epsilons, int max_states, std::uint64_t seed,
                                         int threads) {
    const auto n = static_cast<std::int64_t>(puzzles.size());
    std::vector<Experience> parts(n);
    parallel_blocks(n, threads, [&](std::int64_t i) {
        Backtracking game(ranker, epsilons[i], max_states, seed, static_cast<std::uint64_t>(i));
        parts[i].solved.push_back(game.play(puzzles[i]));
        parts[i].positions.push_back(game.states());
        game.tell(parts[i]);
    });
    Experience all;
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    for (const Experience& part : parts) {
        append(all.boards, part.boards);
        append(all.good, part.good);
        append(all.tried, part.tried);
        append(all.solved, part.solved);
        append(all.positions, part.positions);
    }
    return all;
}

}  // namespace rookery::solitaire_chess
