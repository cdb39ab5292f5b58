// Positions to learn from, made of finished games of Morpion Solitaire.
//
// The moves of a game can be played in many orders, and the score is the same. So an example is a position on the way
// to a known game in an order drawn at random, seen in one of the eight symmetries, and the moves to learn are all those
// of the game that are legal now.
#pragma once

#include <span>

#include "core/many_games.hpp"
#include "games/morpion/rules.hpp"

namespace rookery::morpion {

struct Examples {
    NetInput input;
    std::vector<std::uint8_t> wanted;  // for every legal action: whether the game goes on with it
};

// Example i: game `game[i]` (its moves are `moves[starts[g]] .. moves[starts[g + 1]]`) with `played[i]` moves made, under
// `symmetry[i]`. Its order is drawn from the stream (seed, i).
inline Examples make_examples(const Rules& rules, std::span<const Action> moves, std::span<const std::int64_t> starts,
                              std::span<const std::int32_t> game, std::span<const std::int32_t> played,
                              std::span<const std::uint8_t> symmetry, std::uint64_t seed, int threads) {
    const auto count = static_cast<std::int64_t>(game.size());
    if (played.size() != game.size() || symmetry.size() != game.size() || starts.empty()) {
        throw std::invalid_argument("games, moves played and symmetries must be equally many");
    }
    const State start(rules);
    std::vector<State> states(game.size(), start);
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
        ActionList& rest = left[i];
        for (std::int64_t m = begin; m < end; ++m) rest.push_back(rules.transform(moves[m], symmetry[i]));
        Rng rng(seed, static_cast<std::uint64_t>(i));
        for (int step = 0; step < played[i]; ++step) {
            // The legal ones go to the front.
            const auto middle = std::partition(rest.begin(), rest.end(), [&](Action a) { return states[i].is_legal(a); });
            const auto legal = static_cast<std::uint32_t>(middle - rest.begin());
            if (legal == 0) throw std::invalid_argument("game " + std::to_string(game[i]) + " is not a legal game");
            const std::uint32_t pick = rng.below(legal);
            states[i].apply(rest[pick]);
            rest.erase(rest.begin() + pick);
        }
        std::sort(rest.begin(), rest.end());
    });
    Examples examples;
    examples.input = net_input<State>(rules, count, threads, [&](std::int64_t i) -> const State& { return states[i]; });
    for (std::int64_t i = 0; i < count; ++i) {
        for (auto a = examples.input.offsets[i]; a < examples.input.offsets[i + 1]; ++a) {
            const bool wanted = std::binary_search(left[i].begin(), left[i].end(), examples.input.actions[a]);
            examples.wanted.push_back(wanted);
        }
    }
    return examples;
}

}  // namespace rookery::morpion
