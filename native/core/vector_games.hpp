// Many games side by side as an environment for learners: observations, masks and rewards in buffers that stay.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "core/many_games.hpp"

namespace rookery {

// A game that ends begins again in the same step: `done` and `reward` tell of its end, the rest of the new game. Chance
// is drawn here. Game i has the random stream (seed, i), so results do not depend on the number of threads.
template <GameState S>
class VectorGames {
public:
    VectorGames(const S& start, std::int64_t games, std::uint64_t seed)
        : start_(start),
          states_(static_cast<std::size_t>(games), start),
          legal_(states_.size()),
          planes_(volume(start.rules().observation_shape())),
          actions_(static_cast<std::size_t>(start.rules().num_actions())),
          players_(static_cast<std::size_t>(start.rules().players())),
          observation_(new float[states_.size() * planes_]),
          mask_(new bool[states_.size() * actions_]()),
          reward_(new float[states_.size() * players_]()),
          done_(new bool[states_.size()]()),
          player_(new std::int8_t[states_.size()]) {
        for (std::size_t i = 0; i < states_.size(); ++i) {
            rngs_.emplace_back(seed, i);
            begin(i);
            show(i);
        }
    }

    // One action per game. If one is not legal, nothing happens in any game.
    void step(std::span<const Action> chosen, int threads) {
        if (chosen.size() != states_.size()) throw std::invalid_argument("expected one action per game");
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            if (chosen[i] < 0 || static_cast<std::size_t>(chosen[i]) >= actions_ || !mask_[i * actions_ + chosen[i]]) {
                throw std::invalid_argument("action " + std::to_string(chosen[i]) + " is not legal in game " +
                                            std::to_string(i));
            }
        }
        constexpr std::size_t kBlock = 64;
        parallel_blocks(static_cast<std::int64_t>((chosen.size() + kBlock - 1) / kBlock), threads, [&](auto block) {
            const auto first = static_cast<std::size_t>(block) * kBlock;
            for (std::size_t i = first; i < std::min(chosen.size(), first + kBlock); ++i) step_one(i, chosen[i]);
        });
    }

    // A uniformly random legal action per game.
    void sample(std::span<Action> chosen) {
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            chosen[i] = legal_[i][rngs_[i].below(static_cast<std::uint32_t>(legal_[i].size()))];
        }
    }

    std::size_t games() const { return states_.size(); }
    std::size_t actions() const { return actions_; }
    std::size_t players() const { return players_; }
    const S& state(std::size_t i) const { return states_[i]; }
    float* observation() { return observation_.get(); }
    bool* mask() { return mask_.get(); }
    float* reward() { return reward_.get(); }
    bool* done() { return done_.get(); }
    std::int8_t* player() { return player_.get(); }

private:
    void draw_chance(std::size_t i) {
        while (states_[i].player() == kChance) states_[i].apply(sample_chance(states_[i], rngs_[i]));
    }

    void begin(std::size_t i) {
        states_[i] = start_;
        draw_chance(i);
        if (states_[i].player() == kTerminal) throw std::invalid_argument("the game is over at its start");
    }

    void step_one(std::size_t i, Action action) {
        S& state = states_[i];
        float* reward = reward_.get() + i * players_;
        if constexpr (requires { state.score(); }) {
            const auto before = state.score();
            state.apply(action);
            reward[0] = static_cast<float>(state.score() - before);
            draw_chance(i);
        } else {
            state.apply(action);
            draw_chance(i);
            Returns gained{};
            if constexpr (requires { state.rewards(); }) {
                gained = state.rewards();
            } else if (state.player() == kTerminal) {
                gained = state.returns();
            }
            for (std::size_t p = 0; p < players_; ++p) reward[p] = static_cast<float>(gained[p]);
        }
        done_[i] = state.player() == kTerminal;
        if (done_[i]) begin(i);
        show(i);
    }

    // Of the mask only what was set is cleared: most of it never changes.
    void show(std::size_t i) {
        bool* mask = mask_.get() + i * actions_;
        for (const Action action : legal_[i]) mask[action] = false;
        legal_[i].clear();
        states_[i].legal_actions(legal_[i]);
        for (const Action action : legal_[i]) mask[action] = true;
        player_[i] = static_cast<std::int8_t>(states_[i].player());
        float* planes = observation_.get() + i * planes_;
        std::fill_n(planes, planes_, 0.0f);
        states_[i].observe(planes);
    }

    S start_;
    std::vector<S> states_;
    std::vector<Rng> rngs_;
    std::vector<ActionList> legal_;
    std::size_t planes_, actions_, players_;
    std::unique_ptr<float[]> observation_;
    std::unique_ptr<bool[]> mask_;
    std::unique_ptr<float[]> reward_;
    std::unique_ptr<bool[]> done_;
    std::unique_ptr<std::int8_t[]> player_;
};

}  // namespace rookery
