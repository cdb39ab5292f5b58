// Tabular Q-learning of any game: what is known about a position is one value per legal action, all 0 at first.
//
// A game is played by the table against itself, or alone, with some random moves. Then its moves are walked through from
// the last to the first, and each is drawn towards what it earned and what is best after it. `Backup` says what that is.
// After a game, some of the known positions may be replayed: every move is tried there and learned from likewise.
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
    std::span<const float> row(std::size_t i) const {
        return {values_.data() + first_[i], values_.data() + first_[i + 1]};
    }
    std::span<float> row(std::size_t i) { return {values_.data() + first_[i], values_.data() + first_[i + 1]}; }

    void prefetch(std::string_view key) const { keys_.prefetch(key); }

    // The values of a position; empty if it is not known.
    std::span<const float> find(std::string_view key) const {
        const std::uint32_t found = keys_.find(key);
        return found == kNone ? std::span<const float>() : row(found);
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

    void prefetch(std::string_view key) const { base_.prefetch(key); }

    std::span<const float> find(std::string_view key) const {
        const std::span<const float> found = own_.find(key);
        return found.empty() ? base_.find(key) : found;
    }

    float* find_or_add(std::string_view key, int actions) {
        const bool is_new = own_.find_row(key) == ActionValues::kNone;
        float* values = own_.find_or_add(key, actions);
        if (is_new) std::ranges::copy(base_.find(key), values);
        return values;
    }

private:
    const ActionValues& base_;
    ActionValues own_;
};

// What is best after a move.
enum class Backup {
    kMax,  // the player's best value where he moved next in this game
    kSelfPlay,  // the best value of the next position for whoever moves there
    kLeastBestMove,  // the least, over all replies of the opponent, of the player's best value after it
};

struct QSettings {
    double alpha, discount;
    double first_epsilon, last_epsilon;  // share of random moves in the first game and in the last
    Backup backup;
    int replay;  // known positions that are replayed after every game

    double epsilon(std::int64_t game, std::int64_t games) const {
        if (games < 2) return first_epsilon;
        return first_epsilon +
               (last_epsilon - first_epsilon) * static_cast<double>(game) / static_cast<double>(games - 1);
    }
};

// One move of a game.
struct QStep {
    std::string key;
    int player, chosen, actions;  // the number of the action, and how many there were
    Returns earned;  // by the move and the chance after it
    Action action;
    ActionList outcomes;  // of chance, after the move
};

struct QTraining {
    std::int64_t games = 0, moves = 0;
    double returns = 0;  // of player 0, over all games
    std::array<std::int64_t, 3> results = {0, 0, 0};  // games in which they were above, at and below 0
    std::vector<std::int64_t> new_starts;  // those of the starts that got a number
};

template <GameState S, class Table>
class QLearner {
public:
    QLearner(Table& table, const QSettings& settings) : table_(table), settings_(settings) {}

    // Plays and learns from games first .. end-1 of `games`, which begin in the given starts in turn. Game i has the
    // random stream (seed, i), so that training in parts is the same as training at once. `control.done` counts games.
    //
    // A way in the table begins with the number of a start. `numbers` are those of the starts, -1 for one that has none
    // yet: it gets the next one if a new position is met from it. `roots` are the starts by number, for replay.
    QTraining train(std::span<const S* const> starts, std::vector<Action> numbers, std::vector<const S*> roots,
                    Action next_number, std::int64_t first, std::int64_t end, std::int64_t games, std::uint64_t seed,
                    Control& control) {
        QTraining total;
        for (std::int64_t game = first; game < end && !control.stopped(); ++game) {
            Rng rng(seed, static_cast<std::uint64_t>(game));
            const auto start = static_cast<std::size_t>(game - first) % starts.size();
            S state = *starts[start];
            const double returns = play(state, settings_.epsilon(game, games), rng);
            if constexpr (kRemembers) {
                if (numbers[start] < 0 && remember_way(next_number)) {
                    numbers[start] = next_number++;
                    roots.push_back(starts[start]);
                    total.new_starts.push_back(static_cast<std::int64_t>(start));
                } else if (numbers[start] >= 0) {
                    remember_way(numbers[start]);
                }
            }
            walk_back();
            if constexpr (kRemembers) {
                for (std::int64_t i = 0; i < settings_.replay; ++i) replay(roots, game * settings_.replay + i, rng);
            }
            ++total.games;
            total.moves += static_cast<std::int64_t>(steps_.size());
            total.returns += returns;
            ++total.results[returns > 0 ? 0 : returns < 0 ? 2 : 1];
            control.add(1);
        }
        return total;
    }

private:
    static constexpr bool kRemembers = std::is_same_v<Table, ActionValues>;  // how each position was met

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
            const auto values = rng.uniform() < epsilon ? std::span<const float>() : table_.find(step.key);
            step.chosen = !values.empty() ? choose_greatest(values.data(), n, rng)
                          : n == 1        ? 0
                                          : static_cast<int>(rng.below(static_cast<std::uint32_t>(n)));
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

    // Positions met for the first time get the way that led to them. Whether one of these ways begins with the start.
    bool remember_way(Action start) {
        bool used = false;
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
                    used = true;
                    at = table_.add_step(ActionValues::kNone, start);
                    for (const Action outcome : before_) at = table_.add_step(at, outcome);
                }
                table_.set_where(table_.find_row(step.key), at);
            } else {
                at = table_.where(table_.find_row(step.key));
            }
            previous = &step;
        }
        return used;
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
                case Backup::kLeastBestMove: {
                    S& after = states_[i];
                    forget_history(after);
                    target = apply_for_rewards(after, step.action)[p];
                    if (after.player() != kTerminal) target += least_best_move(after, step.player);
                    break;
                }
            }
            float* values = table_.find_or_add(step.key, step.actions);
            const double q = values[step.chosen];
            values[step.chosen] = static_cast<float>(q + settings_.alpha * (target - q));
            best[p] = *std::max_element(values, values + step.actions);
            earned[p] = 0;
            next_player = step.player;
        }
    }

    // Tries every move of a known position; positions it leads to are known from then on. Known positions take turns
    // from the last one met to the first, so that within a game what comes after a position is replayed before it.
    void replay(std::span<const S* const> roots, std::int64_t turn, Rng& rng) {
        const std::size_t row = table_.size() - 1 - static_cast<std::size_t>(turn) % table_.size();
        way_.clear();
        for (auto step = table_.where(row); step != ActionValues::kNone; step = table_.way()[step].before) {
            way_.push_back(table_.way()[step].action);
        }
        S state = *roots[static_cast<std::size_t>(way_.back())];
        for (std::size_t i = way_.size() - 1; i-- > 0;) state.apply(way_[i]);
        forget_history(state);
        const int player = state.player();
        const auto p = static_cast<std::size_t>(player);
        tried_.clear();
        state.legal_actions(tried_);
        for (std::size_t i = 0; i < tried_.size(); ++i) {
            S after = state;
            double target = apply_for_rewards(after, tried_[i])[p];
            way_.assign(1, tried_[i]);
            while (after.player() == kChance) {
                way_.push_back(sample_chance(after, rng));
                target += apply_for_rewards(after, way_.back())[p];
            }
            if (after.player() != kTerminal) {
                meet(after, table_.where(row), way_);
                target += settings_.backup == Backup::kLeastBestMove
                              ? least_best_move(after, player)
                              : settings_.discount * (after.player() == player ? 1 : -1) * best_known(after.key());
            }
            float& q = table_.row(row)[i];
            q = static_cast<float>(q + settings_.alpha * (target - q));
        }
    }

    // Makes a position known if it is not, with its way: the steps after another one's.
    void meet(const S& state, std::uint32_t at, const ActionList& steps) {
        const std::string key = state.key();
        if (table_.find_row(key) != ActionValues::kNone) return;
        actions_.clear();
        state.legal_actions(actions_);
        table_.find_or_add(key, static_cast<int>(actions_.size()));
        for (const Action step : steps) at = table_.add_step(at, step);
        table_.set_where(table_.find_row(key), at);
    }

    double best_known(std::string_view key) const {
        const std::span<const float> values = table_.find(key);
        return values.empty() ? 0.0 : *std::max_element(values.begin(), values.end());
    }

    // What follows after a move if the opponent finds the best reply. How the position came about does not count.
    double least_best_move(S& after, int player) {
        if (after.player() == player) return settings_.discount * best_known(after.key());
        forget_history(after);
        actions_.clear();
        after.legal_actions(actions_);
        const auto p = static_cast<std::size_t>(player);
        double least = std::numeric_limits<double>::infinity();
        std::size_t open = 0;  // replies after which the game goes on
        for (const Action reply : actions_) {
            S next = after;
            const double worth = apply_for_rewards(next, reply)[p];
            if (next.player() == kTerminal) {
                least = std::min(least, worth);
            } else if (next.player() == player) {
                if (open == replies_.size()) replies_.emplace_back();
                replies_[open] = {next.key(), worth};
                table_.prefetch(replies_[open++].first);
            } else {
                throw std::invalid_argument("the least best move needs players who move in turn, and no chance");
            }
        }
        for (std::size_t i = 0; i < open; ++i) {
            least = std::min(least, replies_[i].second + settings_.discount * best_known(replies_[i].first));
        }
        return least;
    }

    Table& table_;
    const QSettings& settings_;
    std::vector<QStep> steps_;
    std::vector<S> states_;  // before each step
    ActionList before_;  // chance outcomes before the first move
    ActionList actions_, tried_, way_;
    std::vector<std::pair<std::string, double>> replies_;  // the position after each, and what it earned
};

}  // namespace rookery
