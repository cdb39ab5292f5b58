// Small games whose exact values can be said or computed in a few lines.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/state.hpp"

namespace rookery::testing {

// Two players take 1 to 3 stones in turn; who takes the last one wins. Won for the player to move unless 4 divides the
// number of stones. With one player it is over when the stones are gone, and the score is the number of moves.
struct Stones {
    struct Rules {
        int count, number_of_players;
        int players() const { return number_of_players; }
        Action num_actions() const { return 4; }
        Shape observation_shape() const { return {1, 1, 1}; }
    };
    const Rules* rules_;
    int left, moves = 0;
    explicit Stones(const Rules& rules) : rules_(&rules), left(rules.count) {}
    const Rules& rules() const { return *rules_; }
    int player() const { return left == 0 ? kTerminal : moves % rules_->number_of_players; }
    void legal_actions(ActionList& actions) const {
        for (Action taken = 1; taken <= std::min(3, left); ++taken) actions.push_back(taken);
    }
    void apply(Action action) {
        left -= action;
        ++moves;
    }
    Returns returns() const {
        if (rules_->number_of_players == 1) return {static_cast<double>(moves), 0};
        return moves % 2 ? Returns{1, -1} : Returns{-1, 1};
    }
    std::string key() const { return std::to_string(left) + "/" + std::to_string(moves); }
    void observe(float* planes) const { planes[0] = static_cast<float>(left); }
};

// A game given as a list of positions; action i leads to the i-th of those that follow.
struct Places {
    struct Place {
        int player;
        std::vector<int> next;
        std::vector<double> chances;  // of what follows, where chance moves
        double worth = 0;             // to player 0, where the game is over
    };
    struct Rules {
        int number_of_players;
        std::vector<Place> places;
        int players() const { return number_of_players; }
        Action num_actions() const { return 16; }
        Shape observation_shape() const { return {1, 1, 1}; }
    };
    const Rules* rules_;
    int at = 0;
    explicit Places(const Rules& rules) : rules_(&rules) {}
    const Rules& rules() const { return *rules_; }
    const Place& place() const { return rules_->places[static_cast<std::size_t>(at)]; }
    int player() const { return place().player; }
    void legal_actions(ActionList& actions) const {
        if (player() < 0) return;
        for (std::size_t i = 0; i < place().next.size(); ++i) actions.push_back(static_cast<Action>(i));
    }
    void chance_outcomes(ChanceList& outcomes) const {
        for (std::size_t i = 0; i < place().next.size(); ++i) {
            outcomes.emplace_back(static_cast<Action>(i), place().chances[i]);
        }
    }
    void apply(Action action) { at = place().next[static_cast<std::size_t>(action)]; }
    Returns returns() const { return {place().worth, -place().worth}; }
    std::string key() const { return std::to_string(at); }
    void observe(float* planes) const { planes[0] = static_cast<float>(at); }
};

}  // namespace rookery::testing
