// Tabular Q-learning of any game: what is known about a position is one value per legal action, all 0 at first.
//
// A game is played by the table against itself, or alone, with some random moves. Then its moves are walked through from
// the last to the first, and each is drawn towards what it earned and what is best after it. `Backup` says what that is.
// `src/rookery/learn/q_learning.py` says what the settings mean.
#pragma once

#include <limits>
#include <span>

#include "core/control.hpp"
#include "core/key_table.hpp"
#include "core/state.hpp"

namespace rookery {

// What a greedy player chooses among: the number of an action of greatest value, ties broken at random.
template <class Value>
int choose_greatest(const Value* values, int actions, Rng& rng) {
    int best = 0, ties = 1;
    for (int i = 1; i < actions; ++i) {
        if (values[i] > values[best]) {
            best = i;
            ties = 1;
        } else if (values[i] == values[best] && rng.below(++ties) == 0) {
            best = i;
        }
    }
    return best;
}

// Values of actions by position, in the order of the legal actions.
class ActionValues {
public:
    static constexpr std::uint32_t kNone = KeyTable::kNone;

    std::size_t size() const { return keys_.size(); }
    std::size_t bytes() const {
        return keys_.bytes() + first_.capacity() * sizeof(std::uint64_t) + values_.capacity() * sizeof(float) +
               (way_.capacity() + where_.capacity()) * 8;
    }

    std::uint32_t find_row(std::string_view key) const { return keys_.find(key); }
    std::span<const float> row(std::size_t i) const { return {values_.data() + first_[i], values_.data() + first_[i + 1]}; }
    std::span<float> row(std::size_t i) { return {values_.data() + first_[i], values_.data() + first_[i + 1]}; }

    const float* find(std::string_view key) const {
        const std::uint32_t found = keys_.find(key);
        return found == kNone ? nullptr : values_.data() + first_[found];
    }

    // The values of a position, zeros if it is new. Valid until the next call.
    float* find_or_add(std::string_view key, int actions) {
        const auto [number, is_new] = keys_.add(key);
        if (is_new) {
            values_.resize(values_.size() + static_cast<std::size_t>(actions), 0.0f);
            first_.push_back(values_.size());
            where_.push_back(kNone);
        }
        return values_.data() + first_[number];
    }

    // How each position was met first: a chain of steps, chance outcomes included, that leads back to a start. The step
    // of a start has no step before it, and the number of the start for an action.
    struct WayStep {
        std::uint32_t before;
        Action action;
    };
    std::uint32_t add_step(std::uint32_t before, Action action) {
        way_.push_back({before, action});
        return static_cast<std::uint32_t>(way_.size() - 1);
    }
    std::uint32_t where(std::size_t row) const { return where_[row]; }
    void set_where(std::size_t row, std::uint32_t step) { where_[row] = step; }

    const KeyTable& keys() const { return keys_; }
    const std::vector<std::uint64_t>& first() const { return first_; }
    const std::vector<float>& values() const { return values_; }
    const std::vector<WayStep>& way() const { return way_; }
    const std::vector<std::uint32_t>& where() const { return where_; }

private:
    KeyTable keys_;
    std::vector<std::uint64_t> first_{0};
    std::vector<float> values_;
    std::vector<WayStep> way_;
    std::vector<std::uint32_t> where_;  // the last step of a position's way
};

// A table to learn in on top of one that stays as it is.
class LayeredValues {
public:
    explicit LayeredValues(const ActionValues& base) : base_(base) {}

    const float* find(std::string_view key) const {
        const float* found = own_.find(key);
        return found ? found : base_.find(key);
    }

    float* find_or_add(std::string_view key, int actions) {
        const bool is_new = own_.find_row(key) == ActionValues::kNone;
        float* values = own_.find_or_add(key, actions);
        if (const float* below = is_new ? base_.find(key) : nullptr) std::copy(below, below + actions, values);
        return values;
    }

private:
    const ActionValues& base_;
    ActionValues own_;
};

// What is best after a move.
enum class Backup {
    kMax,            // the player's best value where he moved next in this game
    kSelfPlay,       // the best value of the next position for whoever moves there
    kLeastBestMove,  // the least, over all replies of the opponent, of the player's best value after it
};

struct QSettings {
    double alpha, discount;
    double first_epsilon, last_epsilon;  // share of random moves in the first game and in the last
    Backup backup;

    double epsilon(std::int64_t game, std::int64_t games) const {
        if (games < 2) return first_epsilon;
        return first_epsilon + (last_epsilon - first_epsilon) * static_cast<double>(game) / static_cast<double>(games - 1);
    }
};

// One move of a game.
struct QStep {
    std::string key;
    int player, chosen, actions;  // the number of the action, and how many there were
    Returns earned;               // by the move and the chance after it
    Action action;
    ActionList outcomes;          // of chance, after the move
};

struct QTraining {
    std::int64_t games = 0, moves = 0;
    double returns = 0;               // of player 0, over all games
    std::array<std::int64_t, 3> results = {0, 0, 0};  // games in which they were above, at and below 0
};

template <GameState S, class Table>
class QLearner {
public:
    QLearner(Table& table, const QSettings& settings) : table_(table), settings_(settings) {}

    // Plays and learns from games first .. end-1 of `games`. Game i begins in starts[i % starts.size()] and has the random
    // stream (seed, i), so that training in parts is the same as training at once. `control.done` counts games. The
    // starts are numbered from `first_start` in the table.
    QTraining train(std::span<const S> starts, std::int64_t first, std::int64_t end, std::int64_t games,
                    std::uint64_t seed, std::int64_t first_start, Control& control) {
        QTraining total;
        for (std::int64_t game = first; game < end && !control.stopped(); ++game) {
            Rng rng(seed, static_cast<std::uint64_t>(game));
            const auto number = static_cast<std::size_t>(game - first) % starts.size();
            S state = starts[number];
            const double returns = play(state, settings_.epsilon(game, games), rng);
            if constexpr (std::is_same_v<Table, ActionValues>) remember_way(first_start + static_cast<Action>(number));
            walk_back();
            ++total.games;
            total.moves += static_cast<std::int64_t>(steps_.size());
            total.returns += returns;
            ++total.results[returns > 0 ? 0 : returns < 0 ? 2 : 1];
            control.add(1);
        }
        return total;
    }

private:
    // Fills steps_; returns what player 0 earned.
    double play(S& state, double epsilon, Rng& rng) {
        steps_.clear();
        states_.clear();
        before_.clear();
        double total = 0;
        for (; state.player() == kChance;) {
            before_.push_back(sample_chance(state, rng));
            total += apply_for_rewards(state, before_.back())[0];
        }
        while (state.player() != kTerminal) {
            actions_.clear();
            state.legal_actions(actions_);
            const int n = static_cast<int>(actions_.size());
            QStep step{state.key(), state.player(), 0, n, {}, 0, {}};
            const float* values = rng.uniform() < epsilon ? nullptr : table_.find(step.key);
            step.chosen = values ? choose_greatest(values, n, rng)
                          : n == 1 ? 0 : static_cast<int>(rng.below(static_cast<std::uint32_t>(n)));
            step.action = actions_[static_cast<std::size_t>(step.chosen)];
            if (settings_.backup == Backup::kLeastBestMove) states_.push_back(state);
            step.earned = apply_for_rewards(state, step.action);
            while (state.player() == kChance) {
                const Action outcome = sample_chance(state, rng);
                const Returns more = apply_for_rewards(state, outcome);
                for (std::size_t p = 0; p < more.size(); ++p) step.earned[p] += more[p];
                step.outcomes.push_back(outcome);
            }
            total += step.earned[0];
            steps_.push_back(std::move(step));
        }
        return total;
    }

    // Positions met for the first time get the way that led to them.
    void remember_way(Action start) {
        std::uint32_t at = ActionValues::kNone;  // the step that leads to the position, once it is known
        const QStep* previous = nullptr;
        for (const QStep& step : steps_) {
            const bool is_new = table_.find_row(step.key) == ActionValues::kNone;
            if (is_new) {
                table_.find_or_add(step.key, step.actions);
                if (previous) {
                    at = table_.add_step(at, previous->action);
                    for (const Action outcome : previous->outcomes) at = table_.add_step(at, outcome);
                } else {
                    at = table_.add_step(ActionValues::kNone, start);
                    for (const Action outcome : before_) at = table_.add_step(at, outcome);
                }
                table_.set_where(table_.find_row(step.key), at);
            } else {
                at = table_.where(table_.find_row(step.key));
            }
            previous = &step;
        }
    }

    // For each player what comes after the move that was walked through last: what was earned since then and, at his next
    // move, the best value there.
    void walk_back() {
        Returns earned{}, best{};
        int next_player = kTerminal;
        for (std::size_t i = steps_.size(); i-- > 0;) {
            const QStep& step = steps_[i];
            const auto p = static_cast<std::size_t>(step.player);
            double target = 0;
            switch (settings_.backup) {
                case Backup::kMax:
                    for (std::size_t q = 0; q < 2; ++q) earned[q] += step.earned[q];
                    target = earned[p] + settings_.discount * best[p];
                    break;
                case Backup::kSelfPlay: {
                    const double next = next_player == kTerminal ? 0.0 : best[static_cast<std::size_t>(next_player)];
                    target = step.earned[p] + settings_.discount * (next_player == step.player ? next : -next);
                    break;
                }
                case Backup::kLeastBestMove: target = least_best_move(states_[i], step); break;
            }
            float* values = table_.find_or_add(step.key, step.actions);
            const double q = values[step.chosen];
            values[step.chosen] = static_cast<float>(q + settings_.alpha * (target - q));
            best[p] = *std::max_element(values, values + step.actions);
            earned[p] = 0;
            next_player = step.player;
        }
    }

    double best_known(const S& state) const {
        const float* values = table_.find(state.key());
        if (!values) return 0.0;
        replies_.clear();
        state.legal_actions(replies_);
        return *std::max_element(values, values + replies_.size());
    }

    // What a move is worth if the opponent finds the best reply. How the position came about does not count.
    double least_best_move(const S& before, const QStep& step) {
        S after = before;
        const auto p = static_cast<std::size_t>(step.player);
        forget_history(after);
        const double earned = apply_for_rewards(after, step.action)[p];
        if (after.player() == kTerminal) return earned;
        if (after.player() == step.player) return earned + settings_.discount * best_known(after);
        actions_.clear();
        after.legal_actions(actions_);
        double least = std::numeric_limits<double>::infinity();
        for (const Action reply : actions_) {
            S next = after;
            forget_history(next);
            double worth = apply_for_rewards(next, reply)[p];
            if (next.player() == step.player) {
                worth += settings_.discount * best_known(next);
            } else if (next.player() != kTerminal) {
                throw std::invalid_argument("the least best move needs players who move in turn, and no chance");
            }
            least = std::min(least, worth);
        }
        return earned + least;
    }

    Table& table_;
    const QSettings& settings_;
    std::vector<QStep> steps_;
    std::vector<S> states_;  // before each step
    ActionList before_;      // chance outcomes before the first move
    ActionList actions_;
    mutable ActionList replies_;
};

}  // namespace rookery
