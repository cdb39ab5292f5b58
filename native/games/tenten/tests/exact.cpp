#include "games/tenten/policy.hpp"

#include "tests/check.hpp"

using namespace rookery;
using namespace rookery::testing;

// The seven pieces of the paper.
static tenten::Rules seven(int rows, int columns) {
    return tenten::Rules(rows, columns,
                         {{{0, 0}},
                          {{0, 0}, {0, 1}},
                          {{0, 0}, {1, 0}},
                          {{0, 0}, {0, 1}, {1, 0}},
                          {{0, 0}, {0, 1}, {1, 1}},
                          {{0, 0}, {1, 0}, {1, 1}},
                          {{0, 1}, {1, 0}, {1, 1}}},
                         {2, 2, 2, 1, 1, 1, 1}, 1);
}

TEST(tenten_small_rules_agree_with_the_game) {
    const tenten::Rules rules = seven(3, 4);
    const tenten::SmallRules small(rules);
    for (std::uint64_t board = 0; board < small.boards(); ++board) {
        int lines = 0, small_lines = 0;
        const auto cleared = rules.clear_lines(board, lines);
        CHECK(small.clear(static_cast<tenten::SmallBoard>(board), small_lines) == cleared);
        CHECK(lines == small_lines);
        for (std::size_t piece = 0; piece < rules.pieces().size(); ++piece) {
            CHECK(small.placements(small.pieces()[piece], static_cast<tenten::SmallBoard>(board)) ==
                  rules.placements(board, static_cast<int>(piece)));
        }
    }
}

template <class T>
static void check_sweeps() {
    const tenten::Rules rules = seven(3, 6);
    tenten::Rewards rewards;
    rewards.moves = 1;
    for (int lines = 0; lines <= 20; ++lines) rewards.lines[lines] = lines * lines;
    std::vector<T> one((1 << 18) + 1), two(one);
    Control control;
    for (int i = 0; i < 2; ++i) {
        tenten::sweep(rules, one.data(), rewards, 0.9, 1.0, 1, control);
        tenten::sweep(rules, two.data() + 1, rewards, 0.9, 1.0, 3, control);
    }
    CHECK(std::equal(one.begin(), one.end() - 1, two.begin() + 1));
    CHECK(one[0] > 1);
}

TEST(tenten_sweeps_do_not_depend_on_address_and_threads) {
    check_sweeps<float>();
    check_sweeps<double>();
}

TEST(tenten_policy_is_played_as_evaluated) {
    const tenten::Rules rules = seven(2, 3);
    std::vector<double> table(64), draws(64, 1.0);
    for (int i = 0; i < 64; ++i) table[i] = -i;
    const tenten::TablePolicy<double> policy{{table.data(), draws.data()}, 1e-12};
    Control control;
    const auto next = tenten::successors(rules, policy, control);
    CHECK(!tenten::endless(rules, next, 1, control));
    tenten::Rewards rewards;
    rewards.constant = 1;
    for (int i = 0; i < 300; ++i) tenten::evaluation_sweep(rules, next, draws.data(), rewards, 1.0, 1, control);
    // The second table is now the value itself; evaluate the first alone.
    const tenten::TablePolicy<double> first{{table.data()}, 1e-12};
    const auto alone = tenten::successors(rules, first, control);
    std::vector<double> values(64, 1.0);
    for (int i = 0; i < 300; ++i) tenten::evaluation_sweep(rules, alone, values.data(), rewards, 1.0, 1, control);
    std::vector<std::int64_t> rounds(20'000), scores(20'000);
    tenten::play_policy(rules, first, 7, 1'000'000, 2, std::span(rounds), std::span(scores), control);
    double mean = 0;
    for (const auto r : rounds) mean += static_cast<double>(r) / 20'000;
    CHECK(std::abs(mean - (values[0] - 1)) < 0.05 * mean);
}
