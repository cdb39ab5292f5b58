// Games of the engine against itself, as examples for a learner.
#pragma once

#include <vector>

#include "core/parallel.hpp"
#include "games/checkers/engine.hpp"
#include "games/checkers/td.hpp"

namespace rookery::checkers {

// A position without a capture to make, seen by the side to move, and the chance of winning to learn, a draw counting half.
struct Example {
    Squares own = 0, other = 0, kings = 0;
    float target = 0;
};

struct SelfPlay {
    std::uint64_t nodes = 2000;  // per move
    double lambda = 0.9;
    double exploration = 0.03;  // chance of a random move
    int opening = 10;           // random plies at the start: 0 to this many, drawn for each game
};

// Plays games first_game, first_game + 1, ...; a game that reaches the solved endgames ends there with its exact result.
// The examples do not depend on `threads`. `control.done` counts games.
inline std::vector<Example> play_examples(const State& start, const Evaluation& evaluation, const Database* endgames,
                                          const SelfPlay& settings, std::int64_t first_game, std::int64_t games,
                                          std::uint64_t seed, int threads, Control& control) {
    std::vector<std::vector<Example>> played(games);
    constexpr std::int64_t kBlock = 8;
    parallel_blocks((games + kBlock - 1) / kBlock, threads, [&](std::int64_t block) {
        Engine engine(evaluation, endgames, 14);
        const Limits limits{.nodes = settings.nodes};
        std::vector<TdLearner::Step> steps;
        for (std::int64_t i = block * kBlock; i < std::min(games, (block + 1) * kBlock); ++i) {
            Rng rng(seed, static_cast<std::uint64_t>(first_game + i));
            State state = start;
            const auto random_plies = rng.below(static_cast<std::uint32_t>(settings.opening + 1));
            for (std::uint32_t ply = 0; ply < random_plies && state.player() != kTerminal; ++ply) {
                state.apply(state.random_action(rng));
            }
            steps.clear();
            double end = -1;  // the chance of the side that moved last
            while (state.player() != kTerminal) {
                if (control.stopped()) return;
                const Position& p = state.position();
                if (endgames && endgames->covers(p)) {
                    const int plies = endgames->look_up(p);
                    end = plies == Database::kDrawn ? 0.5 : plies % 2 == 0;
                    break;
                }
                const auto found = engine.best(state, limits, control);
                const bool random = rng.uniform() < settings.exploration;
                steps.push_back({p, static_cast<float>(chance_of(found.score)), random, !find_starts(p).captures});
                state.apply(random ? state.random_action(rng) : found.line[0]);
            }
            if (!steps.empty()) {
                if (end < 0) end = (1 + state.returns()[steps.back().position.side]) / 2;
                TdLearner::set_targets(steps, end, settings.lambda);
            }
            for (const auto& step : steps) {
                if (!step.quiet) continue;
                const Position p = seen_by_mover(step.position);
                played[i].push_back({p.own(), p.other(), p.kings, step.target});
            }
            control.add(1);
        }
    });
    std::vector<Example> examples;
    for (const auto& game : played) examples.insert(examples.end(), game.begin(), game.end());
    return examples;
}

}  // namespace rookery::checkers
