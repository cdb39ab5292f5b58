// Many games of checkers between two players, in one call.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "core/parallel.hpp"
#include "games/checkers/engine.hpp"

namespace rookery::checkers {

// With a limit of nodes or time, the engine; else exact minimax to a depth, ties broken at random; depth 0 plays at random.
struct Player {
    int depth = 0;
    std::shared_ptr<const Evaluation> evaluation;
    std::shared_ptr<const Database> endgames;
    Limits limits{};
};

// The legal actions in random order, so that moves of equal score are played in turn.
inline std::vector<Action> shuffled_actions(const State& state, Rng& rng) {
    ActionList actions;
    state.legal_actions(actions);
    std::vector<Action> shuffled(actions.begin(), actions.end());
    for (std::size_t i = shuffled.size(); i > 1; --i) {
        std::swap(shuffled[i - 1], shuffled[rng.below(static_cast<std::uint32_t>(i))]);
    }
    return shuffled;
}

struct MatchGame {
    std::int8_t result = 0;    // for the first player: 1 won, 0 drawn, -1 lost
    std::int32_t plies = -1;   // -1: not played
    std::array<std::int32_t, 2> moves{};         // that each player, first and second, had to think about
    std::array<std::uint64_t, 2> nodes{};        // that it looked at for them
    std::array<double, 2> seconds{};             // CPU time that it took for them
    std::array<bool, 2> won{};                   // it had a position that the solved endgames call won
};

// An engine with a limit of time keeps its table during a game.
// Games 2i and 2i + 1 start from the same `opening` random plies with colours exchanged. Unless time is limited, what a
// game becomes depends on the seed and its number alone. `control.done` counts games.
inline void play_match(const State& start, const std::array<Player, 2>& players, int opening_plies, std::uint64_t seed,
                       int threads, std::span<MatchGame> games, Control& control) {
    constexpr std::int64_t kBlock = 2;  // the two games of an opening
    const auto count = static_cast<std::int64_t>(games.size());
    parallel_blocks((count + kBlock - 1) / kBlock, threads, [&](std::int64_t block) {
        std::array<std::optional<Search>, 2> searches;
        std::array<std::optional<Cached>, 2> values;
        std::array<std::optional<Engine>, 2> engines;
        for (int i = 0; i < 2; ++i) {
            if (players[i].limits.any()) {
                engines[i].emplace(values[i].emplace(*players[i].evaluation), players[i].endgames.get());
            } else if (players[i].depth > 0) {
                searches[i].emplace(*players[i].evaluation, players[i].endgames.get());
            }
        }
        const Database* solved = players[0].endgames ? players[0].endgames.get() : players[1].endgames.get();
        for (std::int64_t game = block * kBlock; game < std::min(count, (block + 1) * kBlock); ++game) {
            MatchGame result;
            result.plies = 0;
            Rng opening(seed, static_cast<std::uint64_t>(game / 2)), rng(~seed, static_cast<std::uint64_t>(game));
            const int first = static_cast<int>(game % 2);  // the colour of the first player
            std::array<bool, 2> thought{};
            State state = start;
            for (int ply = 0; ply < opening_plies && state.player() != kTerminal; ++ply) {
                state.apply(state.random_action(opening));
            }
            for (int side = state.player(); side != kTerminal; side = state.player(), ++result.plies) {
                if (control.stopped()) return;
                const int i = side == first ? 0 : 1;
                if (solved && solved->covers(state.position())) {
                    const int plies = solved->look_up(state.position());
                    if (plies != Database::kDrawn) result.won[plies % 2 == 1 ? i : 1 - i] = true;
                }
                if ((!searches[i] && !engines[i]) || state.count_legal() == 1) {
                    state.apply(state.random_action(rng));
                    continue;
                }
                const double begin = thread_seconds();
                Action action;
                if (engines[i]) {
                    Limits limits = players[i].limits;
                    limits.keep = thought[i] && limits.seconds != Limits{}.seconds;
                    thought[i] = true;
                    action = engines[i]->best(state, limits, control, shuffled_actions(state, rng)).line[0];
                    result.nodes[i] += engines[i]->nodes;
                } else {
                    const auto moves = searches[i]->best(state, players[i].depth, control);
                    action = moves[rng.below(static_cast<std::uint32_t>(moves.size()))].action;
                    result.nodes[i] += searches[i]->nodes;
                }
                result.seconds[i] += thread_seconds() - begin;
                ++result.moves[i];
                state.apply(action);
            }
            result.result = static_cast<std::int8_t>(state.returns()[first]);
            games[game] = result;
            control.add(1);
        }
    });
}

}  // namespace rookery::checkers
