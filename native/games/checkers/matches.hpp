// Many games of checkers between two players, in one call.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "core/parallel.hpp"
#include "games/checkers/search.hpp"

namespace rookery::checkers {

// Depth 0 plays at random; else a search, ties broken at random.
struct Player {
    int depth = 0;
    std::shared_ptr<const Evaluation> evaluation;
    std::shared_ptr<const Database> endgames;
};

struct MatchGame {
    std::int8_t result = 0;    // for the first player: 1 won, 0 drawn, -1 lost
    std::int32_t plies = -1;   // -1: not played
    std::array<std::int32_t, 2> moves{};         // that each player, first and second, had to think about
    std::array<std::uint64_t, 2> nodes{};        // that it looked at for them
};

// Games 2i and 2i + 1 start from the same two random plies with colours exchanged. What a game becomes depends on the
// seed and its number alone. `control.done` counts games.
inline void play_match(const State& start, const std::array<Player, 2>& players, std::uint64_t seed, int threads,
                       std::span<MatchGame> games, Control& control) {
    constexpr std::int64_t kBlock = 8;
    const auto count = static_cast<std::int64_t>(games.size());
    parallel_blocks((count + kBlock - 1) / kBlock, threads, [&](std::int64_t block) {
        std::array<std::optional<Search>, 2> searches;
        for (int i = 0; i < 2; ++i) {
            if (players[i].depth > 0) searches[i].emplace(*players[i].evaluation, players[i].endgames.get());
        }
        for (std::int64_t game = block * kBlock; game < std::min(count, (block + 1) * kBlock); ++game) {
            MatchGame result;
            result.plies = 0;
            Rng opening(seed, static_cast<std::uint64_t>(game / 2)), rng(~seed, static_cast<std::uint64_t>(game));
            const int first = static_cast<int>(game % 2);  // the colour of the first player
            State state = start;
            for (int ply = 0; ply < 2 && state.player() != kTerminal; ++ply) {
                state.apply(state.random_action(opening));
            }
            for (int side = state.player(); side != kTerminal; side = state.player(), ++result.plies) {
                if (control.stopped()) return;
                const int i = side == first ? 0 : 1;
                if (!searches[i] || state.count_legal() == 1) {
                    state.apply(state.random_action(rng));
                    continue;
                }
                const auto moves = searches[i]->best(state, players[i].depth, control);
                ++result.moves[i];
                result.nodes[i] += searches[i]->nodes;
                state.apply(moves[rng.below(static_cast<std::uint32_t>(moves.size()))].action);
            }
            result.result = static_cast<std::int8_t>(state.returns()[first]);
            games[game] = result;
            control.add(1);
        }
    });
}

}  // namespace rookery::checkers
