// Temporal-difference learning of the pattern value by self-play.
//
// A game is played by a shallow search with the value learned so far, after a few random plies and with a random move
// now and then. Then, from its end backwards, every position gets a target: the chance to win that the search saw there,
// mixed with the target of the next position (lambda). So values are learned from values found some plies deeper, and
// from how the game ended. A random move breaks the chain: the position before it learns from its search alone.
//
// Only positions without a capture to make are learned: a search evaluates no others.
#pragma once

#include <span>

#include "core/parallel.hpp"
#include "learn/checkers_patterns.hpp"

namespace rookery::checkers {

struct TdSettings {
    int depth = 3;
    double lambda = 0.7;
    double exploration = 0.05;  // chance of a random move
    int opening = 8;            // random plies at the start: 0 to this many, drawn for each game
    double step = 2.0;
};

class TdLearner {
public:
    explicit TdLearner(const TdSettings& settings) : weights(Patterns::kWeights), settings_(settings) {
        if (settings.depth < 1 || settings.depth > 12) throw std::invalid_argument("the depth of learning is 1 to 12");
        const auto share = [](double x) { return x >= 0 && x <= 1; };
        if (!share(settings.lambda) || !share(settings.exploration)) {
            throw std::invalid_argument("lambda and exploration lie between 0 and 1");
        }
        if (settings.opening < 0) throw std::invalid_argument("the opening is 0 random plies or more");
        if (!(settings.step > 0)) throw std::invalid_argument("the step must be positive");
    }

    CoherentWeights weights;

    struct Totals {
        std::int64_t games = 0, plies = 0, draws = 0, learned = 0;
        double squared_error = 0;
    };

    // Plays games first_game, first_game + 1, ... with the weights as they are, then learns from all of them in order.
    // The result does not depend on `threads`. Stopped early, nothing is learned. `control.done` counts games.
    Totals train(const State& start, std::int64_t first_game, std::int64_t games, std::uint64_t seed, int threads,
                 Control& control) {
        const PatternValue value(weights.value);
        std::vector<std::vector<Lesson>> lessons(games);
        std::vector<std::int8_t> drawn(games);
        std::vector<std::int64_t> plies(games);
        constexpr std::int64_t kBlock = 8;
        parallel_blocks((games + kBlock - 1) / kBlock, threads, [&](std::int64_t block) {
            Search search(value, nullptr, 12);
            for (std::int64_t game = block * kBlock; game < std::min(games, (block + 1) * kBlock); ++game) {
                if (control.stopped()) return;
                Rng rng(seed, static_cast<std::uint64_t>(first_game + game));
                play_game(start, search, rng, lessons[game], plies[game], drawn[game], control);
                control.add(1);
            }
        });
        Totals totals;
        if (control.stopped()) return totals;
        for (std::int64_t game = 0; game < games; ++game) {
            for (const Lesson& lesson : lessons[game]) totals.squared_error += learn(lesson);
            totals.learned += static_cast<std::int64_t>(lessons[game].size());
            totals.plies += plies[game];
            totals.draws += drawn[game];
        }
        totals.games = games;
        return totals;
    }

private:
    struct Lesson {
        Position position;
        float target;  // chance to win of the side to move, a draw counting half
    };

    struct Step {
        Position position;
        float found;  // by the search
        bool random, quiet;
    };

    void play_game(const State& start, Search& search, Rng& rng, std::vector<Lesson>& lessons, std::int64_t& plies,
                   std::int8_t& drawn, Control& control) const {
        State state = start;
        const auto random_plies = rng.below(static_cast<std::uint32_t>(settings_.opening + 1));
        for (std::uint32_t ply = 0; ply < random_plies && state.player() != kTerminal; ++ply) {
            state.apply(state.random_action(rng));
        }
        std::vector<Step> steps;
        while (state.player() != kTerminal && !control.stopped()) {
            const auto moves = search.best(state, settings_.depth, control);
            const bool random = rng.uniform() < settings_.exploration;
            const Action action =
                random ? state.random_action(rng) : moves[rng.below(static_cast<std::uint32_t>(moves.size()))].action;
            steps.push_back({state.position(), static_cast<float>(chance_of(moves[0].score)), random,
                             !find_starts(state.position()).captures});
            state.apply(action);
        }
        plies = static_cast<std::int64_t>(steps.size());
        if (steps.empty()) return;
        drawn = state.returns()[0] == 0;
        double target = (1 + state.returns()[steps.back().position.side]) / 2;
        for (std::size_t i = steps.size(); i-- > 0;) {
            const Step& step = steps[i];
            if (i + 1 < steps.size()) target = 1 - target;  // seen by the other side now
            target = step.random ? step.found : (1 - settings_.lambda) * step.found + settings_.lambda * target;
            if (step.quiet) lessons.push_back({step.position, static_cast<float>(target)});
        }
    }

    // Returns the squared error.
    double learn(const Lesson& lesson) {
        const double seen = 1 / (1 + std::exp(-Patterns::value(weights.value.data(), lesson.position)));
        const double error = lesson.target - seen;
        std::array<std::uint32_t, Patterns::kMostActive> active;
        int n = 0;
        Patterns::for_each(lesson.position, [&](std::uint32_t i) { active[n++] = i; });
        const auto each = static_cast<float>(settings_.step / n);
        const float full = Patterns::fullness(lesson.position);
        for (int i = 0; i < n; ++i) {
            weights.learn(2 * active[i], each * full, static_cast<float>(error));
            weights.learn(2 * active[i] + 1, each * (1 - full), static_cast<float>(error));
        }
        return error * error;
    }

    TdSettings settings_;
};

}  // namespace rookery::checkers
