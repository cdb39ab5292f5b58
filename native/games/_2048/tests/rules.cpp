#include "games/_2048/rules.hpp"

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
