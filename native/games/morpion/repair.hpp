// Destroy and repair on Morpion Solitaire: take away the moves around a point of the grid, play again what is still
// legal of the rest, and end the game at random, with a preference for the lines that the grid had.
//
// A grid hardly depends on the order of its moves, so most of a good game survives. What comes out replaces the grid by
// the rule of simulated annealing: always if it is not shorter, else with probability exp(difference / temperature).
//
// Many grids are worked on. With one temperature, they compete: the longest are worked on for longer (successive
// halving). With several, there is a grid at each, and now and then neighbours change places (replica exchange): a hot grid
// still changes its outline, a cold one is polished, and what has become good cools down.
#pragma once

#include <algorithm>

#include "core/control.hpp"
#include "games/morpion/rules.hpp"
#include "search/policy_search.hpp"

namespace rookery::morpion {

struct RepairSettings {
    std::int64_t trials = 1'000'000;
    std::vector<double> temperatures = {1.0};  // several: from cold to hot
};

// `control.done` counts trials.
class Repair {
public:
    Repair(const State& start, const RepairSettings& settings, std::uint64_t seed, std::uint64_t stream,
           Control& control, OnBest on_best)
        : start_(start), settings_(settings), rng_(seed, stream), control_(control), on_best_(std::move(on_best)),
          state_(start), weights_(start.rules().num_codes(), 1.0f) {
        if (settings.trials < 1) throw std::invalid_argument("the number of trials must be at least 1");
        const auto positive = [](double temperature) { return temperature > 0; };
        if (settings.temperatures.empty() || !std::ranges::all_of(settings.temperatures, positive)) {
            throw std::invalid_argument("there must be temperatures, all of them above 0");
        }
    }

    Playout run() { return settings_.temperatures.size() == 1 ? halve() : exchange(); }

    std::int64_t trials() const { return trials_; }

private:
    struct Placed {
        Action action;
        Rules::Move move;
    };
    using Grid = std::vector<Placed>;  // in the order of play

    struct Walker {
        Grid grid;
        std::size_t longest = 0;
    };

    static constexpr std::int64_t kFirstTrials = 100'000;   // of each walker in the first round of halving
    static constexpr std::int64_t kBetweenExchanges = 2000;  // trials of each walker
    static constexpr std::uint32_t kMaxRadius = 3;
    static constexpr float kKnownLine = 1000.0f;  // weight of a line of the grid; any other has 1

    // Successive halving (here by four): many grids are worked on for a short while, a quarter of them, the longest, for
    // four times as long, and so on to the last one. Where a grid can lead is decided early, by its outline.
    Playout halve() {
        Playout best;
        std::vector<Walker> walkers(1);
        int rounds = 1;
        while (settings_.trials / (rounds + 1) >= kFirstTrials * 4 * static_cast<std::int64_t>(walkers.size())) {
            walkers.resize(4 * walkers.size());
            ++rounds;
        }
        for (int round = 1; round <= rounds; ++round) {
            for (Walker& walker : walkers) {
                const std::int64_t share = settings_.trials / rounds / static_cast<std::int64_t>(walkers.size());
                const bool last = round == rounds;
                walk(walker, settings_.temperatures[0], last ? settings_.trials - trials_ : share, best);
            }
            std::stable_sort(walkers.begin(), walkers.end(),
                             [](const Walker& a, const Walker& b) { return a.longest > b.longest; });
            if (round < rounds) walkers.resize(walkers.size() / 4);
        }
        return best;
    }

    // Every grid keeps its share of time at every temperature: of two neighbours the longer one tends to be the colder.
    Playout exchange() {
        Playout best;
        const std::vector<double>& heat = settings_.temperatures;
        std::vector<Walker> walkers(heat.size());
        for (Walker& walker : walkers) begin(walker);
        for (std::size_t round = 1; round == 1 || (trials_ < settings_.trials && !control_.stopped()); ++round) {
            for (std::size_t i = 0; i < walkers.size(); ++i) {
                walk(walkers[i], heat[i], std::min(kBetweenExchanges, settings_.trials - trials_), best);
            }
            for (std::size_t i = round % 2; i + 1 < walkers.size(); i += 2) {
                Grid &cold = walkers[i].grid, &hot = walkers[i + 1].grid;
                const double longer = static_cast<double>(hot.size()) - static_cast<double>(cold.size());
                const double exponent = longer * (1 / heat[i] - 1 / heat[i + 1]);
                if (exponent >= 0 || rng_.uniform() < std::exp(exponent)) std::swap(cold, hot);
            }
            if (walkers[0].grid.empty()) break;  // the start is over: there is nothing to take away
        }
        return best;
    }

    void begin(Walker& walker) {
        state_ = start_;
        play_on(walker.grid);
    }

    void walk(Walker& walker, double temperature, std::int64_t trials, Playout& best) {
        Grid& grid = walker.grid;
        if (grid.empty()) begin(walker);
        for (std::int64_t i = 0; i < trials && !grid.empty() && !(i && control_.stopped()); ++i) {
            destroy_and_repair(grid, trial_);
            const auto change = static_cast<double>(trial_.size()) - static_cast<double>(grid.size());
            if (change >= 0 || rng_.uniform() < std::exp(change / temperature)) std::swap(grid, trial_);
            walker.longest = std::max(walker.longest, grid.size());
            if (static_cast<double>(start_.moves().size() + grid.size()) > best.score) take(best, grid);
            ++trials_;
            control_.add(1);
        }
        if (!std::isfinite(best.score)) take(best, grid);
    }

    void take(Playout& best, const Grid& grid) {
        best.actions.clear();
        for (const Placed& placed : grid) best.actions.push_back(placed.action);
        best.score = static_cast<double>(start_.moves().size() + grid.size());
        on_best_(best);
    }

    void destroy_and_repair(const Grid& grid, Grid& trial) {
        const int radius = static_cast<int>(rng_.below(kMaxRadius + 1));
        const Cell centre = grid[rng_.below(static_cast<std::uint32_t>(grid.size()))].move.dot;
        state_ = start_;
        trial.clear();
        for (const Placed& placed : grid) {
            const Cell dot = placed.move.dot;
            if (std::abs(dot.x - centre.x) <= radius && std::abs(dot.y - centre.y) <= radius) continue;
            weights_[placed.move.line] = kKnownLine;
            if (state_.is_legal(placed.action)) {
                state_.apply(placed.action);
                trial.push_back(placed);
            }
        }
        play_on(trial);
        for (const Placed& placed : grid) weights_[placed.move.line] = 1.0f;
    }

    void play_on(Grid& game) {
        while (state_.player() != kTerminal) {
            const std::span<const Line> lines = state_.legal_lines();
            sums_.clear();
            float total = 0;
            for (const Line line : lines) sums_.push_back(total += weights_[line]);
            const float point = static_cast<float>(rng_.uniform()) * total;
            std::size_t pick = 0;
            while (pick + 1 < sums_.size() && sums_[pick] <= point) ++pick;
            const Action action = state_.action(lines[pick]);
            game.push_back({action, state_.rules().move(action)});
            state_.apply(action);
        }
    }

    const State& start_;
    const RepairSettings settings_;
    Rng rng_;
    Control& control_;
    const OnBest on_best_;
    State state_;
    Grid trial_;
    std::vector<float> weights_, sums_;
    std::int64_t trials_ = 0;
};

}  // namespace rookery::morpion
