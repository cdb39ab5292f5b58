#include "games/_2048/layers.hpp"

#include <cmath>
#include <map>
#include <set>

#include "tests/check.hpp"

using namespace rookery;

namespace {

// By recursion over every position, without symmetries.
double worth(const _2048::State& state, std::map<std::string, double>& known) {
    if (state.player() == kTerminal) return 0;
    const auto [at, is_new] = known.try_emplace(state.key(), 0);
    if (!is_new) return at->second;
    ActionList actions;
    ChanceList outcomes;
    double value = 0;
    if (state.player() == kChance) {
        state.chance_outcomes(outcomes);
        for (const auto& [outcome, probability] : outcomes) {
            _2048::State after = state;
            after.apply(outcome);
            value += probability * worth(after, known);
        }
    } else {
        state.legal_actions(actions);
        for (const Action action : actions) {
            _2048::State after = state;
            const double reward = apply_for_rewards(after, action)[0];
            value = std::max(value, reward + worth(after, known));
        }
    }
    return at->second = value;
}

}  // namespace

TEST(layers_of_2048_have_the_values_of_a_recursion) {
    for (const int threads : {1, 2}) {
        const _2048::Rules rules(2, 3);
        Control control;
        const _2048::Layers layers(_2048::State(rules), 1'000'000, 1'000'000'000, threads, control);
        std::map<std::string, double> known;
        const double expected = worth(_2048::State(rules), known);
        CHECK(std::abs(*layers.value(_2048::State(rules)) - expected) < 1e-9);
        CHECK(layers.keys().size() == 21752);
        CHECK(control.done == 21752);
    }
}

// The keys leave out the last of nine cells.
TEST(layers_of_2048_end_on_nine_cells) {
    const _2048::Rules rules(3, 3);
    const _2048::State start(rules, {1, 2, 3, 4, 5, 6, 7, 1, 1}, 0);
    Control control;
    const _2048::Layers layers(start, 1'000'000, 1'000'000'000, 2, control);
    std::map<std::string, double> known;
    CHECK(std::abs(*layers.value(start) - worth(start, known)) < 1e-9);
    CHECK(!layers.value(_2048::State(rules)));
}

TEST(layers_of_2048_refuse_what_does_not_fit) {
    const auto refused = [](int side, std::int64_t positions, std::int64_t bytes) {
        try {
            const _2048::Rules rules(side, side);
            Control control;
            _2048::Layers(_2048::State(rules), positions, bytes, 1, control);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(refused(3, 10'000, 1'000'000'000));
    CHECK(refused(3, 1'000'000'000, 100'000));
    CHECK(refused(4, 1'000'000'000, 1'000'000'000));
    CHECK(!refused(2, 110, 2'000));
}

// Every position of a small board, images counted once, by walking from board to board.
TEST(layers_of_2048_count_positions_and_steps) {
    for (const auto& [rows, columns] : {std::pair(2, 2), {2, 3}}) {
        const _2048::Rules rules(rows, columns);
        const auto form = [&](const std::vector<int>& cells) {  // the least image, by its cells
            std::vector<std::vector<int>> images;
            for (int turn = 0; turn < 8; ++turn) {
                if ((turn & 4) && rows != columns) continue;
                std::vector<int> image(cells.size());
                for (int r = 0; r < rows; ++r) {
                    for (int c = 0; c < columns; ++c) {
                        const int y = turn & 1 ? rows - 1 - r : r, x = turn & 2 ? columns - 1 - c : c;
                        image[turn & 4 ? x * columns + y : y * columns + x] = cells[r * columns + c];
                    }
                }
                images.push_back(image);
            }
            return *std::min_element(images.begin(), images.end());
        };
        const auto cells_of = [&](const _2048::State& state) {
            std::vector<std::uint8_t> cells(rules.cells());
            state.cells(cells.data());
            return std::vector<int>(cells.begin(), cells.end());
        };
        std::set<std::vector<int>> kept, chances;
        std::vector<_2048::State> open;
        std::int64_t ends = 0, moves = 0;
        for (int tile = 1; tile <= 2; ++tile) {
            for (int cell = 0; cell < rules.cells(); ++cell) {
                std::vector<int> cells(rules.cells());
                cells[cell] = tile;
                if (chances.insert(form(cells)).second) open.emplace_back(rules, cells, 1);
            }
        }
        while (!open.empty()) {
            const _2048::State state = open.back();
            open.pop_back();
            ActionList actions;
            ChanceList outcomes;
            state.legal_actions(actions);
            if (state.player() == kChance) state.chance_outcomes(outcomes);
            for (const auto& outcome : outcomes) actions.push_back(outcome.first);
            moves += static_cast<std::int64_t>(actions.size());
            ends += actions.empty();
            for (const Action action : actions) {
                _2048::State next = state;
                next.apply(action);
                if ((next.due() ? chances : kept).insert(form(cells_of(next))).second) open.push_back(next);
            }
        }
        Control control;
        const _2048::Layers layers(_2048::State(rules), 1'000'000, 1'000'000'000, 1, control);
        CHECK(layers.keys().size() == kept.size() && layers.values().size() == kept.size());
        CHECK(layers.counts().chances == static_cast<std::int64_t>(chances.size()));
        CHECK(layers.counts().ends == ends && layers.counts().moves == moves);
    }
}

TEST(layers_of_2048_are_kept_and_damaged_ones_refused) {
    const _2048::Rules rules(2, 2);
    Control control;
    const _2048::State start(rules), later(rules, {1, 0, 0, 1}, 0), one(rules, {0, 1, 0, 0}, 1);
    const _2048::Layers layers(start, 1'000'000, 1'000'000'000, 1, control);
    using Firsts = std::vector<std::uint64_t>;
    using Keys = std::vector<_2048::Layers::Key>;
    const auto made = [&](Firsts first, Keys keys, std::vector<double> values) {
        return _2048::Layers(rules, layers.first_sum(), first, keys, values, layers.counts());
    };
    const _2048::Layers again = made(layers.first(), layers.keys(), layers.values());
    std::map<std::string, double> known;
    for (const auto& state : {start, later, one}) {
        CHECK(*again.value(state) == *layers.value(state) &&
              std::abs(*again.value(state) - worth(state, known)) < 1e-9);
    }
    const auto refused = [&](auto&& damage) {
        Firsts first = layers.first();
        Keys keys = layers.keys();
        std::vector<double> values = layers.values();
        damage(first, keys, values);
        try {
            made(first, keys, values);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    std::size_t wide = 0;  // the first position of a layer that has several
    for (std::size_t i = 0; wide == 0; ++i) {
        if (layers.first()[i + 1] > layers.first()[i] + 1) wide = layers.first()[i];
    }
    CHECK(!refused([](auto&, auto&, auto&) {}));
    CHECK(refused([](auto&, auto&, auto& values) { values.pop_back(); }));
    CHECK(refused([](auto& first, auto&, auto&) { first.clear(); }));
    CHECK(refused([](auto& first, auto&, auto&) { first.front() = 1; }));
    CHECK(refused([](auto& first, auto&, auto&) { ++first.back(); }));
    CHECK(refused([](auto& first, auto&, auto&) { std::swap(first.front(), first.back()); }));
    CHECK(refused([](auto& first, auto&, auto&) { first[first.size() / 2] = first.back() + 1; }));
    CHECK(refused([&](auto&, auto& keys, auto&) { std::swap(keys[wide], keys[wide + 1]); }));
    CHECK(refused([&](auto&, auto& keys, auto&) { keys[wide + 1] = keys[wide]; }));
    const auto first_layer_refused = [&](Keys keys) {
        try {
            made({0, 2}, keys, {1, 1});
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(!first_layer_refused({1, 2}) && first_layer_refused({2, 1}) && first_layer_refused({1, 1}));
    const _2048::Rules large(4, 4);
    bool too_large = false;
    try {
        _2048::Layers(large, 1, {0}, {}, {}, {});
    } catch (const std::invalid_argument&) {
        too_large = true;
    }
    CHECK(too_large);
}
