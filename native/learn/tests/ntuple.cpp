#include "learn/ntuple.hpp"

#include <map>

#include "tests/check.hpp"

namespace rookery {
namespace {

// A walk on a line of cells from the middle; it is over at either end, and the right end earns 1.
struct Walk {
    struct Rules {
        int length;
        int players() const { return 1; }
        Action num_actions() const { return 2; }
        Shape observation_shape() const { return {1, 1, length}; }
    };
    const Rules* rules_;
    int at;
    explicit Walk(const Rules& rules) : rules_(&rules), at(rules.length / 2) {}
    const Rules& rules() const { return *rules_; }
    int player() const { return at == 0 || at == rules_->length - 1 ? kTerminal : 0; }
    void legal_actions(ActionList& actions) const { actions.insert(actions.end(), {0, 1}); }
    void apply(Action action) { at += action == 1 ? 1 : -1; }
    Returns returns() const { return {at == 0 ? 0.0 : 1.0, 0.0}; }
    std::string key() const { return std::to_string(at); }
    void observe(float* planes) const {
        for (int i = 0; i < rules_->length; ++i) planes[i] = i == at ? 1.0f : 0.0f;
    }
};

std::vector<int> cells_from(int first, int count) {
    std::vector<int> cells;
    for (int i = 0; i < count; ++i) cells.push_back(first + i);
    return cells;
}

// The place of every tuple's weight, cell by cell.
TEST(tuples_are_found_cell_by_cell) {
    Rng rng(3);
    for (const auto& [cells, bits] : {std::pair(16, 4), std::pair(9, 3), std::pair(25, 2), std::pair(12, 5)}) {
        std::vector<int> turned = cells_from(0, cells);
        std::reverse(turned.begin(), turned.end());
        const std::vector<std::vector<int>> symmetries = {cells_from(0, cells), turned};
        const std::vector<std::vector<int>> tuples = {{0, 2, cells - 1}, {1, 3}};
        const TupleNet net(cells, bits, 2, tuples, symmetries, false, 0.0, 20);
        CHECK(net.lookups() == 4);
        const std::size_t first = std::size_t(1) << (3 * bits), second = std::size_t(1) << (2 * bits);
        CHECK(net.weights() == 2 * (first + second));
        std::vector<std::uint8_t> content(static_cast<std::size_t>(cells));
        for (auto& cell : content) cell = static_cast<std::uint8_t>(rng.below(1u << bits));
        for (int side = 0; side < 2; ++side) {
            std::vector<TupleNet::Index> found(net.lookups());
            net.find(content.data(), side, found.data());
            std::size_t number = 0;
            for (const auto& symmetry : symmetries) {
                for (std::size_t t = 0; t < 2; ++t) {
                    std::size_t index = (first + second) * static_cast<std::size_t>(side) + (t ? first : 0);
                    for (std::size_t i = 0; i < tuples[t].size(); ++i) {
                        index += static_cast<std::size_t>(content[symmetry[tuples[t][i]]]) << (bits * i);
                    }
                    CHECK(found[number++] == index);
                }
            }
        }
    }
}

TEST(large_tuples_are_hashed_into_their_table) {
    for (const int cells : {16, 20}) {
        const TupleNet net(cells, 3, 1, {cells_from(0, cells)}, {cells_from(0, cells)}, true, 0.0, 10);
        CHECK(net.weights() == 1024);
        std::set<TupleNet::Index> met;
        for (int i = 0; i < 200; ++i) {
            std::vector<std::uint8_t> content(static_cast<std::size_t>(cells));
            content[i % cells] = static_cast<std::uint8_t>(1 + i % 7);
            content[i / 13] = 3;
            TupleNet::Index found = 0;
            net.find(content.data(), 0, &found);
            CHECK(found < 1024);
            met.insert(found);
        }
        CHECK(met.size() > 100);
    }
}

// Several threads share the weights, and all find the way to the right.
TEST(threads_learn_together) {
    const Walk::Rules rules{9};
    for (const int threads : {1, 4}) {
        TupleNet net(9, 1, 1, {cells_from(0, 9)}, {cells_from(0, 9)}, true, 1.0, 9);
        CellView view{{0}, {{1, 1}}, 1};
        const TupleSettings settings{1.0, 0.9, 0.5, 3, 0.5, 0.1, false};
        const std::vector<Walk> starts{Walk(rules)};
        Control control;
        const auto played = learn_tuples<Walk>(net, view, settings, starts, 0, 400, 400, 1, threads, 0.0, control);
        CHECK(played.games == 400);
        CHECK(control.done == 400);
        CHECK(played.results[0] + played.results[1] == 400);
        TupleLearner<Walk> learner(net, view, settings);
        for (int at = 1; at < 8; ++at) {
            Walk walk(rules);
            walk.at = at;
            const auto values = learner.values(walk, 0);
            CHECK(values[1] > values[0]);
            CHECK(std::abs(values[1] - std::pow(0.9, 7 - at)) < 0.02);
        }
    }
}

// Positions have one key with their images, and another than all others; what is remembered is recalled.
TEST(positions_are_remembered_up_to_symmetry) {
    for (const auto& [cells, bits] : {std::pair(9, 4), std::pair(25, 2), std::pair(12, 5)}) {
        std::vector<int> turned = cells_from(0, cells);
        std::reverse(turned.begin(), turned.end());
        TupleNet net(cells, bits, 1, {{0, 1}}, {cells_from(0, cells), turned}, false, 0.0, 20);
        CHECK(net.remembered() == 0 && !net.recall(5));
        Rng rng(7);
        std::map<std::vector<std::uint8_t>, float> worth;  // by the lesser of a position and its image
        for (int i = 0; i < 5000; ++i) {
            std::vector<std::uint8_t> content(static_cast<std::size_t>(cells));
            for (auto& cell : content) cell = static_cast<std::uint8_t>(rng.below(3));
            const std::vector<std::uint8_t> image(content.rbegin(), content.rend());
            CHECK(net.key(content.data()) == net.key(image.data()));
            const float value = static_cast<float>(i);
            worth[std::min(content, image)] = value;
            net.remember(net.key(content.data()), value);
        }
        CHECK(net.remembered() == worth.size());
        for (const auto& [content, value] : worth) {
            const float* found = net.recall(net.key(content.data()));
            CHECK(found && *found == value);
        }
    }
}

TEST(what_is_not_remembered_is_hoped_to_be_better) {
    TupleNet net(4, 2, 1, {{0, 1}}, {cells_from(0, 4)}, false, 0.0, 8);
    CHECK(net.hoped(8.0f) == 8.0f);
    net.set_optimism(0.25);
    CHECK(net.hoped(8.0f) == 10.0f && net.hoped(-8.0f) == -6.0f);
}

// From hope alone, sweeps end in the exact values of the positions that matter; on any number of threads.
TEST(sweeps_find_the_way) {
    const Walk::Rules rules{9};
    for (const int threads : {1, 3}) {
        TupleNet net(9, 1, 1, {cells_from(0, 9)}, {cells_from(0, 9)}, false, 1.0, 9);
        const CellView view{{0}, {{1, 1}}, 1};
        const TupleSettings settings{1.0, 0.9, 0.0, 1, 0.0, 0.0, false};
        TupleSweeper<Walk> sweeper(net, view, settings, 100, threads);
        Control control;
        TupleTraining played;
        for (int sweep = 0; sweep < 40; ++sweep) {
            played = sweeper.explore(Walk(rules), 4 * sweep, 4 * sweep + 4, 1, control);
            sweeper.sweep(control);
        }
        CHECK(played.games == 4 && played.moves == 16 && played.returns == 4 && played.best == 1);
        CHECK(net.remembered() <= 7);
        TupleLearner<Walk> learner(net, view, settings);
        for (int at = 4; at < 8; ++at) {
            Walk walk(rules);
            walk.at = at;
            const auto values = learner.values(walk, 0);
            CHECK(values[1] > values[0]);
            CHECK(std::abs(values[1] - std::pow(0.9, 7 - at)) < 1e-6);
        }
    }
}

TEST(tuples_that_make_no_sense_are_refused) {
    const std::vector<std::vector<int>> same = {cells_from(0, 4)};
    const auto refused = [&](int cells, int bits, std::vector<std::vector<int>> tuples, auto symmetries, int table) {
        try {
            TupleNet(cells, bits, 1, tuples, symmetries, false, 0.0, table);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(!refused(4, 2, {{0, 1}}, same, 8));
    CHECK(refused(4, 2, {{1, 0}}, same, 8));
    CHECK(refused(4, 2, {{0, 4}}, same, 8));
    CHECK(refused(4, 2, {{}}, same, 8));
    CHECK(refused(4, 2, {}, same, 8));
    CHECK(refused(4, 0, {{0}}, same, 8));
    CHECK(refused(4, 2, {{0}}, std::vector<std::vector<int>>{{0, 1, 2}}, 8));
    CHECK(refused(4, 2, {{0}}, std::vector<std::vector<int>>{{0, 1, 2, 2}}, 8));
    CHECK(refused(4, 2, {{0}}, same, 33));
}

}  // namespace
}  // namespace rookery
