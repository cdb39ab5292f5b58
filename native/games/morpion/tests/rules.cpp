#include "games/morpion/rules.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "tests/check.hpp"
#include "games/morpion/repair.hpp"

using namespace rookery;
using namespace rookery::testing;
using morpion::Cell;
using morpion::Line;

static constexpr std::array<int, 4> kRight = {1, 0, 1, 1}, kDown = {0, 1, -1, 1};  // of the directions

TEST(morpion_random_play) {
    for (const int length : {4, 5}) {
        for (const bool touching : {false, true}) {
            for (const int board : {0, 10, 11, 16, 33, 63, 64}) {
                const morpion::Rules rules(length, touching, board);
                check_random_play(morpion::State(rules), 2);
            }
        }
    }
}

TEST(morpion_counts) {
    CHECK(count(morpion::State(morpion::Rules(5, false, 0)), 3) == 18416);
    CHECK(count(morpion::State(morpion::Rules(5, true, 0)), 3) == 18992);
    CHECK(count(morpion::State(morpion::Rules(4, false, 0)), 2) == 1480);
    CHECK(count(morpion::State(morpion::Rules(4, true, 0)), 2) == 1496);
}

// Assignment copies only what changed: after it, whatever the target was, both must go on alike.
TEST(morpion_assignment) {
    const morpion::Rules rules(5, true, 0), others(4, false, 12);
    const auto lines = [](const morpion::State& state) {
        return std::vector<Line>(state.legal_lines().begin(), state.legal_lines().end());
    };
    const auto some_moves = [](morpion::State& state, Rng& rng, std::uint32_t moves) {
        for (; moves > 0 && state.player() != kTerminal; --moves) state.apply(state.random_action(rng));
    };
    Rng rng(1);
    for (int round = 0; round < 200; ++round) {
        morpion::State source(rules), target(round % 10 ? rules : others);
        some_moves(source, rng, rng.below(60));
        some_moves(target, rng, rng.below(90));
        target = source;
        const morpion::State copy = source;
        for (morpion::State continued : {source, target, copy}) {
            Rng same(2, static_cast<std::uint64_t>(round));
            CHECK(lines(continued) == lines(source));
            some_moves(continued, same, 200);
            morpion::State expected(rules, {continued.moves().begin(), continued.moves().end()});
            CHECK(expected.key() == continued.key());
            CHECK(lines(expected) == lines(continued));
            CHECK(continued.player() == kTerminal);
        }
        source = *&source;
        CHECK(source.key() == copy.key());
    }
}

// Bytes that are written beyond the first line of a row, column or diagonal must belong to lines that leave the board.
TEST(morpion_lines_and_their_bytes) {
    for (const int side : {10, 31, 32, 33, 63, 64}) {
        const morpion::Rules rules(5, false, side);
        const auto leaves = [&](int line) {
            if (line < 0) return true;  // padding
            const auto at = static_cast<Line>(line);
            const Cell first = morpion::first_cell(at);
            return !rules.on_board(first) || !rules.on_board(morpion::step(first, morpion::direction_of(at), 4));
        };
        for (int direction = 0; direction < morpion::kDirections; ++direction) {
            for (int y = 0; y < side; ++y) {
                for (int x = 0; x < side; ++x) {
                    const Cell dot = {x, y};
                    const int line = morpion::line_at(direction, dot);
                    const Cell first = morpion::first_cell(static_cast<Line>(line));
                    CHECK(first.x == x && first.y == y && morpion::direction_of(static_cast<Line>(line)) == direction);
                    for (int back = 1; back <= 4; ++back) {
                        const Cell start = morpion::step(dot, direction, -back);
                        CHECK(rules.on_board(start) ? morpion::line_at(direction, start) == line - back
                                                    : leaves(line - back));
                    }
                }
            }
        }
        for (Action action = 0; action < rules.num_actions(); ++action) {
            const auto move = rules.move(action);
            CHECK(move.direction == action / (side * side * 5));
            CHECK(rules.action(static_cast<Line>(move.line), action % 5) == action);
        }
    }
}

// The dots of a line and the one that is drawn, moved one by one.
TEST(morpion_symmetries_move_every_dot) {
    for (const int length : {4, 5}) {
        for (const int side : {length == 5 ? 10 : 9, length == 5 ? 12 : 11}) {
            const morpion::Rules rules(length, false, side);
            CHECK(rules.centred() && !morpion::Rules(length, false, side + 1).centred());
            using Dots = std::vector<std::pair<int, int>>;  // the one that is drawn, then all in order
            const auto dots_of = [&](Action action) {
                const auto move = rules.move(action);
                Dots dots{{move.dot.x, move.dot.y}};
                for (int i = 0; i < length; ++i) {
                    const int steps = i - action % length;
                    dots.emplace_back(move.dot.x + steps * kRight[move.direction],
                                      move.dot.y + steps * kDown[move.direction]);
                }
                std::sort(dots.begin() + 1, dots.end());
                return dots;
            };
            for (Action action = 0; action < rules.num_actions(); ++action) {
                const Dots dots = dots_of(action);
                if (std::any_of(dots.begin(), dots.end(),
                                [&](auto dot) { return !rules.on_board({dot.first, dot.second}); }))
                    continue;
                for (int symmetry = 0; symmetry < 8; ++symmetry) {
                    Dots expected = dots;
                    for (auto& [x, y] : expected) {
                        if (symmetry & 1) x = side - 1 - x;
                        if (symmetry & 2) y = side - 1 - y;
                        if (symmetry & 4) std::swap(x, y);
                    }
                    std::sort(expected.begin() + 1, expected.end());
                    CHECK(dots_of(rules.transform(action, symmetry)) == expected);
                }
            }
        }
    }
}

// Plain rules on small boards, where lines soon reach all borders: as many cells in a row as a line has dots, all but one
// of them dotted, that have no segment in common with another line of the same direction, or no dot if lines may not touch.
TEST(morpion_legal_moves_on_small_boards_by_plain_rules) {
    using Point = std::pair<int, int>;
    for (const int length : {4, 5}) {
        for (const bool touching : {false, true}) {
            for (const int larger : {0, 1}) {
                const int side = 2 * length + larger;
                const morpion::Rules rules(length, touching, side);
                morpion::State state(rules);
                std::set<Point> dots;
                for (const Cell cell : rules.cross()) dots.insert({cell.x, cell.y});
                std::set<std::pair<int, Point>> taken;  // dots of lines or, if they may touch, all but the last of each
                const auto cells_of = [&](Point first, int direction, int many) {
                    std::vector<Point> cells;
                    for (int i = 0; i < many; ++i)
                        cells.push_back({first.first + i * kRight[direction], first.second + i * kDown[direction]});
                    return cells;
                };
                Rng rng(static_cast<std::uint64_t>(length));
                while (true) {
                    std::set<std::pair<std::vector<Point>, Point>> expected, found;
                    for (int y = 0; y < side; ++y) {
                        for (int x = 0; x < side; ++x) {
                            for (int direction = 0; direction < morpion::kDirections; ++direction) {
                                const auto cells = cells_of({x, y}, direction, length);
                                std::vector<Point> missing;
                                bool fits = true;
                                for (int i = 0; i < length; ++i) {
                                    const auto& [right, down] = cells[i];
                                    fits &= right >= 0 && right < side && down >= 0 && down < side;
                                    fits &= (touching && i == length - 1) || !taken.contains({direction, cells[i]});
                                    if (!dots.contains(cells[i])) missing.push_back(cells[i]);
                                }
                                if (fits && missing.size() == 1) expected.insert({cells, missing[0]});
                            }
                        }
                    }
                    std::vector<Action> actions;
                    for (Action action = 0; action < rules.num_actions(); ++action) {
                        if (!state.is_legal(action)) continue;
                        actions.push_back(action);
                        const auto move = rules.move(action);
                        const int back = action % length;
                        const Point first = {move.dot.x - back * kRight[move.direction],
                                             move.dot.y - back * kDown[move.direction]};
                        found.insert({cells_of(first, move.direction, length), {move.dot.x, move.dot.y}});
                    }
                    CHECK(found == expected);
                    if (actions.empty()) break;
                    const Action action = actions[rng.below(static_cast<std::uint32_t>(actions.size()))];
                    const auto move = rules.move(action);
                    dots.insert({move.dot.x, move.dot.y});
                    for (int i = 0; i < length - touching; ++i) {
                        const int steps = i - action % length;
                        taken.insert({move.direction,
                                      {move.dot.x + steps * kRight[move.direction],
                                       move.dot.y + steps * kDown[move.direction]}});
                    }
                    state.apply(action);
                }
                CHECK(state.player() == kTerminal);
            }
        }
    }
}

template <class Error, class Work>
static bool throws(Work&& work) {
    try {
        work();
    } catch (const Error&) {
        return true;
    }
    return false;
}

TEST(morpion_refuses_bad_settings_and_moves) {
    const auto refused = [](int length, int board) {
        return throws<std::invalid_argument>([&] { morpion::Rules(length, false, board); });
    };
    CHECK(refused(3, 0) && refused(6, 0) && refused(5, 9) && refused(4, 7) && refused(5, 65) && refused(5, -1));
    CHECK(!refused(5, 10) && !refused(4, 8) && !refused(5, 64) && !refused(4, 0));
    const morpion::Rules rules(5, false, 0);
    for (const Action action : {-1, 0, 17, rules.num_actions() - 1, rules.num_actions()}) {
        CHECK(throws<std::invalid_argument>([&] { morpion::State(rules, {action}); }));
    }
}

TEST(morpion_says_when_a_game_leaves_the_kept_grid) {
    const morpion::Rules unlimited(5, true, 0), board(5, true, 64);
    const auto left = [](const morpion::Rules& rules, Cell dot) {
        return throws<std::length_error>([&] { rules.check_on_grid(dot); });
    };
    for (const int edge : {0, 3, 60, 63}) {
        CHECK(left(unlimited, {edge, 30}) && left(unlimited, {30, edge}));
        CHECK(!left(board, {edge, 30}) && !left(board, {30, edge}));
    }
    CHECK(!left(unlimited, {4, 59}) && !left(unlimited, {59, 4}));
}

TEST(morpion_searches_give_finished_games) {
    for (const int length : {4, 5}) {
        for (const bool touching : {false, true}) {
            const morpion::Rules rules(length, touching, 0);
            const morpion::State start(rules);
            Control control;
            double heard = 0;
            const OnBest hear = [&](const Playout& game) { heard = game.score; };
            const auto check = [&](const Playout& game) {
                const morpion::State end(rules, game.actions);  // throws at an illegal move
                CHECK(end.player() == kTerminal && end.returns()[0] == game.score && heard == game.score);
            };
            check(morpion::Repair(start, {500, {0.5}}, 1, 0, control, hear).run());
            check(morpion::Repair(start, {500, {0.3, 0.5, 0.7}}, 1, 0, control, hear).run());
            check(Nrpa<morpion::State>(start, {2, 10, 1.0, 1}, 1, 0, control, hear).run());
            check(Nrpa<morpion::State>(start, {2, 10, 1.0, 3}, 1, 0, control, hear).run());
            check(Nmcs<morpion::State>(start, 1, 0, control, hear).run(1));
            CHECK(control.done.load() > 500 + 100 + 100);
        }
    }
}

// More than one round: the grids share the trials of the search.
TEST(morpion_repair_makes_as_many_trials_as_it_is_told_to) {
    const morpion::Rules rules(4, false, 0);
    morpion::State start(rules);
    Rng rng(1);
    for (int i = 0; i < 15; ++i) start.apply(start.random_action(rng));
    // One grid at a temperature: 800'000 trials make two rounds of halving.
    for (const auto& [trials, temperatures] : {std::pair{800'001, std::vector{0.5}}, {100'001, {0.3, 0.5}}}) {
        Control control;
        morpion::Repair search(start, {trials, temperatures}, 1, 0, control, [](const Playout&) {});
        CHECK(search.run().score > 15);
        CHECK(search.trials() == trials && control.done.load() == trials);
    }
}
