// What a game has to be for the algorithms of Rookery to work on it.
//
// A game is two types: `Rules`, the immutable settings of one variant, and a state that points to them.
// A state is a small copyable value. Everything in search/, exact/ and learn/ is a template over this concept,
// so an algorithm is written once and a game written in Python joins in through bindings/py_state.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.hpp"

namespace rookery {

using Action = std::int32_t;
using ActionList = std::vector<Action>;
using ChanceList = std::vector<std::pair<Action, double>>;
using Returns = std::array<double, 2>;  // one value per player; single-player games use the first
using Shape = std::array<int, 3>;       // planes, rows, columns

// What player() answers besides 0 and 1.
inline constexpr int kChance = -1;
inline constexpr int kTerminal = -2;

template <class S>
concept GameState = std::copyable<S> && requires(S state, const S& seen, Action action, ActionList& actions,
                                                 float* planes, const typename S::Rules& rules) {
    requires std::constructible_from<S, const typename S::Rules&>;  // the initial state
    { seen.rules() } -> std::convertible_to<const typename S::Rules&>;
    { rules.players() } -> std::convertible_to<int>;
    { rules.num_actions() } -> std::convertible_to<Action>;  // action ids are 0 .. num_actions-1
    { rules.observation_shape() } -> std::convertible_to<Shape>;
    { seen.player() } -> std::convertible_to<int>;
    { seen.legal_actions(actions) };  // appends; nothing at chance and terminal nodes
    { state.apply(action) };          // the action, or chance outcome, must be legal: not checked
    { seen.returns() } -> std::convertible_to<Returns>;  // at terminal states
    { seen.key() } -> std::convertible_to<std::string>;  // equal keys <=> equal positions
    { seen.observe(planes) };  // writes every number of every plane
};

// A state may also offer, and the functions below then use:
//   chance_outcomes(ChanceList&)     appends every outcome of a chance node with its probability
//   sample_chance(Rng&) -> Action    the same draw without the list
//   random_action(Rng&) -> Action    a uniform legal action without the list
//   apply_random(Rng&)               applies random_action without numbering it
//   is_legal(Action) -> bool         the same answer as a look into the list
//   score() -> number                of one player: what returns() will be if the game ends here, so that a step can be
//                                    rewarded by what it adds
//   observe(std::uint8_t*)           the same planes as bytes; rules whose planes hold fractions say so: fractions()
//   apply_shown(Action, planes, bool* mask)    applies the action to the state, and to planes and a mask of the legal
//                                    actions that show it; for games without chance, with random_action and is_legal

template <class S>
void chance_outcomes(const S& state, ChanceList& outcomes) {
    if constexpr (requires { state.chance_outcomes(outcomes); }) {
        state.chance_outcomes(outcomes);
    } else {
        throw std::logic_error("this game has no chance nodes");
    }
}

template <class S>
Action sample_chance(const S& state, Rng& rng) {
    if constexpr (requires { state.sample_chance(rng); }) {
        return state.sample_chance(rng);
    } else {
        ChanceList outcomes;
        chance_outcomes(state, outcomes);
        double point = rng.uniform();
        for (const auto& [action, probability] : outcomes) {
            point -= probability;
            if (point < 0) return action;
        }
        return outcomes.back().first;
    }
}

// `scratch` saves an allocation per call; its content does not matter.
template <class S>
Action random_action(const S& state, Rng& rng, ActionList& scratch) {
    if constexpr (requires { state.random_action(rng); }) {
        return state.random_action(rng);
    } else {
        scratch.clear();
        state.legal_actions(scratch);
        return scratch[rng.below(static_cast<std::uint32_t>(scratch.size()))];
    }
}

template <class S>
bool is_legal(const S& state, Action action) {
    const int player = state.player();
    if (player == kTerminal) return false;
    if (player == kChance) {
        ChanceList outcomes;
        chance_outcomes(state, outcomes);
        return std::any_of(outcomes.begin(), outcomes.end(),
                           [&](const auto& outcome) { return outcome.first == action; });
    }
    if constexpr (requires { state.is_legal(action); }) {
        return state.is_legal(action);
    } else {
        ActionList actions;
        state.legal_actions(actions);
        return std::find(actions.begin(), actions.end(), action) != actions.end();
    }
}

// Whether some plane of the observation holds numbers that are not whole.
template <class Rules>
bool has_fractions(const Rules& rules) {
    if constexpr (requires { rules.fractions(); }) {
        return rules.fractions();
    } else {
        return false;
    }
}

// Plays uniformly at random to the end of the game; returns the number of players' actions.
template <class S>
std::int64_t play_randomly(S& state, Rng& rng, ActionList& scratch) {
    std::int64_t length = 0;
    for (int player = state.player(); player != kTerminal; player = state.player()) {
        if (player == kChance) {
            state.apply(sample_chance(state, rng));
        } else {
            if constexpr (requires { state.apply_random(rng); }) {
                state.apply_random(rng);
            } else {
                state.apply(random_action(state, rng, scratch));
            }
            ++length;
        }
    }
    return length;
}

}  // namespace rookery
