#include "games/endgames/q_learning.hpp"

#include "tests/check.hpp"

using namespace rookery;
using namespace rookery::endgames;

namespace {

// Plays the first legal move, sees a mate in as many moves as the kings are apart.
class FirstMove : public Engine {
public:
    Answer ask(const Position& p) override {
        return {action_of(nth_move(p, legal_moves(p), 0)), true, king_distance(p)};
    }
};

void learn(const char* fen, bool engine_reward, bool potential, bool strong, bool weak) {
    const endgames::Rules rules(fen, 3, true);
    const Settings settings{0.5, 0.95, 0.2, 1.1, 10000, -10000, engine_reward, potential, 2.0, 1.0};
    FirstMove engine;
    Control control;
    const Run run = train(endgames::State(rules), settings, strong, weak, engine, 60, Rng(3), control);
    CHECK(run.matches.size() == 60);
    CHECK(control.done == 60);
    std::int64_t rows = 0;
    const auto count = [&](const Position& p, std::span<const double> values) {
        CHECK(endgames::fault(p) == nullptr);
        CHECK(values.size() == static_cast<std::size_t>(legal_moves(p).count));
        for (const double value : values) CHECK(std::abs(value) <= 200000);
        ++rows;
    };
    run.strong.for_each_learned(count);
    run.weak.for_each_learned(count);
    CHECK(rows > 0);
}

}  // namespace

TEST(endgame_q_learns_with_every_reward_and_side) {
    for (const char* fen : {"8/8/8/2k5/8/4K3/8/7R w - - 0 1", "8/8/8/2K5/8/4k3/8/7r w - - 0 1",
                            "8/8/8/8/1k6/8/1P6/1K6 w - - 0 1", "k7/8/1K6/8/2B5/4B3/8/8 w - - 0 1"}) {
        for (int mask = 0; mask < 3; ++mask) {
            learn(fen, false, true, mask != 1, mask != 0);
            learn(fen, false, false, mask != 1, mask != 0);
            learn(fen, true, false, mask != 1, mask != 0);
        }
    }
}

TEST(endgame_q_area_of_the_lone_king) {
    const auto area = [](const char* fen) { return king_area(endgames::parse_fen(fen).position); };
    CHECK(area("k7/8/1K6/8/8/8/8/2Q5 b - - 0 1") == 2);  // a8, b8
    CHECK(area("k7/7R/2K5/8/8/8/8/8 b - - 0 1") == 7);  // the eighth rank, but for h8
}
