// What a teacher who knows every answer would tell a pupil: positions, and which of their captures are right.
#pragma once

#include <algorithm>

#include "core/parallel.hpp"
#include "core/rng.hpp"
#include "games/solitaire_chess/capture_tree.hpp"

namespace rookery::solitaire_chess {

struct Lessons {
    std::vector<Board> boards;
    std::vector<std::uint32_t> good;  // bit i: the i-th legal capture leaves the position solvable
};

// Of each puzzle's tree, all positions of three pieces or more that can be solved, and as many that cannot, drawn at
// random. Positions with more than 32 captures are left out.
inline Lessons make_lessons(const std::vector<State>& puzzles, std::uint64_t seed, int threads, Control& control) {
    constexpr std::int64_t kMaxStates = 1'000'000;
    const auto n = static_cast<std::int64_t>(puzzles.size());
    std::vector<Lessons> parts(n);
    parallel_blocks(n, threads, [&](std::int64_t i) {
        if (control.stopped()) return;
        Control own;
        TreeWalk tree(kMaxStates, own);
        tree.walk(puzzles[i]);
        std::vector<Board> solvable, dead;
        tree.for_each([&](const Board& board, const CaptureTree& below) {
            const auto pieces = std::count_if(board.begin(), board.end(), [](auto cell) { return cell != 0; });
            if (pieces >= 3) (below.solutions > 0 ? solvable : dead).push_back(board);
        });
        std::sort(solvable.begin(), solvable.end());
        std::sort(dead.begin(), dead.end());
        Rng rng(seed, static_cast<std::uint64_t>(i));
        const std::size_t kept = std::min(dead.size(), solvable.size());
        for (std::size_t j = 0; j < kept; ++j) {
            std::swap(dead[j], dead[j + rng.below(static_cast<std::uint32_t>(dead.size() - j))]);
        }
        dead.resize(kept);
        for (const auto* boards : {&solvable, &dead}) {
            for (const Board& board : *boards) {
                const State state(puzzles[i].rules(), board);
                ActionList actions;
                state.legal_actions(actions);
                if (actions.size() > 32 || actions.empty()) continue;
                std::uint32_t good = 0;
                for (std::size_t a = 0; a < actions.size(); ++a) {
                    State next = state;
                    next.apply(actions[a]);
                    good |= std::uint32_t(tree.solvable(next.board())) << a;
                }
                parts[i].boards.push_back(board);
                parts[i].good.push_back(good);
            }
        }
        control.add(1);
    });
    if (control.stopped()) throw std::runtime_error("stopped before all lessons were made");
    Lessons all;
    for (const Lessons& part : parts) {
        all.boards.insert(all.boards.end(), part.boards.begin(), part.boards.end());
        all.good.insert(all.good.end(), part.good.begin(), part.good.end());
    }
    return all;
}

}  // namespace rookery::solitaire_chess
