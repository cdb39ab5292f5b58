// Many games side by side, beside the same games played one by one.
#include "core/vector_games.hpp"

#include <map>

#include "games/endgames/rules.hpp"
#include "games/tenten/rules.hpp"
#include "tests/check.hpp"
#include "tests/toys.hpp"

using namespace rookery;
using namespace rookery::testing;

namespace {

template <class S>
double score_of(const S& state) {
    if constexpr (requires { state.score(); }) return static_cast<double>(state.score());
    return state.player() == kTerminal ? state.returns()[0] : 0;
}

template <class S>
class Mirror {
public:
    Mirror(std::vector<S> starts, const VectorSettings& settings, std::int64_t games, int threads)
        : starts_(starts), settings_(settings), env_(std::move(starts), games, 5, threads, settings),
          before_(env_.games()) {
        answer();
        for (std::size_t i = 0; i < env_.games(); ++i) {
            CHECK(!env_.done()[i] && env_.length()[i] == 0 && reward(i, 0) == 0);
            check(i);
        }
    }

    // One step of random actions, every tenth of them not legal if that is allowed.
    void step() {
        std::vector<Action> chosen(env_.games());
        env_.sample(chosen);
        std::vector<bool> wrong(env_.games());
        for (std::size_t i = 0; i < env_.games(); ++i) {
            before_[i] = {env_.state(i), env_.history(i), env_.start(i), env_.length()[i], env_.player()[i], over(i)};
            if (!over(i)) CHECK(env_.mask()[i * actions() + static_cast<std::size_t>(chosen[i])]);
            if (over(i)) CHECK(chosen[i] == 0);
            if (settings_.illegal_loses && rng_.below(10) == 0) {
                chosen[i] = rng_.below(2) ? -1 : static_cast<Action>(actions());
                wrong[i] = !over(i);
            }
        }
        env_.step(std::span<const Action>(chosen));
        answer();
        for (std::size_t i = 0; i < env_.games(); ++i) {
            if (before_[i]->over) {
                CHECK(!env_.done()[i] && reward(i, 0) == 0 && env_.length()[i] == 0);
            } else if (wrong[i]) {
                CHECK(env_.done()[i]);
                const bool second = settings_.opponent == Opponent::kNone && before_[i]->state.player() == 1;
                CHECK(reward(i, 0) == (second ? 1 : -1));
                CHECK(env_.length()[i] == (settings_.begin_next ? before_[i]->length + 1 : 0));
                lost_[i] = settings_.begin_next;
                for (std::size_t k = 0; k < planes(); ++k) CHECK(final_plane(i, k) == shown(before_[i]->state)[k]);
            } else {
                follow(i, chosen[i]);
            }
            if (before_[i]->over) lost_[i] = false;
            ended += env_.done()[i];
            check(i);
        }
    }

    // What was saved goes on as it would have gone on.
    void save_and_restore() {
        const SavedGames saved = env_.save();
        const Rng rng = rng_;
        const auto lost = lost_;
        const auto later = [&] {
            std::vector<float> seen;
            for (int i = 0; i < 4; ++i) {
                step();
                seen.insert(seen.end(), env_.observation().data(),
                            env_.observation().data() + env_.observation().size());
                for (std::size_t k = 0; k < env_.reward().size(); ++k) seen.push_back(env_.reward()[k]);
                for (std::size_t k = 0; k < env_.games(); ++k) seen.push_back(static_cast<float>(env_.length()[k]));
            }
            return seen;
        };
        std::vector<bool> done(env_.done().data(), env_.done().data() + env_.games());
        const auto first = later();
        env_.restore(saved);
        for (std::size_t i = 0; i < env_.games(); ++i) env_.done()[i] = done[i];
        rng_ = rng;
        lost_ = lost;
        for (std::size_t i = 0; i < env_.games(); ++i) check(i);
        CHECK(later() == first);
    }

    VectorGames<S, float>& games() { return env_; }
    int ended = 0;

private:
    struct Before {
        S state;
        ActionList history;
        std::int32_t start, length;
        int player;
        bool over;
    };

    std::size_t actions() const { return static_cast<std::size_t>(starts_[0].rules().num_actions()); }
    std::size_t planes() const { return volume(starts_[0].rules().observation_shape()); }
    std::size_t players() const {
        return settings_.opponent == Opponent::kNone ? static_cast<std::size_t>(starts_[0].rules().players()) : 1;
    }
    float reward(std::size_t i, std::size_t p) { return env_.reward()[i * players() + p]; }
    float final_plane(std::size_t i, std::size_t k) { return env_.final_observation()[i * planes() + k]; }
    bool over(std::size_t i) { return settings_.begin_next && (lost_[i] || env_.state(i).player() == kTerminal); }
    static std::vector<float> shown(const S& state) { return observed<float>(state); }

    void answer() {
        for (auto waiting = env_.waiting(); !waiting.empty(); waiting = env_.waiting()) {
            for (const auto& [i, number] : waiting) {
                const S& state = env_.state(static_cast<std::size_t>(i));
                CHECK(settings_.opponent == Opponent::kAsked);
                if (settings_.opponent_side >= 0) CHECK(state.player() == settings_.opponent_side);
                ActionList legal;
                state.legal_actions(legal);
                env_.answer(static_cast<std::size_t>(i), legal[number % legal.size()]);
            }
        }
    }

    // The game goes on with the action, and then with those of chance and of the opponent.
    void follow(std::size_t i, Action action) {
        const auto restarted = env_.done()[i] && !settings_.begin_next;
        const S& state = env_.state(i);
        S next = before_[i]->state;
        next.apply(action);
        if (restarted) {
            CHECK(env_.length()[i] == 0);
        } else {
            const ActionList& history = env_.history(i);
            const ActionList& old = before_[i]->history;
            CHECK(history.size() > old.size() && history[old.size()] == action && env_.start(i) == before_[i]->start);
            CHECK(std::equal(old.begin(), old.end(), history.begin()) && env_.length()[i] == before_[i]->length + 1);
            CHECK(env_.done()[i] == (state.player() == kTerminal));
            for (std::size_t k = old.size() + 1; k < history.size(); ++k) next.apply(history[k]);
            CHECK(next.key() == state.key());
            const double side = before_[i]->player == 1 && settings_.opponent != Opponent::kNone ? -1 : 1;
            double expected = score_of(next) - score_of(before_[i]->state);
            if (settings_.reward_at_end) expected = env_.done()[i] ? next.returns()[0] : 0;
            CHECK(reward(i, 0) == static_cast<float>(side * expected));
            if (players() == 2) CHECK(reward(i, 1) == -reward(i, 0));
        }
        if (env_.done()[i] && (next.player() == kTerminal || !restarted)) {
            for (std::size_t k = 0; k < planes(); ++k) CHECK(final_plane(i, k) == shown(next)[k]);
            if (restarted && !requires_score())
                CHECK(std::abs(reward(i, 0)) == std::abs(static_cast<float>(next.returns()[0])));
        }
    }

    static constexpr bool requires_score() {
        return requires(const S& state) { state.score(); };
    }

    // What is shown is the position that the history leads to.
    void check(std::size_t i) {
        const S& state = env_.state(i);
        S replayed = starts_[static_cast<std::size_t>(env_.start(i))];
        for (const Action action : env_.history(i)) replayed.apply(action);
        CHECK(replayed.key() == state.key());
        const auto planes_now = shown(state);
        for (std::size_t k = 0; k < planes(); ++k) CHECK(env_.observation()[i * planes() + k] == planes_now[k]);
        const auto mask = legal_mask(state);
        for (std::size_t a = 0; a < actions(); ++a) {
            CHECK(env_.mask()[i * actions() + a] == (mask[a] && !lost_[i]));
        }
        if (settings_.opponent == Opponent::kNone) {
            CHECK(env_.player()[i] == (lost_[i] ? kTerminal : state.player()));
        } else {
            if (!over(i)) CHECK(env_.player()[i] == state.player());
            if (settings_.opponent_side >= 0) CHECK(env_.player()[i] == 1 - settings_.opponent_side);
        }
        CHECK(over(i) || state.player() >= 0);
    }

    std::vector<S> starts_;
    VectorSettings settings_;
    VectorGames<S, float> env_;
    std::vector<std::optional<Before>> before_;
    std::map<std::size_t, bool> lost_;
    Rng rng_{3};
};

template <class S>
void check_all(const std::vector<S>& starts, bool two, std::int64_t games, int steps) {
    for (int mask = 0; mask < 8; ++mask) {
        for (int opponent = 0; opponent < (two ? 3 : 1); ++opponent) {
            VectorSettings settings{(mask & 1) != 0, (mask & 2) != 0, static_cast<Opponent>(opponent), mask % 3 - 1,
                                    (mask & 4) != 0};
            if (!two && settings.illegal_loses) continue;
            Mirror<S> mirror(starts, settings, games, 1 + mask % 2);
            for (int i = 0; i < steps; ++i) mirror.step();
            mirror.save_and_restore();
            CHECK(mirror.ended > 0);
        }
    }
}

using rookery::testing::refused;

}  // namespace

TEST(games_side_by_side_are_played_as_one_by_one) {
    const Stones::Rules few{6, 2}, many{9, 2};
    check_all<Stones>({Stones(few), Stones(many)}, true, 70, 12);
    const tenten::Rules tenten(3, 3, {{{0, 0}}, {{0, 0}, {0, 1}}, {{0, 0}, {1, 0}, {1, 1}}}, {1, 2, 2}, 2);
    check_all<tenten::State>({tenten::State(tenten)}, false, 20, 30);
    const endgames::Rules mate("7k/8/5K2/8/8/8/8/R7 w - - 0 1", 2, true);
    check_all<endgames::State>({endgames::State(mate)}, true, 5, 25);
}

TEST(both_sides_and_all_starts_are_drawn) {
    const Stones::Rules few{6, 2}, many{9, 2};
    VectorGames<Stones, float> games({Stones(few), Stones(many)}, 2000, 1, 2, {.opponent = Opponent::kRandom});
    int second = 0, start = 0;
    for (std::size_t i = 0; i < 2000; ++i) {
        second += games.player()[i];
        start += games.start(i);
        CHECK(games.state(i).moves == games.player()[i]);
    }
    CHECK(std::abs(second - 1000) < 150 && std::abs(start - 1000) < 150);
    // Whatever the number of threads; and anew with another seed.
    VectorGames<Stones, float> same({Stones(few), Stones(many)}, 2000, 1, 1, {.opponent = Opponent::kRandom});
    const auto all = [](auto& g) { return std::vector<float>(g.observation().data(), g.observation().data() + 2000); };
    CHECK(all(games) == all(same));
    same.reset(2);
    CHECK(all(games) != all(same));
    same.reset(1);
    CHECK(all(games) == all(same));
    same.reset(std::nullopt);  // the random streams go on
    CHECK(all(games) != all(same));
}

TEST(what_is_no_step_is_refused) {
    const Stones::Rules rules{6, 2}, alone{6, 1}, none{0, 2};
    VectorGames<Stones, float> games({Stones(rules)}, 3, 1, 1, {});
    const auto step = [&](ActionList actions) { games.step(std::span<const Action>(actions)); };
    CHECK(refused([&] { step({1, 1}); }) && refused([&] { step({1, 1, 4}); }) && refused([&] { step({0, 1, 1}); }));
    for (std::size_t i = 0; i < 3; ++i) CHECK(games.state(i).left == 6);  // nothing happened in any game
    CHECK(refused([&] { games.answer(0, 1); }));
    step({1, 2, 3});
    CHECK(games.state(0).left == 5 && games.state(1).left == 4 && games.state(2).left == 3);
    CHECK(refused([&] { VectorGames<Stones, float>({Stones(alone)}, 1, 1, 1, {.opponent = Opponent::kRandom}); }));
    CHECK(refused([&] { VectorGames<Stones, float>({Stones(rules), Stones(none)}, 1, 1, 1, {}); }));
    VectorGames<Stones, float> asked({Stones(rules)}, 2, 1, 1, {.opponent = Opponent::kAsked, .opponent_side = 0});
    CHECK(asked.waiting().size() == 2 && refused([&] { asked.answer(0, 4); }));
    bool early = false;
    try {
        const ActionList ones = {1, 1};
        asked.step(std::span<const Action>(ones));
    } catch (const std::logic_error&) {
        early = true;
    }
    CHECK(early);
    const SavedGames saved = games.save();
    const auto damaged = [&](auto&& damage) {
        SavedGames wrong = saved;
        damage(wrong);
        return refused([&] { games.restore(wrong); });
    };
    CHECK(!damaged([](SavedGames&) {}));
    CHECK(damaged([](SavedGames& s) { s.starts.pop_back(); }) && damaged([](SavedGames& s) { s.offsets.pop_back(); }));
    CHECK(damaged([](SavedGames& s) { s.offsets[0] = 1; }) && damaged([](SavedGames& s) { s.learners.pop_back(); }));
    CHECK(damaged([](SavedGames& s) { s.streams.pop_back(); }) &&
          damaged([](SavedGames& s) { s.actions.push_back(1); }));
    CHECK(damaged([](SavedGames& s) { s.starts[1] = 1; }) && damaged([](SavedGames& s) { s.starts[1] = -1; }));
    CHECK(damaged([](SavedGames& s) { s.learners[1] = 2; }) && damaged([](SavedGames& s) { s.learners[1] = -1; }));
    CHECK(damaged([](SavedGames& s) { std::fill_n(s.streams.begin() + 4, 4, 0u); }));
    CHECK(damaged([](SavedGames& s) { s.actions[1] = 4; }) && damaged([](SavedGames& s) { s.actions[1] = -1; }));
    CHECK(damaged([](SavedGames& s) { std::swap(s.offsets[1], s.offsets[2]); }));
}
