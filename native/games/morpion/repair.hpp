// Destroy and repair on Morpion Solitaire: take away the moves in a part of the grid, with all that was built on them,
// and end the game at random, with a preference for the lines that the grid had (cascade.hpp).
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
#include "games/morpion/cascade.hpp"
#include "search/policy_search.hpp"

namespace rookery::morpion {

struct RepairSettings {
    std::int64_t trials = 1'000'000;
    std::vector<double> temperatures = {1.0};  // several: from cold to hot
};

// Lets neighbours in temperature change places, pair by pair from the first one on. With lengths n and temperatures T of a
// colder and a hotter grid the chance is min(1, exp((n' - n) (1/T - 1/T'))), so that the distribution of lengths at a
// temperature stays what it would be without exchanges. Returns how many pairs have done so.
inline int exchange_neighbours(std::vector<Grid>& grids, const std::vector<double>& heat, std::size_t first, Rng& rng) {
    int exchanged = 0;
    for (std::size_t i = first; i + 1 < grids.size(); i += 2) {
        const double exponent = (grids[i + 1].size - grids[i].size) * (1 / heat[i] - 1 / heat[i + 1]);
        if (exponent < 0 && rng.uniform() >= std::exp(exponent)) continue;
        std::swap(grids[i], grids[i + 1]);
        ++exchanged;
    }
    return exchanged;
}

// `control.done` counts trials.
class Repair {
public:
    Repair(const State& start, const RepairSettings& settings, std::uint64_t seed, std::uint64_t stream,
           Control& control, OnBest on_best)
        : start_(start), settings_(settings), rng_(seed, stream), control_(control), on_best_(std::move(on_best)),
          cascade_(Cascade::of(start)) {
        if (settings.trials < 1) throw std::invalid_argument("the number of trials must be at least 1");
        const auto positive = [](double temperature) { return temperature > 0; };
        if (settings.temperatures.empty() || !std::ranges::all_of(settings.temperatures, positive)) {
            throw std::invalid_argument("there must be temperatures, all of them above 0");
        }
    }

    Playout run() { return settings_.temperatures.size() == 1 ? halve() : exchange(); }

    std::int64_t trials() const { return trials_; }
    std::int64_t exchanged() const { return exchanged_; }  // pairs of grids that have changed places

private:
    struct Walker {
        Grid grid;
        int longest = 0;
    };

    static constexpr std::int64_t kFirstTrials = 100'000;  // of each walker in the first round of halving
    static constexpr std::int64_t kBetweenExchanges = 2000;  // trials of each walker
    static constexpr std::int64_t kBetweenLooks = 64;  // trials between two looks at the control
    static constexpr std::uint32_t kMaxRadius = 3;
    static constexpr std::uint64_t kRemade = std::uint64_t(1) << 31;  // of 2^32 trials
    static constexpr int kLosses = 64;  // a trial that is shorter by this much is never accepted

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
                const std::int64_t trials = last ? settings_.trials - trials_ : share;
                walker.longest = std::max(walker.longest, walk(walker.grid, settings_.temperatures[0], trials, best));
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
        std::vector<Grid> grids(heat.size());
        for (Grid& grid : grids) cascade_->play(rng_, grid);
        for (std::size_t round = 1; round == 1 || (trials_ < settings_.trials && !control_.stopped()); ++round) {
            for (std::size_t i = 0; i < grids.size(); ++i) {
                walk(grids[i], heat[i], std::min(kBetweenExchanges, settings_.trials - trials_), best);
            }
            exchanged_ += exchange_neighbours(grids, heat, round % 2, rng_);
            if (grids[0].size == 0) break;  // the start is over: there is nothing to take away
        }
        return best;
    }

    // The length of the longest grid on the way.
    int walk(Grid& grid, double temperature, std::int64_t trials, Playout& best) {
        if (grid.size == 0) cascade_->play(rng_, grid);
        std::array<double, kLosses> chances;
        for (int loss = 0; loss < kLosses; ++loss) chances[loss] = std::exp(-loss / temperature);
        int longest = grid.size;
        cascade_->set(grid);
        std::int64_t done = 0;
        while (done < trials && grid.size > 0 && !(done && control_.stopped())) {
            const std::int64_t until = std::min(trials, done + kBetweenLooks);
            control_.add(until - done);
            for (; done < until; ++done) {
                const auto [hole, remake] = choose_hole(grid);
                cascade_->repair(grid, hole, remake, rng_, trial_);
                const int loss = grid.size - trial_.size;
                const bool accepted = loss <= 0 || (loss < kLosses && rng_.uniform() < chances[loss]);
                if (accepted && !cascade_->same(grid, trial_)) {
                    cascade_->set(trial_);
                    std::swap(grid, trial_);
                    longest = std::max(longest, grid.size);
                }
                if (static_cast<double>(start_.moves().size()) + grid.size > best.score) take(best, grid);
            }
        }
        trials_ += done;
        if (!std::isfinite(best.score)) take(best, grid);
        return longest;
    }

    // Around a random dot of the grid: in one of four trials a strip, otherwise a box. In half of them its dots may be made
    // again by other lines.
    std::pair<Region, bool> choose_hole(const Grid& grid) {
        const Placed& move = grid.moves[rng_.below(static_cast<std::uint32_t>(grid.size))];
        const std::uint64_t random = rng_.next();
        const auto number = static_cast<std::uint32_t>(random >> 32);
        const bool remake = (random & 0xffffffff) < kRemade;
        const Dot centre = {move.x, move.y};
        if (number % 4 == 0) return {strip(centre, static_cast<int>(number >> 2 & 1), number >> 3), remake};
        return {box(centre, static_cast<int>(std::uint64_t(number) * (kMaxRadius + 1) >> 32)), remake};
    }

    void take(Playout& best, const Grid& grid) {
        best.actions.clear();
        for (const Placed& move : grid.played())
            best.actions.push_back(start_.rules().action(move.line, move.position));
        best.score = static_cast<double>(start_.moves().size()) + grid.size;
        on_best_(best);
    }

    const State& start_;
    const RepairSettings settings_;
    Rng rng_;
    Control& control_;
    const OnBest on_best_;
    const std::unique_ptr<Cascade> cascade_;
    Grid trial_;
    std::int64_t trials_ = 0, exchanged_ = 0;
};

}  // namespace rookery::morpion
