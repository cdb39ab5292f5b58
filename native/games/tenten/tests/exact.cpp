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

// After many sweeps the values satisfy their equation, board by board.
template <class T>
static void check_equation(int rows, int columns, double tolerance) {
    const tenten::Rules rules = seven(rows, columns);
    tenten::Rewards rewards;
    rewards.constant = 0.25;
    rewards.moves = 0.5;
    for (int lines = 0; lines <= 20; ++lines) rewards.lines[lines] = lines * lines;
    const double discount = 0.8, scale = 2.0;
    const std::size_t boards = std::size_t(1) << rules.cells();
    std::vector<T> values(boards);
    tenten::Change change;
    for (int i = 0; i < 90; ++i) {
        Control control;
        const std::vector<T> before = values;
        change = tenten::sweep(rules, values.data(), rewards, discount, scale, 1, control);
        CHECK(control.done == static_cast<std::int64_t>(boards));
        double lowest = 1e9, highest = -1e9;  // over the boards with full lines
        for (std::size_t board = 0; board < boards && i < 3; ++board) {
            int lines = 0;
            if (rules.clear_lines(board, lines) == board) continue;
            const double changed = static_cast<double>(values[board]) - static_cast<double>(before[board]);
            lowest = std::min(lowest, changed);
            highest = std::max(highest, changed);
        }
        if (i < 3) CHECK(change.lowest == lowest && change.highest == highest);
    }
    CHECK(change.highest < tolerance && change.lowest > -tolerance);
    for (std::size_t board = 0; board < boards; ++board) {
        int lines = 0;
        const auto cleared = static_cast<std::size_t>(rules.clear_lines(board, lines));
        double expected = scale * rewards.lines[lines] + static_cast<double>(values[cleared]);
        if (lines == 0) {
            expected = scale * rewards.constant;
            for (std::size_t piece = 0; piece < rules.pieces().size(); ++piece) {
                double best = 0;
                auto places = rules.placements(board, static_cast<int>(piece));
                const double chance = rules.probabilities()[piece];
                expected += chance * scale * rewards.moves * popcount(places);
                for (; places; places &= places - 1) {
                    const auto after = tenten::Board(board) | rules.pieces()[piece].cells << lowest_bit(places);
                    best = std::max(best, static_cast<double>(values[static_cast<std::size_t>(after)]));
                }
                expected += chance * discount * best;
            }
        }
        CHECK(std::abs(static_cast<double>(values[board]) - expected) < tolerance);
    }
}

TEST(tenten_sweeps_end_at_values_that_satisfy_their_equation) {
    for (const auto& [rows, columns] : {std::pair(3, 4), {2, 3}, {5, 2}, {1, 5}}) {
        check_equation<double>(rows, columns, 1e-6);
        check_equation<float>(rows, columns, 1e-3);
    }
    const auto refused = [](int rows, int columns, int hand) {
        try {
            tenten::SmallRules(tenten::Rules(rows, columns, {{{0, 0}}}, {1}, hand));
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(refused(1, 2, 1) && !refused(1, 3, 1) && !refused(4, 8, 1) && refused(5, 7, 1) && refused(2, 2, 2));
    const tenten::SmallRules small(seven(2, 3));
    CHECK(small.total_weight() == 10 && small.cells() == 6 && small.boards() == 64);
    CHECK(small.pieces()[0].weight == 2 && small.pieces()[6].weight == 1 && small.pieces()[3].size == 3);
}
