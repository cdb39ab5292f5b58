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
    int leaves = 0;             // examples per move from the leaves of its search
};

// Another evaluation, with a random sample of the positions that it was asked for.
class Sampled : public Evaluation {
public:
    Sampled(const Evaluation& evaluation, int most) : evaluation_(evaluation), most_(most) {}

    Score operator()(const Position& p) const override {
        ++seen_;
        if (kept_.size() < most_) {
            kept_.push_back(p);
        } else if (const auto i = most_ ? rng_.below(seen_) : 0; i < most_) {
            kept_[i] = p;
        }
        return evaluation_(p);
    }

    void begin(const Rng& rng) {
        rng_ = rng;
        next();
    }
    void next() {
        kept_.clear();
        seen_ = 0;
    }
    const std::vector<Position>& kept() const { return kept_; }

private:
    const Evaluation& evaluation_;
    std::size_t most_;
    mutable Rng rng_{0};
    mutable std::uint32_t seen_ = 0;
    mutable std::vector<Position> kept_;
};

// Plays games first_game, first_game + 1, ...; a game that reaches the solved endgames ends there with its exact result,
// one without a capture for 40 plies is drawn. Leaves are searched like the positions of the game, and what is found is
// their target: they are the positions that an evaluation is asked for, and few of them occur in games.
// The examples do not depend on `threads`. `control.done` counts games.
inline std::vector<Example> play_examples(const State& start, const Evaluation& evaluation, const Database* endgames,
                                          const SelfPlay& settings, std::int64_t first_game, std::int64_t games,
                                          std::uint64_t seed, int threads, Control& control) {
    std::vector<std::vector<Example>> played(games);
    constexpr std::int64_t kBlock = 8;
    parallel_blocks((games + kBlock - 1) / kBlock, threads, [&](std::int64_t block) {
        const Cached cached(evaluation);
        Sampled sampled(cached, settings.leaves);
        Engine engine(sampled, endgames, 13), judge(cached, endgames, 13);
        const Limits limits{.nodes = settings.nodes};
        std::vector<TdLearner::Step> steps;
        for (std::int64_t i = block * kBlock; i < std::min(games, (block + 1) * kBlock); ++i) {
            Rng rng(seed, static_cast<std::uint64_t>(first_game + i));
            sampled.begin(Rng(~seed, static_cast<std::uint64_t>(first_game + i)));
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
                if (state.quiet_plies() >= 40) {
                    end = 0.5;
                    break;
                }
                sampled.next();
                const auto found = engine.best(state, limits, control);
                for (const Position& leaf : sampled.kept()) {
                    const Starts starts = find_starts(leaf);
                    if (starts.captures || !starts.any() || (endgames && endgames->covers(leaf))) continue;
                    const double chance = chance_of(judge.best(State(start.rules(), leaf), limits, control).score);
                    const Position seen = seen_by_mover(leaf);
                    played[i].push_back(
                        {seen.own(), seen.other(), seen.kings, static_cast<float>(std::clamp(chance, 0.01, 0.99))});
                }
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
