// Counting the action sequences of a given length: the standard check of a rules engine.
#pragma once

#include "core/control.hpp"
#include "core/state.hpp"

namespace rookery {

// Number of sequences of `depth` actions from `state`; chance outcomes count as actions. A shorter game that ended
// does not count. The last ply is counted, not played.
template <GameState S>
std::uint64_t perft(const S& state, int depth, Control& control) {
    if (depth == 0) return 1;
    if (control.stopped()) return 0;
    const int player = state.player();
    if (player == kTerminal) return 0;
    ActionList actions;
    if (player == kChance) {
        ChanceList outcomes;
        chance_outcomes(state, outcomes);
        for (const auto& outcome : outcomes) actions.push_back(outcome.first);
    } else {
        if constexpr (requires { state.count_legal(); }) {
            if (depth == 1) return state.count_legal();
        }
        actions.reserve(32);
        state.legal_actions(actions);
    }
    if (depth == 1) return actions.size();
    std::uint64_t nodes = 0;
    for (const Action action : actions) {
        S next = state;
        next.apply(action);
        nodes += perft(next, depth - 1, control);
    }
    return nodes;
}

}  // namespace rookery
