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
#include "games/checkers/patterns.hpp"

namespace rookery::checkers {

struct TdSettings {
    int depth = 3;
    double lambda = 0.7;
    double exploration = 0.05;  // chance of a random move
    int opening = 8;  // random plies at the start: 0 to this many, drawn for each game
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
    }

    CoherentWeights weights;

    struct Totals {
        std::int64_t games = 0, plies = 0, draws = 0, learned = 0;
        double squared_error = 0;
    };

    // Plays games first_game, first_game + 1, ... with the weights as they are, then learns from all of them in order. An
    // error is corrected by `step` of it, before temporal coherence makes that less. The result does not depend on
    // `threads`. Stopped early, nothing is learned. `control.done` counts games.
    Totals train(const State& start, std::int64_t first_game, std::int64_t games, double step, std::uint64_t seed,
                 int threads, Control& control) {
        if (!(step > 0)) throw std::invalid_argument("the step must be positive");
        const PatternValue value(weights.value);
        std::vector<Game> played(games);
        constexpr std::int64_t kBlock = 8;
        parallel_blocks((games + kBlock - 1) / kBlock, threads, [&](std::int64_t block) {
            Search search(value, nullptr, 12);
            for (std::int64_t i = block * kBlock; i < std::min(games, (block + 1) * kBlock); ++i) {
                if (control.stopped()) return;
                Rng rng(seed, static_cast<std::uint64_t>(first_game + i));
                played[i] = play_game(start, search, rng, control);
                control.add(1);
            }
        });
        Totals totals;
        if (control.stopped()) return totals;
        for (const Game& game : played) {
            // From the end backwards: what is learned about later positions comes first.
            for (std::size_t i = game.steps.size(); i-- > 0;) {
                if (!game.steps[i].quiet) continue;
                totals.squared_error += learn(game.steps[i].position, game.steps[i].target, step);
                ++totals.learned;
            }
            totals.plies += static_cast<std::int64_t>(game.steps.size());
            totals.draws += game.drawn;
        }
        totals.games = games;
        return totals;
    }

    // One ply of a game, in the eyes of the side to move. Chances are of winning, a draw counting half.
    struct Step {
        Position position;
        float found = 0;  // chance that the search saw
        bool random = false;  // the move played was not the search's
        bool quiet = true;  // there was no capture to make
        float target = 0;
    };

    // `end`: the result for the side that moved last, 1 for a win, 0 for a loss.
    static void set_targets(std::span<Step> steps, double end, double lambda) {
        double next = end;  // in the eyes of the side that moves in the step at hand
        for (std::size_t i = steps.size(); i-- > 0;) {
            Step& step = steps[i];
            step.target = static_cast<float>(step.random ? step.found : (1 - lambda) * step.found + lambda * next);
            next = 1 - step.target;
        }
    }

    // Moves the value of a position towards its target; returns the squared error there was.
    double learn(const Position& p, float target, double step) {
        const double error = target - 1 / (1 + std::exp(-Patterns::value(weights.value.data(), p)));
        std::array<std::uint32_t, Patterns::kMostActive> active;
        int n = 0;
        Patterns::for_each(p, [&](std::uint32_t i) { active[n++] = i; });
        const auto each = static_cast<float>(step / n);
        const float full = Patterns::fullness(p);
        for (int i = 0; i < n; ++i) {
            weights.learn(2 * active[i], each * full, static_cast<float>(error));
            weights.learn(2 * active[i] + 1, each * (1 - full), static_cast<float>(error));
        }
        return error * error;
    }

private:
    struct Game {
        std::vector<Step> steps;
        bool drawn = false;
    };

    Game play_game(const State& start, Search& search, Rng& rng, Control& control) const {
        State state = start;
        const auto random_plies = rng.below(static_cast<std::uint32_t>(settings_.opening + 1));
        for (std::uint32_t ply = 0; ply < random_plies && state.player() != kTerminal; ++ply) {
            state.apply(state.random_action(rng));
        }
        Game game;
        while (state.player() != kTerminal && !control.stopped()) {
            const auto moves = search.best(state, settings_.depth, control);
            const bool random = rng.uniform() < settings_.exploration;
            const Action best = moves[rng.below(static_cast<std::uint32_t>(moves.size()))].action;
            game.steps.push_back({state.position(), static_cast<float>(chance_of(moves[0].score)), random,
                                  !find_starts(state.position()).captures});
            state.apply(random ? state.random_action(rng) : best);
        }
        if (game.steps.empty() || control.stopped()) return {};
        const double result = state.returns()[game.steps.back().position.side];
        game.drawn = result == 0;
        set_targets(game.steps, (1 + result) / 2, settings_.lambda);
        return game;
    }

    TdSettings settings_;
};

}  // namespace rookery::checkers
