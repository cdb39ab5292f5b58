// Positions to learn from, made of finished games of one player.
//
// In some games the moves of a finished game can be played in many orders, and the result is the same. There an example
// is a position on the way to a known game in an order drawn at random, and the moves to learn are all those of the game
// that are legal now. In other games it is a position of the game itself, and the move to learn is the next one.
#pragma once

#include <span>

#include "core/many_games.hpp"
#include "core/state.hpp"

namespace rookery {

struct Examples {
    NetInput input;
    std::vector<std::uint8_t> wanted;  // for every legal action: whether the game continues with it
};

// Example i: game `game[i]` (its moves are `moves[starts[g]] .. moves[starts[g + 1]]`) with `played[i]` moves made. An order
// is drawn from the stream (seed, i).
template <GameState S>
Examples make_examples(const S& start, std::span<const Action> moves, std::span<const std::int64_t> starts,
                       std::span<const std::int32_t> game, std::span<const std::int32_t> played, bool any_order,
                       std::uint64_t seed, int threads) {
    const auto count = static_cast<std::int64_t>(game.size());
    if (played.size() != game.size() || starts.empty()) {
        throw std::invalid_argument("games and moves played must be equally many");
    }
    std::vector<S> states(game.size(), start);
    std::vector<ActionList> left(game.size());
    parallel_blocks(count, threads, [&](std::int64_t i) {
        if (game[i] < 0 || game[i] + 1 >= static_cast<std::int64_t>(starts.size())) {
            throw std::invalid_argument("there is no game " + std::to_string(game[i]));
        }
        const std::int64_t begin = starts[game[i]], end = starts[game[i] + 1];
        if (begin < 0 || begin > end || end > static_cast<std::int64_t>(moves.size())) {
            throw std::invalid_argument("the games do not lie inside the list of moves");
        }
        if (played[i] < 0 || played[i] >= end - begin) {
            throw std::invalid_argument("an example lies before the end of its game");
        }
        const auto refuse = [&] {
            throw std::invalid_argument("game " + std::to_string(game[i]) + " is not a legal game");
        };
        ActionList& rest = left[i];
        if (!any_order) {
            for (std::int64_t m = begin; m < begin + played[i]; ++m) {
                if (!is_legal(states[i], moves[m])) refuse();
                states[i].apply(moves[m]);
            }
            rest.push_back(moves[begin + played[i]]);
            return;
        }
        rest.assign(moves.begin() + begin, moves.begin() + end);
        Rng rng(seed, static_cast<std::uint64_t>(i));
        for (int step = 0; step < played[i]; ++step) {
            // The legal ones go to the front.
            const auto middle =
                std::partition(rest.begin(), rest.end(), [&](Action a) { return is_legal(states[i], a); });
            const auto legal = static_cast<std::uint32_t>(middle - rest.begin());
            if (legal == 0) refuse();
            const std::uint32_t pick = rng.below(legal);
            states[i].apply(rest[pick]);
            rest.erase(rest.begin() + pick);
        }
        std::sort(rest.begin(), rest.end());
    });
    Examples examples;
    examples.input = net_input<S>(start.rules(), count, threads, [&](std::int64_t i) -> const S& { return states[i]; });
    for (std::int64_t i = 0; i < count; ++i) {
        for (auto a = examples.input.offsets[i]; a < examples.input.offsets[i + 1]; ++a) {
            const bool wanted = std::binary_search(left[i].begin(), left[i].end(), examples.input.actions[a]);
            examples.wanted.push_back(wanted);
        }
    }
    return examples;
}

}  // namespace rookery
