// Uniformly random games in bulk: the speed of a rules engine, and the floor under every agent.
#pragma once

#include <span>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "core/state.hpp"

namespace rookery {

// Game i is played with the random stream (seed, i) and fills lengths[i] (players' actions) and returns[i]; the result
// does not depend on `threads`. `control.done` counts games. Stopped early, the games not played have length -1.
template <GameState S>
void random_games(const S& start, std::uint64_t seed, int threads, std::span<std::int32_t> lengths,
                  std::span<Returns> returns, Control& control) {
    constexpr std::int64_t kBlock = 64;
    const auto games = static_cast<std::int64_t>(lengths.size());
    std::fill(lengths.begin(), lengths.end(), -1);
    parallel_blocks((games + kBlock - 1) / kBlock, threads, [&](std::int64_t block) {
        ActionList scratch;
        scratch.reserve(128);
        S state = start;
        const std::int64_t end = std::min(games, (block + 1) * kBlock);
        for (std::int64_t game = block * kBlock; game < end && !control.stopped(); ++game) {
            Rng rng(seed, static_cast<std::uint64_t>(game));
            state = start;
            const auto length = play_randomly(state, rng, scratch);
            returns[game] = state.returns();
            lengths[game] = static_cast<std::int32_t>(length);
            control.add(1);
        }
    });
}

}  // namespace rookery
