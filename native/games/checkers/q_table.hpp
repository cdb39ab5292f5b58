// Tabular Q-learning of checkers by self-play: Algorithm 1 of "Prior State Voting" (Benning, 2021).
//
// One table serves both colours: a row per position (pieces and side to move), a value per legal action in the order of
// for_each_action, so that actions need not be stored. A game is played to its end, then every player's own moves are
// walked through from the last to the first. The author's published program does it otherwise; `Settings::program`
// does what that does.
#pragma once

#include <span>
#include <vector>

#include "core/control.hpp"
#include "games/checkers/rules.hpp"
#include "learn/q_learning.hpp"

namespace rookery::checkers {

using checkers::Position;
using checkers::State;

inline int count_actions(const Position& p, const checkers::Starts& starts) {
    if (!starts.captures) return starts.count();
    int n = 0;
    checkers::for_each_action(p, starts, [&](Action) { ++n; });
    return n;
}

// Rows in the order in which they came, found through an index with open addressing. About 50 bytes per position.
class QTable {
public:
    static constexpr std::uint32_t kNone = 0xffffffff;
    static constexpr std::uint32_t kMaxValues = 0x7fffffff;  // what 31 bits can number

    std::uint32_t size() const { return static_cast<std::uint32_t>(rows_.size()); }

    std::uint64_t bytes() const {
        return rows_.capacity() * sizeof(Row) + values_.capacity() * sizeof(float) + index_.capacity() * 4;
    }

    Position position(std::uint32_t row) const {
        const Row& r = rows_[row];
        return {{r.black, r.white}, r.kings, r.first_and_side & 1};
    }

    // One value per action of the position.
    float* values(std::uint32_t row) { return values_.data() + (rows_[row].first_and_side >> 1); }
    const float* values(std::uint32_t row) const { return values_.data() + (rows_[row].first_and_side >> 1); }

    std::uint32_t find_row(const Position& p) const { return index_.empty() ? kNone : index_[slot(p)]; }

    const float* find(const Position& p) const {
        const std::uint32_t row = find_row(p);
        return row == kNone ? nullptr : values(row);
    }

    // The values of a position, zeros if it is new. Valid until the next call.
    float* find_or_add(const Position& p, int actions) {
        if (4 * (rows_.size() + 1) > 3 * index_.size()) grow_index();
        std::uint32_t& row = index_[slot(p)];
        if (row == kNone) {
            if (values_.size() + actions > kMaxValues) throw std::length_error("the Q-table is full");
            row = size();
            grow(rows_, 1);
            rows_.push_back(
                {p.pieces[0], p.pieces[1], p.kings, static_cast<std::uint32_t>(values_.size()) << 1 | p.side});
            grow(values_, actions);
            values_.resize(values_.size() + actions, 0.0f);
        }
        return values(row);
    }

private:
    struct Row {
        std::uint32_t black, white, kings;
        std::uint32_t first_and_side;  // number of its first value, and the side to move in the lowest bit
    };

    // By a quarter at a time: doubling would cost more memory than the table may have.
    template <class T>
    static void grow(std::vector<T>& vector, std::size_t more) {
        if (vector.size() + more > vector.capacity()) vector.reserve(vector.capacity() / 4 * 5 + more + 1024);
    }

    // Where the position is in the index, or the empty place where it belongs.
    std::size_t slot(const Position& p) const {
        const std::size_t mask = index_.size() - 1;
        for (std::size_t i = checkers::hash(p) & mask;; i = (i + 1) & mask) {
            const std::uint32_t row = index_[i];
            if (row == kNone) return i;
            const Row& r = rows_[row];
            if (r.black == p.pieces[0] && r.white == p.pieces[1] && r.kings == p.kings &&
                (r.first_and_side & 1) == p.side) {
                return i;
            }
        }
    }

    void grow_index() {
        index_.assign(std::max<std::size_t>(64, 2 * index_.size()), kNone);
        for (std::uint32_t row = 0; row < size(); ++row) index_[slot(position(row))] = row;
    }

    std::vector<Row> rows_;
    std::vector<float> values_;
    std::vector<std::uint32_t> index_;  // rows by hash; kNone where empty; its size is a power of two
};

// A table to learn in on top of one that stays as it is.
class LayeredTable {
public:
    explicit LayeredTable(const QTable& base) : base_(base) {}

    const float* find(const Position& p) const {
        const float* found = own_.find(p);
        return found ? found : base_.find(p);
    }

    float* find_or_add(const Position& p, int actions) {
        const bool is_new = own_.find_row(p) == QTable::kNone;
        float* values = own_.find_or_add(p, actions);
        if (is_new) {
            if (const float* below = base_.find(p)) std::copy(below, below + actions, values);
        }
        return values;
    }

private:
    const QTable& base_;
    QTable own_;
};

struct Settings {
    double alpha, epsilon;
    double first_discount, last_discount;  // rises evenly from the first game to the last
    double draw_reward = 0;  // at every move of a drawn game
    double capture_reward = 0;  // added for each piece that a move captures
    double reward_decay = 1;  // the result counts this much less with every later move of the player
    bool program = false;  // learn as the author's program does, not as Algorithm 1

    double discount(std::int64_t game, std::int64_t games) const {
        if (program) return first_discount + (last_discount - first_discount) * static_cast<double>(game + 1) / games;
        if (games < 2) return last_discount;
        return first_discount + (last_discount - first_discount) * static_cast<double>(game) / (games - 1);
    }
};

// Where an action stands in the lists of the author's program: by its first square, then by the directions of its
// steps in the order down right, down left, up right, up left.
inline std::uint64_t program_order(Action action) {
    std::uint64_t directions = 0;
    int jumps = 0;
    Action a = action;
    for (; a >= kFirstCapture; a = track(a).shorter, ++jumps) {
        directions = directions >> 2 | std::uint64_t(track(a).direction ^ 1) << 46;
    }
    if (jumps == 0) directions = std::uint64_t(track(a).direction ^ 1) << 46;
    return std::uint64_t(track(action).from()) << 48 | directions;
}

// As the author's program chooses: of the actions of greatest value the first of its list.
template <class Value>
int choose_first(const Value* values, const ActionList& actions) {
    int best = 0;
    for (int i = 1; i < static_cast<int>(actions.size()); ++i) {
        if (values[i] > values[best] ||
            (values[i] == values[best] && program_order(actions[i]) < program_order(actions[best]))) {
            best = i;
        }
    }
    return best;
}

// One move of a finished game.
struct Step {
    Position position;
    std::int32_t chosen, actions;  // the number of the action, and how many there were
    std::int32_t captured;  // pieces
    double reward = 0;
};

// A game of the table against itself from `state`, which ends up at the end; `steps` gets the moves. In the author's
// program a position is known as soon as it was met, otherwise after the game.
template <class Table>
void play_epsilon_greedily(Table& table, const Settings& settings, State& state, Rng& rng, std::vector<Step>& steps) {
    ActionList actions;
    while (state.player() != kTerminal) {
        actions.clear();
        state.legal_actions(actions);
        const int n = static_cast<int>(actions.size());
        const float* values = rng.uniform() < settings.epsilon ? nullptr : table.find(state.position());
        const int chosen = !values            ? (n == 1 ? 0 : static_cast<int>(rng.below(n)))
                           : settings.program ? choose_first(values, actions)
                                              : choose_greatest(values, n, rng);
        if (settings.program) table.find_or_add(state.position(), n);
        steps.push_back({state.position(), chosen, n, std::popcount(track(actions[chosen]).captured)});
        state.apply(actions[chosen]);
    }
}

// What every move earns: the result of its player, +1, -1 or `draw_reward`, decayed by the moves that he still made, and
// what it captured.
inline void set_rewards(std::span<Step> steps, const Returns& returns, const Settings& settings) {
    std::array<double, 2> weight = {1.0, 1.0};
    const bool drawn = returns[0] == 0;
    for (std::size_t i = steps.size(); i-- > 0;) {
        Step& step = steps[i];
        const std::uint32_t side = step.position.side;
        step.reward =
            weight[side] * (drawn ? settings.draw_reward : returns[side]) + settings.capture_reward * step.captured;
        weight[side] *= settings.reward_decay;
    }
}

// One step of either walk; returns the best value of the position after it.
template <class Table>
double learn_step(Table& table, const Step& step, double alpha, double discounted_next) {
    float* values = table.find_or_add(step.position, step.actions);
    const double q = values[step.chosen];
    values[step.chosen] = static_cast<float>(q + alpha * (step.reward + discounted_next - q));
    return *std::max_element(values, values + step.actions);
}

// The walk back: what comes next is the best value of the position in which the player moved next, and nothing after
// his last move.
template <class Table>
void walk_back(Table& table, std::span<const Step> steps, double alpha, double discount) {
    std::array<double, 2> max_next = {0.0, 0.0};
    for (std::size_t i = steps.size(); i-- > 0;) {
        double& next = max_next[steps[i].position.side];
        next = learn_step(table, steps[i], alpha, discount * next);
    }
}

// The walk of the author's program: all moves of the player who began and then those of the other, from the first to
// the last. What counts as next is the best value of the position before, at least 0, also from one player to the other.
template <class Table>
void walk_forwards(Table& table, std::span<const Step> steps, double alpha, double discount) {
    double max_next = 0;
    for (std::size_t first = 0; first < 2; ++first) {
        for (std::size_t i = first; i < steps.size(); i += 2) {
            max_next = std::max(0.0, learn_step(table, steps[i], alpha, discount * max_next));
        }
    }
}

template <class Table>
void learn_from_game(Table& table, std::span<Step> steps, const Returns& returns, const Settings& settings,
                     double discount) {
    set_rewards(steps, returns, settings);
    if (!settings.program) {
        walk_back(table, steps, settings.alpha, discount);
    } else if (returns[0] != 0) {  // a draw teaches it nothing
        walk_forwards(table, steps, settings.alpha, discount);
    }
}

struct TrainingResult {
    std::int64_t games = 0, plies = 0;
    std::array<std::int64_t, 3> results = {0, 0, 0};  // Black won, drawn, White won
};

// Games first .. end-1 of a training of `games` games; game i has the random stream (seed, i), so that training in parts
// is the same as training at once. `control.done` counts games.
template <class Table>
TrainingResult train(Table& table, const State& start, const Settings& settings, std::int64_t first, std::int64_t end,
                     std::int64_t games, std::uint64_t seed, Control& control) {
    TrainingResult total;
    std::vector<Step> steps;
    for (std::int64_t game = first; game < end && !control.stopped(); ++game) {
        Rng rng(seed, static_cast<std::uint64_t>(game));
        steps.clear();
        State state = start;
        play_epsilon_greedily(table, settings, state, rng, steps);
        const Returns returns = state.returns();
        learn_from_game<Table>(table, steps, returns, settings, settings.discount(game, games));
        ++total.games;
        total.plies += static_cast<std::int64_t>(steps.size());
        ++total.results[returns[0] > 0 ? 0 : returns[0] < 0 ? 2 : 1];
        control.add(1);
    }
    return total;
}

}  // namespace rookery::checkers
