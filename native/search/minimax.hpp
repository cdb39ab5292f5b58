// Depth-limited alpha-beta for games without chance; with one player it is plain depth-first maximisation.
#pragma once

#include <limits>

#include "core/control.hpp"
#include "core/state.hpp"

namespace rookery {

struct MinimaxMove {
    Action action;
    double value;  // return of the player to move at the root, both sides playing best within the horizon
};

struct MinimaxResult {
    std::vector<MinimaxMove> moves;
    std::uint64_t nodes = 0;
};

// A state may offer evaluate(player) -> double, its worth at the horizon; without it the horizon counts 0.
template <GameState S>
double minimax_value(const S& state, int depth, int root_player, double alpha, double beta, std::uint64_t& nodes,
                     Control& control) {
    ++nodes;
    const int player = state.player();
    if (player == kTerminal) return state.returns()[root_player];
    if (player == kChance) throw std::invalid_argument("minimax needs a game without chance");
    if (depth == 0 || control.stopped()) {
        if constexpr (requires { state.evaluate(root_player); }) return state.evaluate(root_player);
        return 0.0;
    }
    ActionList actions;
    state.legal_actions(actions);
    const bool maximise = player == root_player;
    double best = maximise ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    for (const Action action : actions) {
        S next = state;
        next.apply(action);
        const double value = minimax_value(next, depth - 1, root_player, alpha, beta, nodes, control);
        if (maximise) {
            best = std::max(best, value);
            alpha = std::max(alpha, best);
        } else {
            best = std::min(best, value);
            beta = std::min(beta, best);
        }
        if (alpha >= beta) break;
    }
    return best;
}

// Every root move is searched with a full window, so that all values are exact, not bounds.
// `control.done` counts root moves.
template <GameState S>
MinimaxResult minimax(const S& root, int depth, Control& control) {
    const int player = root.player();
    if (player < 0) throw std::invalid_argument("search needs a state in which a player is to move");
    if (depth < 1) throw std::invalid_argument("the depth must be at least 1");
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    MinimaxResult result;
    ActionList actions;
    root.legal_actions(actions);
    for (const Action action : actions) {
        S next = root;
        next.apply(action);
        const double value = minimax_value(next, depth - 1, player, -kInfinity, kInfinity, result.nodes, control);
        result.moves.push_back({action, value});
        control.add(1);
    }
    return result;
}

}  // namespace rookery
