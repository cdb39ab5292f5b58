// Destroy and repair on Morpion Solitaire: take away the moves around a point of the grid, play again what is still
// legal of the rest, and end the game at random, with a preference for the lines that the grid had.
//
// A grid hardly depends on the order of its moves, so most of a good game survives. What comes out replaces the grid by
// the rule of simulated annealing: always if it is not shorter, else with probability exp(difference / temperature).
#pragma once

#include "core/control.hpp"
#include "games/morpion.hpp"
#include "search/policy_search.hpp"

namespace rookery::morpion {

struct RepairSettings {
    std::int64_t trials = 1'000'000;
    double temperature = 1.0;
};

// `control.done` counts trials.
class Repair {
public:
    Repair(const State& start, const RepairSettings& settings, std::uint64_t seed, std::uint64_t stream,
           Control& control, OnBest on_best)
        : start_(start), settings_(settings), rng_(seed, stream), control_(control), on_best_(std::move(on_best)),
          state_(start), weights_(start.rules().num_codes(), 1.0f) {
        if (settings.trials < 1) throw std::invalid_argument("the number of trials must be at least 1");
        if (!(settings.temperature > 0)) throw std::invalid_argument("the temperature must be above 0");
    }

    Playout run() {
        Playout best;
        std::vector<Action> grid, trial;
        play_on(grid);
        take(best, grid);
        for (trials_ = 0; trials_ < settings_.trials && !grid.empty() && !control_.stopped(); ++trials_) {
            destroy_and_repair(grid, trial);
            const auto change = static_cast<double>(trial.size()) - static_cast<double>(grid.size());
            if (change >= 0 || rng_.uniform() < std::exp(change / settings_.temperature)) std::swap(grid, trial);
            if (grid.size() > best.actions.size()) take(best, grid);
            control_.add(1);
        }
        return best;
    }

    std::int64_t trials() const { return trials_; }

private:
    static constexpr std::uint32_t kMaxRadius = 3;
    static constexpr float kKnownLine = 20.0f;  // weight of a line of the grid; any other has 1

    void take(Playout& best, const std::vector<Action>& grid) {
        best.actions = grid;
        best.score = static_cast<double>(start_.moves().size() + grid.size());
        on_best_(best);
    }

    void destroy_and_repair(const std::vector<Action>& grid, std::vector<Action>& trial) {
        const Rules& rules = start_.rules();
        const int radius = static_cast<int>(rng_.below(kMaxRadius + 1));
        const Cell centre = rules.move(grid[rng_.below(static_cast<std::uint32_t>(grid.size()))]).dot;
        state_ = start_;
        trial.clear();
        for (const Action action : grid) {
            const Rules::Move move = rules.move(action);
            const bool destroyed = std::abs(move.dot.x - centre.x) <= radius && std::abs(move.dot.y - centre.y) <= radius;
            if (destroyed) continue;
            weights_[move.line] = kKnownLine;
            if (state_.is_legal(action)) play(action, trial);
        }
        play_on(trial);
        for (const Action action : grid) weights_[rules.move(action).line] = 1.0f;
    }

    void play_on(std::vector<Action>& game) {
        while (state_.player() != kTerminal) {
            const std::span<const Line> lines = state_.legal_lines();
            sums_.clear();
            float total = 0;
            for (const Line line : lines) sums_.push_back(total += weights_[line]);
            const float point = static_cast<float>(rng_.uniform()) * total;
            std::size_t pick = 0;
            while (pick + 1 < sums_.size() && sums_[pick] <= point) ++pick;
            play(state_.action(lines[pick]), game);
        }
    }

    void play(Action action, std::vector<Action>& game) {
        state_.apply(action);
        game.push_back(action);
    }

    const State& start_;
    const RepairSettings settings_;
    Rng rng_;
    Control& control_;
    const OnBest on_best_;
    State state_;
    std::vector<float> weights_, sums_;
    std::int64_t trials_ = 0;
};

}  // namespace rookery::morpion
