// The cascade of destroy and repair beside the rules that replay every move.
#include "games/morpion/repair.hpp"

#include <map>

#include "tests/check.hpp"

using namespace rookery;
using namespace rookery::testing;
using namespace rookery::morpion;

namespace {

Action action_of(const Rules& rules, const Placed& move) { return rules.action(move.line, move.position); }

State replay(const State& start, const Grid& grid) {
    State state = start;
    for (const Placed& move : grid.played()) {
        const Action action = action_of(start.rules(), move);
        CHECK(state.is_legal(action));
        state.apply(action);
        const Cell dot = start.rules().move(action).dot;
        CHECK(dot.x == move.x && dot.y == move.y);
    }
    return state;
}

}  // namespace

// A trial keeps exactly what a replay keeps, ends the game, and what it adds prefers the lines that the grid had.
// Dots of the hole come back more often where any line may make them.
TEST(morpion_a_trial_keeps_what_a_replay_would_keep) {
    int trials[2] = {}, remade[2] = {};
    for (const int length : {4, 5}) {
        for (const bool touching : {false, true}) {
            for (const int board : {0, 10, 12, 64}) {
                const Rules rules(length, touching, board);
                State start(rules);
                Rng rng(1);
                if (board == 12) {
                    for (int i = 0; i < 5; ++i) start.apply(start.random_action(rng));
                }
                const auto cascade = Cascade::of(start);
                Grid grid, trial;
                cascade->play(rng, grid);
                CHECK(replay(start, grid).player() == kTerminal);
                cascade->set(grid);
                int fell = 0, again = 0, same = 0;
                for (int round = 0; round < 300; ++round) {
                    const Placed centre = grid.moves[rng.below(static_cast<std::uint32_t>(grid.size))];
                    const Dot at = {centre.x, centre.y};
                    const auto number = static_cast<std::uint32_t>(rng.next());
                    const Region holes[] = {box(at, round / 3 % 4), strip(at, round / 3 % 2, number),
                                            wedge(at, number)};
                    const Region& hole = holes[round % 3];
                    const bool remake = rng.below(2) == 1;
                    cascade->repair(grid, hole, remake, rng, trial);
                    State state = start;
                    std::set<Line> lost;
                    int kept = 0;
                    for (const Placed& move : grid.played()) {
                        const Action action = action_of(rules, move);
                        if (hole.contains({move.x, move.y})) continue;
                        if (state.is_legal(action)) {
                            state.apply(action);
                            CHECK(kept < trial.size && trial.moves[kept].line == move.line &&
                                  trial.moves[kept].position == move.position);
                            ++kept;
                        } else {
                            lost.insert(move.line);
                        }
                    }
                    CHECK(replay(start, trial).player() == kTerminal);
                    fell += static_cast<int>(lost.size());
                    for (const Placed& move : trial.played().subspan(kept)) again += lost.contains(move.line);
                    ++trials[remake];
                    std::set<std::pair<int, int>> dots;
                    for (const Placed& move : grid.played()) {
                        if (hole.contains({move.x, move.y})) dots.insert({move.x, move.y});
                    }
                    for (const Placed& move : trial.played().subspan(kept))
                        remade[remake] += dots.contains({move.x, move.y});
                    const State one = replay(start, grid), two = replay(start, trial);
                    const auto sorted = [](const State& s) { return std::set(s.moves().begin(), s.moves().end()); };
                    CHECK(cascade->same(grid, trial) == (sorted(one) == sorted(two)));
                    same += cascade->same(grid, trial);
                    if (trial.size >= grid.size - 2) {
                        cascade->set(trial);
                        std::swap(grid, trial);
                    }
                }
                CHECK(fell == 0 || again > fell / 10);
                CHECK(same > 0 && same < 300);
            }
        }
    }
    CHECK(10 * remade[1] * trials[0] > 11 * remade[0] * trials[1]);
}

// Lines are drawn with their weights, although those that are no longer legal stay in the lists until they are drawn.
TEST(morpion_random_games_of_the_cascade_are_as_long_as_random_games) {
    for (const bool touching : {true, false}) {
        const Rules rules(5, touching, 0);
        const State start(rules);
        const auto cascade = Cascade::of(start);
        Rng rng(3);
        Grid game;
        double sum = 0, squares = 0;
        constexpr int kGames = 4000;
        for (int i = 0; i < kGames; ++i) {
            cascade->play(rng, game);
            sum += game.size;
            squares += game.size * game.size;
        }
        const double mean = sum / kGames, error = std::sqrt((squares / kGames - mean * mean) / kGames);
        CHECK(std::abs(mean - (touching ? 53.62 : 42.90)) < 4 * error);
    }
}

TEST(morpion_neighbours_in_temperature_change_places) {
    const std::vector<double> heat = {0.5, 1.0, 2.0, 4.0};
    const std::array<int, 4> sizes = {100, 98, 99, 100};
    constexpr int kTrials = 20'000;
    Rng rng(1);
    for (const std::size_t first : {0, 1}) {
        std::array<int, 4> moved{};  // by the colder one of a pair
        for (int i = 0; i < kTrials; ++i) {
            std::vector<Grid> grids(4);
            for (std::size_t k = 0; k < 4; ++k) {
                grids[k].size = sizes[k];
                grids[k].moves[0].x = static_cast<std::uint8_t>(k);
            }
            const int exchanged = exchange_neighbours(grids, heat, first, rng);
            std::array<std::size_t, 4> at;
            for (std::size_t k = 0; k < 4; ++k) {
                at[k] = grids[k].moves[0].x;
                CHECK(grids[k].size == sizes[at[k]]);
            }
            for (std::size_t k = 0; k < 4; ++k) {
                const bool has_partner = k >= first && (k - first) / 2 * 2 + first + 1 < 4;
                const std::size_t partner = (k - first) % 2 ? k - 1 : k + 1;
                CHECK(at[k] == k || (has_partner && at[k] == partner && at[partner] == k));
                if (at[k] == k + 1) ++moved[k];
            }
            CHECK(exchanged == (at[0] == 1) + (at[1] == 2) + (at[2] == 3));
        }
        for (std::size_t k = first; k + 1 < 4; k += 2) {
            const double chance = std::min(1.0, std::exp((sizes[k + 1] - sizes[k]) * (1 / heat[k] - 1 / heat[k + 1])));
            CHECK(std::abs(moved[k] - kTrials * chance) <= 4 * std::sqrt(kTrials * chance * (1 - chance)));
        }
    }
}

TEST(morpion_the_search_exchanges_its_grids) {
    const Rules rules(5, false, 0);
    const State start(rules);
    const auto exchanged = [&](std::vector<double> temperatures) {
        Control control;
        Repair search(start, {40'000, temperatures}, 1, 0, control, [](const Playout&) {});
        search.run();
        return search.exchanged();
    };
    // 10 rounds of two grids, of which those with an even number have a pair.
    CHECK(exchanged({0.4, 0.4}) == 5);  // of the same temperature: always
    CHECK(exchanged({0.4}) == 0);
    const std::int64_t some = exchanged({0.35, 0.4, 0.45, 0.5});  // 5 rounds, of 1 and 2 pairs in turn
    CHECK(some > 0 && some <= 7);
}

// Random games are far shorter than the longest there are, 35 moves in 4D and 62 in 4T; the search comes near to these,
// and never beyond. What it reports on the way are games, each longer than the one before.
TEST(morpion_repair_comes_near_to_the_longest_games) {
    for (const auto& [touching, longest] : {std::pair(false, 35), std::pair(true, 62)}) {
        const Rules rules(4, touching, 0);
        for (const int before : {0, 3}) {
            State start(rules);
            Rng rng(5);
            for (int i = 0; i < before; ++i) start.apply(start.random_action(rng));
            for (const auto& temperatures : {std::vector{0.4}, std::vector{0.3, 0.5}}) {
                Control control;
                std::vector<Playout> better;
                Repair search(start, {50'000, temperatures}, 2, 0, control,
                              [&](const Playout& p) { better.push_back(p); });
                const Playout best = search.run();
                CHECK(!better.empty() && better.back().actions == best.actions && better.back().score == best.score);
                CHECK(search.trials() >= 50'000 && control.done == search.trials());
                double score = 0;
                for (const Playout& playout : better) {
                    CHECK(playout.score > score && playout.score <= longest);
                    score = playout.score;
                    State state = start;
                    for (const Action action : playout.actions) {
                        CHECK(state.is_legal(action));
                        state.apply(action);
                    }
                    CHECK(state.player() == kTerminal && static_cast<double>(state.moves().size()) == score);
                }
                CHECK(before > 0 || best.score >= longest - 2);
            }
        }
    }
}

TEST(morpion_repair_of_a_game_that_is_over_ends_at_once) {
    const Rules rules(4, false, 0);
    State start(rules);
    Rng rng(6);
    while (start.player() != kTerminal) start.apply(start.random_action(rng));
    for (const auto& temperatures : {std::vector{0.4}, std::vector{0.3, 0.5, 0.7}}) {
        Control control;
        Repair search(start, {1'000'000, temperatures}, 1, 0, control, [](const Playout&) {});
        const Playout best = search.run();
        CHECK(best.actions.empty() && best.score == static_cast<double>(start.moves().size()));
        CHECK(search.trials() == 0);
    }
}

// One trial at a temperature at which nearly everything is accepted, beside all holes it may have drawn: those that only
// one hole explains say which are drawn, and how often.
TEST(morpion_repair_draws_strips_of_both_widths_in_all_directions) {
    const Rules rules(5, true, 0);
    const State start(rules);
    const auto cascade = Cascade::of(start);
    std::map<int, int> drawn;  // 0 to 3: boxes; then strips of two widths, turned
    int remade = 0, known = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        Control control;
        const Playout found = Repair(start, {1, {1e9}}, seed, 0, control, [](const Playout&) {}).run();
        Rng rng(seed, 0);
        Grid grid, trial;
        cascade->play(rng, grid);
        cascade->set(grid);
        const Placed& move = grid.moves[rng.below(static_cast<std::uint32_t>(grid.size))];
        rng.next();
        const Dot centre = {move.x, move.y};
        std::vector<std::pair<int, bool>> explained;
        for (int hole = 0; hole < 4 + 2 * 16; ++hole) {
            const auto turn = static_cast<std::uint32_t>((hole - 4) % 16);
            if (hole >= 4 && (turn & 3) == 3) continue;  // as 1: in both directions
            for (const bool remake : {false, true}) {
                Rng same = rng;
                cascade->repair(grid, hole < 4 ? box(centre, hole) : strip(centre, (hole - 4) / 16, turn), remake, same,
                                trial);
                std::vector<Action> actions;
                for (const Placed& placed : trial.played()) actions.push_back(action_of(rules, placed));
                if (std::ranges::equal(actions, found.actions)) explained.push_back({hole, remake});
            }
        }
        if (explained.size() != 1) continue;
        const auto [hole, remake] = explained[0];
        ++known;
        remade += remake;
        ++drawn[hole];
    }
    CHECK(known > 500 && drawn.size() == 4 + 2 * 12);
    CHECK(remade > known / 4 && remade < 3 * known / 4);
    const int boxes = drawn[0] + drawn[1] + drawn[2] + drawn[3];
    CHECK(boxes > known / 2 && boxes < 7 * known / 8);
}

// What the shapes contain, cell by cell.
TEST(morpion_holes) {
    const auto cells = [](const Region& region) {
        std::set<std::pair<int, int>> inside;
        for (int y = 0; y < 64; ++y) {
            for (int x = 0; x < 64; ++x) {
                if (region.contains({x, y})) inside.insert({x, y});
            }
        }
        return inside;
    };
    CHECK(cells(box({5, 7}, 0)) == (std::set<std::pair<int, int>>{{5, 7}}));
    CHECK(cells(box({5, 7}, 2)).size() == 25);
    std::set<std::set<std::pair<int, int>>> strips, wedges;
    for (std::uint32_t number = 0; number < 16; ++number) {
        const auto line = cells(strip({30, 20}, 0, number));
        strips.insert(line);
        bool straight = true;
        for (const auto& [x, y] : line) straight &= x == 30 || y == 20 || x - 30 == y - 20 || x - 30 == 20 - y;
        CHECK(straight && line.contains({30, 20}) && line.size() >= 21 && line.size() <= 64);
        const auto part = cells(wedge({30, 20}, number));
        wedges.insert(part);
        CHECK(part.contains({30, 20}) && part.size() > 400 && part.size() < 64 * 64 - 400);
    }
    CHECK(strips.size() == 12);  // along 4 directions: forwards, backwards, both
    CHECK(wedges.size() == 16);  // 8 quarters and 8 halves
}
