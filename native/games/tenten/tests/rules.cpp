#include "games/tenten/rules.hpp"

#include "tests/check.hpp"

using namespace rookery;
using namespace rookery::testing;

static const std::vector<tenten::Rules::CellList> kShapes = {
    {{0, 0}}, {{0, 0}, {0, 1}}, {{0, 0}, {1, 0}}, {{0, 0}, {0, 1}, {1, 0}}, {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}}};

TEST(tenten_random_play) {
    for (int side = 1; side <= 10; ++side) {
        for (int hand = 1; hand <= 3; ++hand) {
            const tenten::Rules rules(side, 11 - side, kShapes, {1, 2, 3, 4, 5}, hand);
            check_random_play(tenten::State(rules), 5, 300);
        }
    }
}

TEST(tenten_refuses_bad_settings) {
    const auto refused = [](int rows, const std::vector<tenten::Rules::CellList>& shapes, std::vector<int> weights) {
        try {
            tenten::Rules(rows, 3, shapes, weights, 1);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(refused(0, kShapes, {1, 1, 1, 1, 1}));
    CHECK(refused(11, kShapes, {1, 1, 1, 1, 1}));
    CHECK(refused(3, {}, {}));
    CHECK(refused(3, {{{0, 0}}}, {0}));
    CHECK(refused(3, {{{1, 0}}}, {1}));
    CHECK(refused(3, {{{0, 0}, {0, 10}}}, {1}));
    CHECK(refused(3, {{{0, 0}, {0, 0}}}, {1}));
    CHECK(!refused(3, {{{0, 0}}}, {1}));
}
