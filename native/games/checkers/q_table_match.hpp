// The paper's experiment: a Q-table, with a way out for positions it does not know, against a random player.
#pragma once

#include "core/clock.hpp"
#include "games/checkers/voting.hpp"

namespace rookery::checkers {

enum class Fallback { kRandom, kVoting, kKeepTraining };

struct MatchSettings {
    Fallback fallback;
    const PriorStateVoting* voting;  // for kVoting
    Settings training;               // for kKeepTraining, with
    std::int64_t repetitions;        // games from the unknown position
    bool first_of_ties = false;      // choose as the author's program does
};

struct TableGame {
    double result = 0;                  // of the table: 1, 0, -1
    std::int32_t plies = -1;            // -1: not played
    std::int32_t moves = 0, known = 0;  // of the table; in positions it knew
    double seconds = 0;                 // of CPU
};

// The greedy move of the table, or what the fallback says where the position is unknown. Keep-training learns into
// the layer, from the position with its past, with the discount rising over these games again.
inline Action choose_with_fallback(LayeredTable& table, const MatchSettings& settings, const State& state,
                                   const ActionList& actions, bool& was_known, Rng& rng) {
    const int n = static_cast<int>(actions.size());
    const float* values = table.find(state.position());
    was_known = values != nullptr;
    if (!values && settings.fallback == Fallback::kKeepTraining) {
        Control uncounted;
        train(table, state, settings.training, 0, settings.repetitions, settings.repetitions, rng.next(), uncounted);
        values = table.find(state.position());
    }
    const auto choose = [&](const auto* of) {
        return actions[settings.first_of_ties ? choose_first(of, actions) : choose_greatest(of, n, rng)];
    };
    if (values) return choose(values);
    if (settings.fallback != Fallback::kVoting) return actions[rng.below(n)];
    std::vector<MeanVote> scores;
    settings.voting->scores(state.position(), scores);
    std::vector<double> means;
    for (const MeanVote& score : scores) means.push_back(score.mean);
    return choose(means.data());
}

// Game i has the random stream (seed, i); the table plays Black in the even ones, and what it learns on the way is
// forgotten after the game: results do not depend on `threads`. `control.done` counts games.
inline void play_against_random(const QTable& table, const MatchSettings& settings, const State& start,
                                std::span<TableGame> games, std::uint64_t seed, int threads, Control& control) {
    parallel_blocks(static_cast<std::int64_t>(games.size()), threads, [&](std::int64_t i) {
        if (control.stopped()) return;
        const double begin = thread_cpu_seconds();
        Rng rng(seed, static_cast<std::uint64_t>(i));
        LayeredTable own(table);
        State state = start;
        const int side = static_cast<int>(i % 2);
        TableGame game;
        game.plies = 0;
        ActionList actions;
        while (state.player() != kTerminal && !control.stopped()) {
            if (state.player() == side) {
                actions.clear();
                state.legal_actions(actions);
                bool known = false;
                state.apply(choose_with_fallback(own, settings, state, actions, known, rng));
                ++game.moves;
                game.known += known;
            } else {
                state.apply(state.random_action(rng));
            }
            ++game.plies;
        }
        if (state.player() != kTerminal) return;
        game.result = state.returns()[side];
        game.seconds = thread_cpu_seconds() - begin;
        games[i] = game;
        control.add(1);
    });
}

}  // namespace rookery::checkers
