#include "games/_2048/rules.hpp"

#include <cmath>

#include "tests/check.hpp"

using namespace rookery;
using namespace rookery::testing;

TEST(random_play_of_2048) {
    for (int rows = 2; rows <= 4; ++rows) {
        for (int columns = 2; columns <= 4; ++columns) {
            const _2048::Rules rules(rows, columns);
            check_random_play(_2048::State(rules), 10, 400);
        }
    }
}

// Any boards, also such as no game leads to.
TEST(the_moves_of_2048_are_those_that_change_the_board) {
    Rng rng(1);
    for (int rows = 2; rows <= 4; ++rows) {
        for (int columns = 2; columns <= 4; ++columns) {
            const _2048::Rules rules(rows, columns);
            for (int i = 0; i < 2000; ++i) {
                std::vector<int> cells(rules.cells());
                const int kinds = 2 + i % 3, lowest = i % 2 ? rules.most_cell() - kinds + 1 : 0;
                for (int& cell : cells) cell = lowest + static_cast<int>(rng.below(kinds));
                if (*std::max_element(cells.begin(), cells.end()) == 0) continue;
                const _2048::State state(rules, cells, 0);
                std::vector<std::uint8_t> seen(rules.cells());
                state.cells(seen.data());
                CHECK(std::equal(seen.begin(), seen.end(), cells.begin(), cells.end()));
                for (Action direction = 0; direction < _2048::kDirections; ++direction) {
                    std::uint32_t reward;
                    const _2048::Board after = rules.slid(state.board(), direction, reward);
                    CHECK((after != state.board()) == is_legal(state, direction));
                }
            }
        }
    }
}

TEST(images_of_a_2048_board_have_one_canonical_form) {
    const _2048::Rules rules(3, 3), wide(2, 3);
    const auto form = [](const _2048::Rules& r, const std::vector<int>& cells) {
        return r.canonical(_2048::State(r, cells, 0).board());
    };
    const std::vector<std::vector<int>> images = {{1, 2, 3, 0, 4, 0, 5, 0, 0}, {3, 2, 1, 0, 4, 0, 0, 0, 5},
                                                  {5, 0, 0, 0, 4, 0, 1, 2, 3}, {0, 0, 5, 0, 4, 0, 3, 2, 1},
                                                  {1, 0, 5, 2, 4, 0, 3, 0, 0}, {3, 0, 0, 2, 4, 0, 1, 0, 5},
                                                  {5, 0, 1, 0, 4, 2, 0, 0, 3}, {0, 0, 3, 0, 4, 2, 5, 0, 1}};
    for (const auto& image : images) CHECK(form(rules, image) == form(rules, images[0]));
    CHECK(form(rules, {1, 2, 3, 0, 4, 0, 0, 5, 0}) != form(rules, images[0]));
    CHECK(form(wide, {1, 2, 3, 4, 0, 0}) == form(wide, {0, 0, 4, 3, 2, 1}));
    CHECK(form(wide, {1, 2, 3, 4, 0, 0}) != form(wide, {1, 2, 3, 0, 4, 0}));
}

TEST(bad_boards_of_2048_are_refused) {
    const _2048::Rules rules(2, 2);
    const auto refused = [&](const std::vector<int>& cells, int due) {
        try {
            _2048::State(rules, cells, due);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(refused({1, 1, 1}, 0));
    CHECK(refused({6, 0, 0, 0}, 0));
    CHECK(refused({-1, 0, 0, 0}, 0));
    CHECK(refused({0, 0, 0, 0}, 0));
    CHECK(refused({1, 0, 0, 0}, 2));
    CHECK(refused({1, 2, 1, 2}, 1));
    CHECK(!refused({1, 2, 1, 2}, 0));
    CHECK(!refused({0, 0, 0, 0}, 2));
}

// Slides the tiles of a line, first cell first, as the rules say it: close up, then merge equal neighbours once.
static std::vector<int> slid_line(const std::vector<int>& line, int most, std::uint32_t& reward) {
    std::vector<int> tiles, after;
    for (const int cell : line) {
        if (cell) tiles.push_back(cell);
    }
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        const bool merges = i + 1 < tiles.size() && tiles[i] == tiles[i + 1] && tiles[i] < most;
        after.push_back(merges ? tiles[i] + 1 : tiles[i]);
        if (merges) reward += 1u << after.back(), ++i;
    }
    after.resize(line.size());
    return after;
}

TEST(boards_of_2048_slide_line_by_line) {
    Rng rng(4);
    for (int rows = 2; rows <= 4; ++rows) {
        for (int columns = 2; columns <= 4; ++columns) {
            const _2048::Rules rules(rows, columns);
            // Fours on all cells but one, and a last four: the tiles go up in steps.
            CHECK(rules.most_cell() == std::min(15, rows * columns + 1));
            for (int i = 0; i < 1000; ++i) {
                std::vector<int> cells(rules.cells());
                const int kinds = 2 + i % 4, lowest = i % 2 ? rules.most_cell() - kinds + 1 : 0;
                for (int& cell : cells) cell = rng.below(4) ? lowest + static_cast<int>(rng.below(kinds)) : 0;
                if (*std::max_element(cells.begin(), cells.end()) == 0) continue;
                const _2048::State state(rules, cells, 0);
                ActionList legal;
                state.legal_actions(legal);
                for (Action direction = 0; direction < 4; ++direction) {
                    const bool along_rows = direction == _2048::kLeft || direction == _2048::kRight;
                    const bool backwards = direction == _2048::kRight || direction == _2048::kDown;
                    std::vector<int> expected = cells;
                    std::uint32_t reward = 0;
                    for (int line = 0; line < (along_rows ? rows : columns); ++line) {
                        std::vector<int> places;
                        for (int j = 0; j < (along_rows ? columns : rows); ++j) {
                            places.push_back(along_rows ? line * columns + j : j * columns + line);
                        }
                        if (backwards) std::reverse(places.begin(), places.end());
                        std::vector<int> tiles;
                        for (const int place : places) tiles.push_back(cells[place]);
                        tiles = slid_line(tiles, rules.most_cell(), reward);
                        for (std::size_t j = 0; j < places.size(); ++j) expected[places[j]] = tiles[j];
                    }
                    CHECK((expected != cells) == (std::find(legal.begin(), legal.end(), direction) != legal.end()));
                    if (expected == cells) continue;
                    _2048::State next = state;
                    next.apply(direction);
                    CHECK(next.score() == reward && next.returns()[0] == reward && next.player() == kChance);
                    CHECK(next.board() == _2048::State(rules, expected, 1).board() && next.due() == 1);
                    // A new tile comes on every empty cell alike, a 2 nine times of ten.
                    ChanceList outcomes;
                    next.chance_outcomes(outcomes);
                    const auto empty = std::count(expected.begin(), expected.end(), 0);
                    CHECK(static_cast<std::int64_t>(outcomes.size()) == 2 * empty);
                    for (const auto& [outcome, probability] : outcomes) {
                        CHECK(std::abs(probability * static_cast<double>(empty) - (outcome % 2 ? 0.1 : 0.9)) < 1e-12);
                        std::vector<int> filled = expected;
                        CHECK(filled[outcome / 2] == 0);
                        filled[outcome / 2] = 1 + outcome % 2;
                        _2048::State after = next;
                        after.apply(outcome);
                        CHECK(after.key() == _2048::State(rules, filled, 0).key());
                    }
                }
                const auto planes = observed<float>(state);
                for (int e = 0; e <= rules.most_cell(); ++e) {
                    for (int cell = 0; cell < rules.cells(); ++cell) {
                        CHECK(planes[e * rules.cells() + cell] == (cells[cell] == e));
                    }
                }
            }
        }
    }
}

TEST(new_tiles_of_2048_come_as_often_as_they_should) {
    const _2048::Rules rules(2, 3);
    const _2048::State state(rules, {1, 0, 2, 0, 0, 1}, 1);
    ChanceList outcomes;
    state.chance_outcomes(outcomes);
    std::vector<int> drawn(12);
    Rng rng(6);
    constexpr int kDraws = 60'000;
    for (int i = 0; i < kDraws; ++i) ++drawn[state.sample_chance(rng)];
    int found = 0;
    for (const auto& [outcome, probability] : outcomes) {
        CHECK(std::abs(drawn[outcome] - kDraws * probability) < 5 * std::sqrt(kDraws * probability));
        found += drawn[outcome];
    }
    CHECK(found == kDraws && outcomes.size() == 6);
    CHECK(_2048::State(rules).due() == 2 && _2048::State(rules).player() == kChance);
}
