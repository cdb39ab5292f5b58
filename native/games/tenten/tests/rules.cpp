#include "games/tenten/rules.hpp"

#include <cmath>
#include <tuple>

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

// Plays beside a board of cells, looked at one by one.
TEST(tenten_plays_as_cells_do) {
    for (const auto& [rows, columns, hand] : {std::tuple(4, 5, 1), {10, 10, 3}, {3, 3, 2}, {6, 2, 3}, {2, 7, 1}}) {
        const std::vector<int> weights = {1, 2, 3, 4, 5};
        const tenten::Rules rules(rows, columns, kShapes, weights, hand);
        const auto fits = [&](const std::vector<int>& cells, int piece, int at) {
            for (const auto& [row, column] : kShapes[piece]) {
                const int r = at / columns + row, c = at % columns + column;
                if (r >= rows || c >= columns || cells[r * columns + c]) return false;
            }
            return true;
        };
        for (std::uint64_t game = 0; game < 20; ++game) {
            Rng rng(8, game);
            tenten::State state(rules);
            std::vector<int> cells(rows * columns), slots;
            std::int64_t score = 0, rounds = 0;
            for (int ply = 0; ply < 400; ++ply) {
                const auto planes = observed<float>(state);
                for (int cell = 0; cell < rules.cells(); ++cell) {
                    CHECK(planes[cell] == cells[cell] && (state.board() >> cell & 1) == Bits128(cells[cell]));
                    for (int slot = 0; slot < hand; ++slot) {
                        const int piece = slot < static_cast<int>(slots.size()) ? slots[slot] : -1;
                        bool shown = false;  // in the corner, unless it is larger than the board
                        if (piece >= 0 && fits(std::vector<int>(rules.cells()), piece, 0)) {
                            for (const auto& [r, c] : kShapes[piece]) shown |= r * columns + c == cell;
                        }
                        CHECK(planes[(1 + slot) * rules.cells() + cell] == shown);
                    }
                }
                CHECK(state.score() == score && state.returns()[0] == static_cast<double>(score));
                CHECK(state.rounds() == rounds && state.drawn() == static_cast<int>(slots.size()));
                if (static_cast<int>(slots.size()) < hand) {
                    CHECK(state.player() == kChance);
                    ChanceList outcomes;
                    state.chance_outcomes(outcomes);
                    CHECK(outcomes.size() == weights.size());
                    for (const auto& [piece, probability] : outcomes) {
                        CHECK(std::abs(probability - weights[piece] / 15.0) < 1e-12);
                    }
                    slots.push_back(sample_chance(state, rng));
                    state.apply(slots.back());
                    continue;
                }
                ActionList expected, found;
                for (int slot = 0; slot < hand; ++slot) {
                    CHECK(state.hand_piece(slot) == slots[slot]);
                    for (int cell = 0; cell < rules.cells() && slots[slot] >= 0; ++cell) {
                        if (fits(cells, slots[slot], cell)) expected.push_back(slot * rules.cells() + cell);
                    }
                }
                state.legal_actions(found);
                CHECK(found == expected && (state.player() == kTerminal) == expected.empty());
                if (expected.empty()) break;
                const Action action = expected[rng.below(static_cast<std::uint32_t>(expected.size()))];
                const int slot = action / rules.cells(), at = action % rules.cells();
                state.apply(action);
                for (const auto& [r, c] : kShapes[slots[slot]])
                    cells[(at / columns + r) * columns + at % columns + c] = 1;
                std::vector<int> after = cells;
                int lines = 0;
                for (int r = 0; r < rows; ++r) {
                    const auto row = cells.begin() + r * columns;
                    if (std::count(row, row + columns, 1) < columns) continue;
                    std::fill_n(after.begin() + r * columns, columns, 0);
                    ++lines;
                }
                for (int c = 0; c < columns; ++c) {
                    int full = 0;
                    for (int r = 0; r < rows; ++r) full += cells[r * columns + c];
                    if (full < rows) continue;
                    for (int r = 0; r < rows; ++r) after[r * columns + c] = 0;
                    ++lines;
                }
                cells = after;
                // One point per cell of the piece; lines earn 10, 30, 60, ... at once.
                score += static_cast<std::int64_t>(kShapes[slots[slot]].size());
                for (int line = 1; line <= lines; ++line) score += 10 * line;
                ++rounds;
                slots[slot] = -1;
                if (std::count(slots.begin(), slots.end(), -1) == hand) slots.clear();
            }
        }
    }
}

TEST(tenten_refuses_positions_that_cannot_be) {
    const tenten::Rules rules(2, 3, kShapes, {1, 1, 1, 1, 1}, 2);
    const auto refused = [&](tenten::Board board, const std::vector<int>& hand, int drawn) {
        try {
            tenten::State(rules, board, hand, drawn);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(!refused(0b001'110, {0, 4}, 2) && !refused(0, {-1, 3}, 2) && !refused(0, {2, -1}, 1));
    CHECK(refused(0b1'000'000, {0, 1}, 2));
    CHECK(refused(0b111'000, {0, 1}, 2) && refused(0b100'100, {0, 1}, 2));  // a full row, a full column
    CHECK(refused(0, {0}, 2) && refused(0, {0, 0}, 3) && refused(0, {-1, -1}, -1));
    CHECK(refused(0, {0, 5}, 2) && refused(0, {-2, 1}, 2) && refused(0, {-1, -1}, 2));
    CHECK(refused(0, {-1, 1}, 1) && refused(0, {1, 1}, 1) && !refused(0, {-1, -1}, 0));
    const tenten::State some(rules, 0b001'110, {0, -1}, 2);
    CHECK(some.player() == 0 && some.hand_piece(1) == -1);
    const auto allowed = [](int columns, std::vector<int> weights, int hand) {
        try {
            tenten::Rules(3, columns, kShapes, weights, hand);
        } catch (const std::invalid_argument&) {
            return false;
        }
        return true;
    };
    const std::vector<int> ones(5, 1);
    CHECK(allowed(10, ones, 3) && !allowed(0, ones, 1) && !allowed(11, ones, 1));
    CHECK(!allowed(3, ones, 0) && !allowed(3, ones, 4) && !allowed(3, {1, 1, 1, 1}, 1));
    CHECK(allowed(3, {4092, 1, 1, 1, 1}, 1) && !allowed(3, {4093, 1, 1, 1, 1}, 1) && !allowed(3, {1, 0, 1, 1, 1}, 1));
}
