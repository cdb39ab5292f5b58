// Searches for one player that learn a playout policy while they search, or nest playouts: NMCS, NRPA, Beam NRPA.
//
// A policy gives a weight to every code; the code of a move is its action id unless the game offers a better one:
//   rules.num_codes(), state.legal_codes(std::vector<Code>&), state.action_of(Code), state.code_of(Action)
// Chance nodes are sampled inside playouts, so a policy never depends on what has not been drawn.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include "core/control.hpp"
#include "core/state.hpp"

namespace rookery {

using Code = std::uint32_t;

template <class S>
std::size_t num_codes(const typename S::Rules& rules) {
    if constexpr (requires { rules.num_codes(); }) return static_cast<std::size_t>(rules.num_codes());
    return static_cast<std::size_t>(rules.num_actions());
}

template <class S>
void legal_codes(const S& state, std::vector<Code>& codes, ActionList& scratch) {
    if constexpr (requires { state.legal_codes(codes); }) {
        state.legal_codes(codes);
    } else {
        scratch.clear();
        state.legal_actions(scratch);
        codes.insert(codes.end(), scratch.begin(), scratch.end());
    }
}

template <class S>
Action action_of(const S& state, Code code) {
    if constexpr (requires { state.action_of(code); }) return state.action_of(code);
    return static_cast<Action>(code);
}

template <class S>
Code code_of(const S& state, Action action) {
    if constexpr (requires { state.code_of(action); }) return state.code_of(action);
    return static_cast<Code>(action);
}

// A finished game with everything that adapting to it needs: the legal codes of every step stand side by side.
struct Playout {
    double score = -std::numeric_limits<double>::infinity();
    ActionList actions;
    std::vector<Code> codes;            // legal codes of all steps
    std::vector<std::uint32_t> ends;    // where the codes of each step end
    std::vector<std::uint32_t> chosen;  // index into `codes`

    void clear() {
        actions.clear();
        codes.clear();
        ends.clear();
        chosen.clear();
    }
};

// Called with every game that is better than all before it.
using OnBest = std::function<void(const Playout&)>;

struct PolicySearchSettings {
    int level = 3;
    int iterations = 100;
    double alpha = 1.0;  // how far one adaptation goes
    int beam = 1;        // policies kept at every level above the first
};

// Nested Rollout Policy Adaptation (Rosin 2011), with an optional beam (Cazenave and Teytaud 2012).
// The table holds exp(weight), so playouts call no exp. `control.done` counts playouts.
template <GameState S>
class Nrpa {
public:
    Nrpa(const S& start, const PolicySearchSettings& settings, std::uint64_t seed, std::uint64_t stream,
         Control& control, OnBest on_best)
        : start_(start), settings_(settings), rng_(seed, stream), control_(control), on_best_(std::move(on_best)),
          state_(start), deltas_(num_codes<S>(start.rules()), 0.0f) {
        if (start.rules().players() != 1) throw std::invalid_argument("this search is for games of one player");
        if (settings.level < 1 || settings.level > 8) throw std::invalid_argument("the level must be 1 to 8");
        if (settings.iterations < 1) throw std::invalid_argument("the number of iterations must be at least 1");
        if (settings.beam < 1 || settings.beam > 64) throw std::invalid_argument("the beam must be 1 to 64");
        if (!(settings.alpha > 0 && settings.alpha <= 10)) throw std::invalid_argument("alpha must be in (0, 10]");
    }

    // The best game of one whole search; of what was found so far, if it was stopped.
    Playout run() {
        const Policy uniform(num_codes<S>(start_.rules()), 1.0f);
        return search(settings_.level, uniform);
    }

    // The same, from a policy that knows something already: the logarithm of the weight of each action. The lists are
    // short: what they leave out keeps the weight `other`. Of actions with one code the greatest weight counts.
    Playout run(std::span<const Action> actions, std::span<const float> log_weights, float other) {
        Policy policy(num_codes<S>(start_.rules()), clamp(std::exp(other)));
        for (const Action action : actions) policy[code_of(start_, action)] = 0;
        for (std::size_t i = 0; i < actions.size(); ++i) {
            float& weight = policy[code_of(start_, actions[i])];
            weight = std::max(weight, clamp(std::exp(log_weights[i])));
        }
        return search(settings_.level, policy);
    }

    std::int64_t playouts() const { return playouts_; }

private:
    using Policy = std::vector<float>;

    static constexpr float kMaxWeight = 1e12f, kMinWeight = 1e-12f;
    static float clamp(float weight) { return std::clamp(weight, kMinWeight, kMaxWeight); }

    Playout search(int level, const Policy& given) {
        if (level == 1) return first_level(given);
        if (settings_.beam > 1) return beam_level(level, given);
        Policy policy = given;
        Playout best;
        for (int i = 0; i < settings_.iterations && !control_.stopped(); ++i) {
            Playout found = search(level - 1, policy);
            if (found.score >= best.score) best = std::move(found);
            adapt(policy, best);
        }
        return best;
    }

    Playout first_level(const Policy& given) {
        Policy policy = given;
        Playout best, found;
        for (int i = 0; i < settings_.iterations && !(i && control_.stopped()); ++i) {
            play(policy, found);
            if (found.score >= best.score) std::swap(best, found);
            adapt(policy, best);
        }
        if (best.score > best_score_) {
            best_score_ = best.score;
            on_best_(best);
        }
        return best;
    }

    // Every policy of the beam searches once; of all the games seen, the best different ones go on, each with the
    // policy it came from, adapted to it.
    Playout beam_level(int level, const Policy& given) {
        struct Member {
            Policy policy;
            Playout best;
        };
        std::vector<Member> beam(1, Member{given, {}});
        for (int i = 0; i < settings_.iterations && !control_.stopped(); ++i) {
            std::vector<std::pair<const Policy*, Playout>> candidates;
            for (Member& member : beam) {
                candidates.emplace_back(&member.policy, search(level - 1, member.policy));
                if (!member.best.actions.empty()) candidates.emplace_back(&member.policy, std::move(member.best));
            }
            std::stable_sort(candidates.begin(), candidates.end(),
                             [](const auto& a, const auto& b) { return a.second.score > b.second.score; });
            std::vector<Member> next;
            for (auto& [policy, game] : candidates) {
                if (static_cast<int>(next.size()) == settings_.beam) break;
                const bool known = std::any_of(next.begin(), next.end(),
                                               [&](const Member& m) { return m.best.actions == game.actions; });
                if (known) continue;
                next.push_back({*policy, std::move(game)});
                adapt(next.back().policy, next.back().best);
            }
            beam = std::move(next);
        }
        return beam.front().best;
    }

    void play(const Policy& policy, Playout& game) {
        game.clear();
        state_ = start_;
        for (int player = state_.player(); player != kTerminal; player = state_.player()) {
            if (player == kChance) {
                state_.apply(sample_chance(state_, rng_));
                continue;
            }
            const std::size_t begin = game.codes.size();
            legal_codes(state_, game.codes, scratch_);
            const std::size_t end = game.codes.size();
            sums_.clear();
            float total = 0;
            for (std::size_t i = begin; i < end; ++i) sums_.push_back(total += policy[game.codes[i]]);
            const float point = static_cast<float>(rng_.uniform()) * total;
            std::size_t pick = 0;
            while (pick + 1 < sums_.size() && sums_[pick] <= point) ++pick;
            const Action action = action_of(state_, game.codes[begin + pick]);
            game.ends.push_back(static_cast<std::uint32_t>(end));
            game.chosen.push_back(static_cast<std::uint32_t>(begin + pick));
            game.actions.push_back(action);
            state_.apply(action);
        }
        game.score = state_.returns()[0];
        ++playouts_;
        control_.add(1);
    }

    // One step of the gradient of the game's log-probability, all of it under the old policy.
    void adapt(Policy& policy, const Playout& game) {
        touched_.clear();
        std::size_t begin = 0;
        const auto alpha = static_cast<float>(settings_.alpha);
        for (std::size_t step = 0; step < game.ends.size(); ++step) {
            const std::size_t end = game.ends[step];
            float total = 0;
            for (std::size_t i = begin; i < end; ++i) total += policy[game.codes[i]];
            const float scale = alpha / total;
            for (std::size_t i = begin; i < end; ++i) add(game.codes[i], -scale * policy[game.codes[i]]);
            add(game.codes[game.chosen[step]], alpha);
            begin = end;
        }
        for (const Code code : touched_) {
            policy[code] = clamp(policy[code] * std::exp(deltas_[code]));
            deltas_[code] = 0;
        }
    }

    // A delta that is exactly 0 again is listed twice, which does no harm: the second time it changes nothing.
    void add(Code code, float delta) {
        if (deltas_[code] == 0) touched_.push_back(code);
        deltas_[code] += delta;
    }

    const S& start_;
    const PolicySearchSettings settings_;
    Rng rng_;
    Control& control_;
    const OnBest on_best_;
    double best_score_ = -std::numeric_limits<double>::infinity();
    S state_;
    std::vector<float> deltas_;
    std::vector<Code> touched_;
    std::vector<float> sums_;
    ActionList scratch_;
    std::int64_t playouts_ = 0;
};

// Nested Monte Carlo Search (Cazenave 2009): at every step each move is tried by a search one level lower, and the best
// game seen so far is followed. Level 0 is a random playout.
template <GameState S>
class Nmcs {
public:
    Nmcs(const S& start, std::uint64_t seed, std::uint64_t stream, Control& control, OnBest on_best)
        : start_(start), rng_(seed, stream), control_(control), on_best_(std::move(on_best)) {
        if (start.rules().players() != 1) throw std::invalid_argument("this search is for games of one player");
    }

    Playout run(int level) {
        if (level < 1 || level > 5) throw std::invalid_argument("the level must be 1 to 5");
        level_ = level;
        return search(start_, level);
    }

    std::int64_t playouts() const { return playouts_; }

private:
    Playout search(S state, int level) {
        Playout best;  // its actions are those from `state` on
        std::size_t step = 0;
        ActionList actions;
        for (int player = state.player(); player != kTerminal; player = state.player()) {
            if (player == kChance) {
                // What was drawn may not be what the best game met: it is of no use from here on.
                state.apply(sample_chance(state, rng_));
                best.score = -std::numeric_limits<double>::infinity();
                continue;
            }
            actions.clear();
            state.legal_actions(actions);
            for (const Action action : actions) {
                if (control_.stopped() && std::isfinite(best.score)) break;
                S next = state;
                next.apply(action);
                Playout found = level == 1 ? playout(next) : search(std::move(next), level - 1);
                if (found.score > best.score) {
                    best.score = found.score;
                    best.actions.resize(step);
                    best.actions.push_back(action);
                    best.actions.insert(best.actions.end(), found.actions.begin(), found.actions.end());
                    if (level == level_) on_best_(best);
                }
            }
            state.apply(best.actions[step++]);
        }
        best.score = state.returns()[0];
        best.actions.resize(step);
        return best;
    }

    Playout playout(S& state) {
        Playout game;
        for (int player = state.player(); player != kTerminal; player = state.player()) {
            const bool chance = player == kChance;
            const Action action = chance ? sample_chance(state, rng_) : random_action(state, rng_, scratch_);
            state.apply(action);
            if (!chance) game.actions.push_back(action);
        }
        game.score = state.returns()[0];
        ++playouts_;
        control_.add(1);
        return game;
    }

    const S& start_;
    Rng rng_;
    Control& control_;
    const OnBest on_best_;
    int level_ = 1;  // of the whole search
    ActionList scratch_;
    std::int64_t playouts_ = 0;
};

}  // namespace rookery
