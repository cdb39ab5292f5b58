// Everything a game gets for free: the Python class of its states, and every generic algorithm on them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>

#include "bindings/bind_ntuple.hpp"
#include "bindings/bind_q_learning.hpp"
#include "bindings/bind_solve.hpp"
#include "bindings/handle.hpp"
#include "bindings/interruptible.hpp"
#include "core/clock.hpp"
#include "core/many_games.hpp"
#include "core/state.hpp"
#include "core/vector_games.hpp"
#include "learn/examples.hpp"
#include "search/mcts.hpp"
#include "search/minimax.hpp"
#include "search/perft.hpp"
#include "search/policy_search.hpp"
#include "search/puct.hpp"
#include "search/random_games.hpp"

namespace rookery {

namespace nb = nanobind;
using namespace nb::literals;

template <GameState S>
void bind_algorithms(nb::class_<Handle<S>>& cls) {
    using H = Handle<S>;
    bind_q_learning<S>(cls);
    bind_ntuple<S>(cls);
    bind_solve<S>(cls);
    cls.def(
        "perft",
        [](const H& self, int depth, Control* given) {
            if (depth < 0) throw nb::value_error("the depth must not be negative");
            ControlOrNone call(given);
            return interruptible(call.control, [&] { return perft(self.state, depth, call.control); });
        },
        "depth"_a, "control"_a = nb::none());
    cls.def(
        "random_games",
        [](const H& self, std::int64_t games, std::uint64_t seed, int threads, Control* given) {
            if (games < 0 || games > 1'000'000'000) throw nb::value_error("the number of games must be 0 to 10^9");
            if (threads < 0) throw nb::value_error("the number of threads must not be negative; 0 means all cores");
            ControlOrNone call(given);
            std::vector<std::int32_t> lengths(games);
            std::vector<Returns> returns(games);
            interruptible(call.control, [&] {
                random_games(self.state, seed, threads, std::span(lengths), std::span(returns), call.control);
            });
            const std::size_t players = self.state.rules().players();
            std::vector<double> flat;
            flat.reserve(games * players);
            for (const auto& result : returns) flat.insert(flat.end(), result.begin(), result.begin() + players);
            return std::make_pair(to_numpy(std::move(lengths), {static_cast<std::size_t>(games)}),
                                  to_numpy(std::move(flat), {static_cast<std::size_t>(games), players}));
        },
        "games"_a, "seed"_a, "threads"_a, "control"_a = nb::none());
    cls.def(
        "mcts",
        [](const H& self, std::int64_t simulations, double exploration, std::uint64_t seed, Control* given) {
            if (simulations < 1) throw nb::value_error("the number of simulations must be at least 1");
            ControlOrNone call(given);
            const auto moves = interruptible(
                call.control, [&] { return mcts(self.state, simulations, exploration, seed, call.control); });
            std::vector<std::tuple<Action, std::int64_t, double>> rows;
            for (const auto& move : moves) rows.emplace_back(move.action, move.visits, move.value);
            return rows;
        },
        "simulations"_a, "exploration"_a, "seed"_a, "control"_a = nb::none());
    cls.def(
        "minimax",
        [](const H& self, int depth, Control* given) {
            ControlOrNone call(given);
            const auto result = interruptible(call.control, [&] { return minimax(self.state, depth, call.control); });
            std::vector<std::pair<Action, double>> rows;
            for (const auto& move : result.moves) rows.emplace_back(move.action, move.value);
            return std::make_pair(rows, result.nodes);
        },
        "depth"_a, "control"_a = nb::none());
}

// Independent runs of a search for one player: (run, score, actions, playouts, CPU seconds) for each. Run i has the
// random stream (seed, i), so its result does not depend on `threads`. Stopped early, the runs under way return what
// they have and the others are left out. `on_best(run, score, actions)` is called with every game that is better than
// all before it; `run(i, hear)` makes run i and calls `hear` with its games.
using SearchRun = std::tuple<std::int64_t, double, ActionList, std::int64_t, double>;

template <class Run>
std::vector<SearchRun> search_runs(std::int64_t runs, int threads, Control& control, nb::object on_best, Run&& run) {
    if (runs < 1) throw nb::value_error("the number of runs must be at least 1");
    std::mutex mutex;
    std::vector<SearchRun> results;
    double best = -std::numeric_limits<double>::infinity();
    const auto hear = [&](std::int64_t i, const Playout& game) {
        {
            // The lock is never held while waiting for the GIL.
            std::lock_guard lock(mutex);
            if (game.score <= best) return;
            best = game.score;
        }
        if (on_best.is_none()) return;
        nb::gil_scoped_acquire gil;
        on_best(i, game.score, game.actions);
    };
    interruptible(
        control,
        [&] {
            parallel_blocks(runs, threads, [&](std::int64_t i) {
                if (control.stopped()) return;
                const double begin = thread_cpu_seconds();
                auto [game, playouts] = run(i, [&hear, i](const Playout& found) { hear(i, found); });
                const double seconds = thread_cpu_seconds() - begin;
                hear(i, game);
                std::lock_guard lock(mutex);
                results.emplace_back(i, game.score, std::move(game.actions), playouts, seconds);
            });
        },
        /*keep=*/true);
    std::sort(results.begin(), results.end());
    return results;
}

// What one run of a search goes by, besides its settings.
struct RunContext {
    std::uint64_t seed, stream;
    Control& control;
    OnBest hear;
};

// Binds a search for one player as a method with its own settings and then those of `search_runs`. `run` makes one run,
// and gives its best game and its number of playouts.
template <GameState S, class... Settings, class... Names>
void bind_search_runs(nb::class_<Handle<S>>& cls, const char* name,
                      std::pair<Playout, std::int64_t> (*run)(const S&, const RunContext&, const Settings&...),
                      const Names&... names) {
    cls.def(
        name,
        [run](const Handle<S>& self, const Settings&... settings, std::int64_t runs, std::uint64_t seed, int threads,
              Control* given, nb::object on_best) {
            ControlOrNone call(given);
            return search_runs(runs, threads, call.control, on_best, [&](std::int64_t i, OnBest hear) {
                return run(self.state, {seed, static_cast<std::uint64_t>(i), call.control, hear}, settings...);
            });
        },
        names..., "runs"_a, "seed"_a, "threads"_a, "control"_a = nb::none(), "on_best"_a = nb::none());
}

// For games of one player; others are refused when called.
template <GameState S>
void bind_policy_searches(nb::class_<Handle<S>>& cls) {
    using H = Handle<S>;
    bind_search_runs(
        cls, "nrpa",
        +[](const S& start, const RunContext& run, const int& level, const int& iterations, const double& alpha,
            const int& beam) {
            Nrpa<S> search(start, {level, iterations, alpha, beam}, run.seed, run.stream, run.control, run.hear);
            Playout game = search.run();
            return std::make_pair(std::move(game), search.playouts());
        },
        "level"_a, "iterations"_a, "alpha"_a, "beam"_a);
    bind_search_runs(
        cls, "nmcs",
        +[](const S& start, const RunContext& run, const int& level) {
            Nmcs<S> search(start, run.seed, run.stream, run.control, run.hear);
            Playout game = search.run(level);
            return std::make_pair(std::move(game), search.playouts());
        },
        "level"_a);
    cls.def(
        "nrpa_from",
        [](const H& self, nb::ndarray<const Action, nb::ndim<1>, nb::c_contig, nb::device::cpu> actions,
           nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu> log_weights,
           nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> starts,
           nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu> other, int level, int iterations,
           double alpha, std::uint64_t seed, int threads, Control* given, nb::object on_best) {
            ControlOrNone call(given);
            const PolicySearchSettings settings{level, iterations, alpha, 1};
            const auto runs = static_cast<std::int64_t>(starts.size()) - 1;
            if (runs < 1 || actions.size() != log_weights.size() || static_cast<std::int64_t>(other.size()) != runs) {
                throw nb::value_error("expected equally many actions and weights, and as many others as runs");
            }
            for (std::int64_t i = 0; i <= runs; ++i) {
                if (starts(i) < (i ? starts(i - 1) : 0) || starts(i) > static_cast<std::int64_t>(actions.size())) {
                    throw nb::value_error("the starts must ascend and lie inside the list of actions");
                }
            }
            for (std::size_t i = 0; i < actions.size(); ++i) {
                if (actions(i) < 0 || actions(i) >= self.state.rules().num_actions()) {
                    throw nb::value_error("there is no such action");
                }
            }
            return search_runs(runs, threads, call.control, on_best, [&](std::int64_t i, OnBest hear) {
                Nrpa<S> search(self.state, settings, seed, static_cast<std::uint64_t>(i), call.control, hear);
                const auto begin = static_cast<std::size_t>(starts(i));
                const auto size = static_cast<std::size_t>(starts(i + 1)) - begin;
                Playout game = search.run({actions.data() + begin, size}, {log_weights.data() + begin, size}, other(i));
                return std::make_pair(std::move(game), search.playouts());
            });
        },
        "actions"_a, "log_weights"_a, "starts"_a, "other"_a, "level"_a, "iterations"_a, "alpha"_a, "seed"_a,
        "threads"_a, "control"_a = nb::none(), "on_best"_a = nb::none());
}

// (planes, offsets, actions) as NetInput names them.
inline auto to_python(NetInput&& input, const Shape& shape) {
    const std::size_t positions = input.offsets.size() - 1, actions = input.actions.size();
    auto planes =
        to_numpy(std::move(input.planes), {positions, static_cast<std::size_t>(shape[0]),
                                           static_cast<std::size_t>(shape[1]), static_cast<std::size_t>(shape[2])});
    return std::make_tuple(planes, to_numpy(std::move(input.offsets), {positions + 1}),
                           to_numpy(std::move(input.actions), {actions}));
}

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ActionArray = Column<Action>;

// Games side by side, for a net that plays them all at once.
template <GameState S>
void bind_many_games(nb::class_<Handle<S>>& cls) {
    struct Games {
        nb::object game;
        ManyGames<S> games;
    };
    nb::class_<Games> games(cls, "Games");
    games.def(
        "__init__",
        [](Games* self, const Handle<S>& start, std::int64_t count) {
            if (count < 1 || count > 1'000'000) throw nb::value_error("the number of games must be 1 to 10^6");
            new (self) Games{start.game, ManyGames<S>(start.state, count)};
        },
        "start"_a, "count"_a);
    games.def(
        "live",
        [](const Games& self) {
            std::vector<std::int32_t> live = self.games.live();
            const std::size_t size = live.size();
            return to_numpy(std::move(live), {size});
        },
        "Numbers of the games in which somebody is to move.");
    games.def(
        "observe",
        [](const Games& self, int threads) {
            NetInput input;
            {
                nb::gil_scoped_release release;
                input = self.games.observe(threads);
            }
            return to_python(std::move(input), self.games.states().front().rules().observation_shape());
        },
        "threads"_a, "The live games: planes, offsets of each one's legal actions, actions.");
    games.def(
        "apply", [](Games& self, ActionArray actions) { self.games.apply({actions.data(), actions.size()}); },
        "actions"_a, "One action for each live game.");
    games.def_prop_ro(
        "histories", [](const Games& self) { return self.games.histories(); }, "The actions of each game.");
    games.def_prop_ro(
        "returns",
        [](const Games& self) {
            std::vector<double> first;
            for (const S& state : self.games.states()) {
                first.push_back(state.player() == kTerminal ? Returns(state.returns())[0] : 0.0);
            }
            return first;
        },
        "What the first player has earned in each game; 0 in those that are not over.");
    cls.def(
        "examples",
        [](const Handle<S>& self, ActionArray moves, Column<std::int64_t> starts, Column<std::int32_t> game,
           Column<std::int32_t> played, bool any_order, std::uint64_t seed, int threads) {
            Examples examples;
            {
                nb::gil_scoped_release release;
                const auto span = [](const auto& array) { return std::span(array.data(), array.size()); };
                examples = make_examples<S>(self.state, span(moves), span(starts), span(game), span(played), any_order,
                                            seed, threads);
            }
            const std::size_t size = examples.wanted.size();
            return std::tuple_cat(to_python(std::move(examples.input), self.state.rules().observation_shape()),
                                  std::make_tuple(to_numpy(std::move(examples.wanted), {size})));
        },
        "moves"_a, "starts"_a, "game"_a, "played"_a, "any_order"_a, "seed"_a, "threads"_a,
        "Positions on the way from here to known games: planes, offsets, legal actions and which of them the game continues "
        "with. With `any_order` the moves that are made come in a random order.");
}

// PUCT on many games at once; the net is the caller's.
template <GameState S>
void bind_puct(nb::class_<Handle<S>>& cls) {
    struct Forest {
        nb::object game;
        PuctForest<S> forest;
        const Puct<S>& tree(std::int64_t number) const {
            if (number < 0 || number >= static_cast<std::int64_t>(forest.trees().size())) {
                throw nb::index_error("there is no such tree");
            }
            return forest.trees()[number];
        }
    };
    using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    nb::class_<Forest> forest(cls, "Puct");
    forest.def(
        "__init__",
        [](Forest* self, const Handle<S>& start, std::int64_t games, double exploration, double threshold, double tie,
           bool untried_mean, double noise, double noise_alpha, bool prove, std::uint64_t seed) {
            if (games < 1 || games > 1'000'000) throw nb::value_error("the number of games must be 1 to 10^6");
            if (!(noise >= 0 && noise <= 1 && noise_alpha > 0)) throw nb::value_error("the noise must be from 0 to 1");
            new (self)
                Forest{start.game,
                       PuctForest<S>(start.state, games,
                                     {exploration, threshold, tie, untried_mean, noise, noise_alpha, prove}, seed)};
        },
        "start"_a, "games"_a, "exploration"_a, "threshold"_a = 0.0, "tie"_a = 0.0, "untried_mean"_a = true,
        "noise"_a = 0.0, "noise_alpha"_a = 0.3, "prove"_a = false, "seed"_a = 0,
        "In a game of one player a score above `threshold` is worth +1, below -1, on it `tie`. A move not tried yet is "
        "worth the mean over the moves tried, or 0 without `untried_mean`. With `prove`, a search in a game of two players "
        "keeps bounds on values and ends when they meet at the root.");
    forest.def(
        "find_leaves",
        [](Forest& self, std::int64_t simulations, int walks, int threads) {
            NetInput input;
            {
                nb::gil_scoped_release release;
                input = self.forest.find_leaves(simulations, walks, threads);
            }
            return to_python(std::move(input), self.forest.trees().front().root().rules().observation_shape());
        },
        "simulations"_a, "walks"_a, "threads"_a,
        "Positions for the net, up to `walks` of each tree: planes, offsets of their legal actions, actions. None are "
        "left when every root has that number of simulations or its game is over.");
    forest.def(
        "expand",
        [](Forest& self, Floats priors, Floats values, int threads) {
            nb::gil_scoped_release release;
            self.forest.expand({priors.data(), priors.size()}, {values.data(), values.size()}, threads);
        },
        "priors"_a, "values"_a, "threads"_a = 1,
        "What the net says of the last leaves: values for the player to move, -1 to 1.");
    forest.def(
        "moves",
        [](const Forest& self, std::int64_t tree) {
            std::vector<std::tuple<Action, std::int64_t, double, float>> rows;
            for (const auto& move : self.tree(tree).moves()) {
                rows.emplace_back(move.action, move.visits, move.value, move.prior);
            }
            return rows;
        },
        "tree"_a, "The moves at a root: action, visits, mean value, prior.");
    forest.def(
        "apply",
        [](Forest& self, std::int64_t tree, Action action) {
            self.tree(tree);
            self.forest.apply(tree, action);
        },
        "tree"_a, "action"_a, "Play a move; what was found below it stays.");
    forest.def(
        "roots",
        [](const Forest& self, int threads) {
            std::vector<std::int32_t> numbers;
            std::vector<std::int8_t> players;
            std::vector<std::int64_t> visits;
            const auto& trees = self.forest.trees();
            for (std::size_t i = 0; i < trees.size(); ++i) {
                if (trees[i].root().player() == kTerminal) continue;
                numbers.push_back(static_cast<std::int32_t>(i));
                players.push_back(static_cast<std::int8_t>(trees[i].root().player()));
            }
            NetInput input =
                net_input<S>(trees.front().root().rules(), static_cast<std::int64_t>(numbers.size()), threads,
                             [&](std::int64_t i) -> const S& { return trees[numbers[i]].root(); });
            visits.resize(input.actions.size());
            std::vector<float> values(input.actions.size());
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                const auto begin = input.actions.begin() + input.offsets[i],
                           end = input.actions.begin() + input.offsets[i + 1];
                for (const auto& move : trees[numbers[i]].moves()) {
                    const auto place = std::find(begin, end, move.action) - input.actions.begin();
                    visits[place] = move.visits;
                    values[place] = static_cast<float>(move.value);
                }
            }
            const std::size_t live = numbers.size(), all = visits.size();
            return std::tuple_cat(
                std::make_tuple(to_numpy(std::move(numbers), {live}), to_numpy(std::move(players), {live})),
                to_python(std::move(input), trees.front().root().rules().observation_shape()),
                std::make_tuple(to_numpy(std::move(visits), {all}), to_numpy(std::move(values), {all})));
        },
        "threads"_a,
        "The games that are not over: their numbers, players to move, planes, offsets of their legal actions, actions, and "
        "visits and mean values of these.");
    forest.def(
        "returns",
        [](const Forest& self, std::int64_t tree) {
            const S& root = self.tree(tree).root();
            const Returns values = root.player() == kTerminal ? Returns(root.returns()) : Returns{};
            return std::vector<double>(values.begin(), values.begin() + root.rules().players());
        },
        "tree"_a);
    forest.def("__len__", [](const Forest& self) { return self.forest.trees().size(); });
    forest.def(
        "simulations", [](const Forest& self, std::int64_t tree) { return self.tree(tree).simulations(); }, "tree"_a);
    forest.def(
        "restart",
        [](Forest& self, std::int64_t tree, const Handle<S>& start) {
            if (self.tree(tree).waiting() > 0) throw nb::value_error("the last leaves have not been expanded yet");
            if (!start.game.is(self.game)) throw nb::value_error("the start is a position of another game");
            self.forest.restart(tree, start.state);
        },
        "tree"_a, "start"_a, "Let a game begin in another position of the same game.");
    forest.def(
        "searched",
        [](const Forest& self, std::int64_t simulations) {
            const auto& trees = self.forest.trees();
            return std::all_of(trees.begin(), trees.end(),
                               [&](const auto& tree) { return tree.searched(simulations); });
        },
        "simulations"_a, "Whether every game is over or proven, or its root has that number of simulations.");
    forest.def(
        "over", [](const Forest& self, std::int64_t tree) { return self.tree(tree).root().player() == kTerminal; },
        "tree"_a);
    forest.def("history", [](const Forest& self, std::int64_t tree) { return self.tree(tree).history(); }, "tree"_a);
    forest.def(
        "best", [](const Forest& self, std::int64_t tree) { return self.tree(tree).best_game(); }, "tree"_a,
        "The best finished game of one player that the tree has met, from the start.");
}

// The buffers of an environment as arrays that live as long as it does. `Plane` is what observations are made of.
template <class Plane, GameState S>
void bind_vector(nb::class_<Handle<S>>& cls, const char* name) {
    using H = Handle<S>;
    using Games = VectorGames<S, Plane>;
    struct Environment {
        std::vector<H> starts;  // they keep the rules alive
        Games games;
        std::mutex mutex;  // taken without the GIL
    };
    // Calls work(games) without the GIL, one call at a time.
    const auto alone = [](Environment& self, auto&& work) {
        nb::gil_scoped_release release;
        std::lock_guard lock(self.mutex);
        return work(self.games);
    };
    nb::class_<Environment> environment(cls, name);
    environment.def(
        "__init__",
        [](Environment* self, std::vector<H> starts, std::int64_t games, std::uint64_t seed, int threads,
           bool reward_at_end, bool begin_next, int opponent, int opponent_side, bool illegal_loses) {
            std::vector<S> states;
            for (const H& start : starts) states.push_back(start.state);
            new (self) Environment{
                std::move(starts),
                {std::move(states),
                 games,
                 seed,
                 threads,
                 {reward_at_end, begin_next, static_cast<Opponent>(opponent), opponent_side, illegal_loses}},
                {}};
        },
        "starts"_a, "games"_a, "seed"_a, "threads"_a, "reward_at_end"_a, "begin_next"_a, "opponent"_a,
        "opponent_side"_a, "illegal_loses"_a,
        "Many games from these positions. `opponent`: 0 none, 1 random, 2 asked.");
    const auto buffer = [&](const char* buffer_name, auto get) {
        environment.def_prop_ro(buffer_name, [get](nb::handle self) {
            auto& games = nb::cast<Environment&>(self).games;
            auto& data = (games.*get)();
            using T = std::remove_pointer_t<decltype(data.data())>;
            return nb::ndarray<nb::numpy, T>(data.data(), {games.games(), data.size() / games.games()}, self);
        });
    };
    buffer("observation", &Games::observation);
    buffer("final_observation", &Games::final_observation);
    buffer("mask", &Games::mask);
    buffer("reward", &Games::reward);
    buffer("done", &Games::done);
    buffer("player", &Games::player);
    buffer("length", &Games::length);
    const auto bind_step = [&](auto integer) {
        using Integer = decltype(integer);
        environment.def(
            "step",
            [alone](Environment& self, Column<Integer> actions) {
                const std::span<const Integer> chosen(actions.data(), actions.size());
                alone(self, [&](Games& games) { games.step(chosen); });
            },
            nb::arg("actions").noconvert());
    };
    bind_step(std::int32_t());
    bind_step(std::int64_t());
    environment.def("sample", [alone](Environment& self) {
        std::vector<Action> chosen(self.games.games());
        alone(self, [&](Games& games) { games.sample(chosen); });
        const std::size_t size = chosen.size();
        return to_numpy(std::move(chosen), {size});
    });
    environment.def(
        "reset",
        [alone](Environment& self, std::optional<std::uint64_t> seed) {
            alone(self, [&](Games& games) { games.reset(seed); });
        },
        "seed"_a.none());
    environment.def(
        "waiting", [alone](Environment& self) { return alone(self, [](Games& games) { return games.waiting(); }); },
        "The games in which the opponent is asked, each with a seed for it.");
    environment.def(
        "answer",
        [alone](Environment& self, std::size_t game, Action action) {
            alone(self, [&](Games& games) { games.answer(game, action); });
        },
        "game"_a, "action"_a);
    environment.def(
        "state",
        [alone](Environment& self, std::size_t game) {
            if constexpr (requires(const S& state) { state.object(); }) {
                return nb::object(alone(self, [&](Games& games) { return games.state(game); }).object());
            } else {
                const auto [start, history] =
                    alone(self, [&](Games& games) { return std::make_pair(games.start(game), games.history(game)); });
                H handle = self.starts[start];
                for (const Action action : history) handle.apply(action);
                return handle;
            }
        },
        "game"_a, "A copy of the state of a game.");
    environment.def("save", [alone](Environment& self) {
        SavedGames saved = alone(self, [](Games& games) { return games.save(); });
        const std::size_t games = saved.starts.size(), actions = saved.actions.size();
        return std::make_tuple(
            to_numpy(std::move(saved.starts), {games}), to_numpy(std::move(saved.offsets), {games + 1}),
            to_numpy(std::move(saved.actions), {actions}), to_numpy(std::move(saved.learners), {games}),
            to_numpy(std::move(saved.streams), {games, 4}));
    });
    environment.def(
        "restore",
        [alone](Environment& self, Column<std::int32_t> starts, Column<std::int64_t> offsets, Column<Action> actions,
                Column<std::int8_t> learners, Column<std::uint64_t> streams) {
            const auto copied = [](const auto& column) {
                return std::vector(column.data(), column.data() + column.size());
            };
            const SavedGames saved = {copied(starts), copied(offsets), copied(actions), copied(learners),
                                      copied(streams)};
            alone(self, [&](Games& games) { games.restore(saved); });
        },
        "starts"_a, "offsets"_a, "actions"_a, "learners"_a, "streams"_a);
}

// Binds `Rules` (the caller adds constructors) and `State` with the interface of game.py, and the algorithms.
// The Python state of a game is a subclass of `State` that adds what people read: names, text and drawing.
template <GameState S>
std::pair<nb::class_<typename S::Rules>, nb::class_<Handle<S>>> bind_game(nb::module_& m) {
    using H = Handle<S>;
    using Rules = typename S::Rules;
    nb::class_<Rules> rules(m, "Rules");
    rules.def_prop_ro("players", [](const Rules& self) { return self.players(); });
    rules.def_prop_ro("num_actions", [](const Rules& self) { return self.num_actions(); });
    rules.def_prop_ro("observation_shape", [](const Rules& self) {
        const Shape shape = self.observation_shape();
        return std::make_tuple(shape[0], shape[1], shape[2]);
    });

    // For type checkers: `native_state` of game.py gives the subclasses what State of game.py has.
    nb::class_<H> state(m, "State", nb::sig("class State(rookery.game.State)"));
    // The copy comes first: the next overload takes any object.
    state.def(
        "__init__",
        [](H* self, const H& other) {
            other.keep_start();
            new (self) H(other);
        },
        "other"_a);
    state.def(
        "__init__",
        [](H* self, nb::object game) {
            const auto& r = nb::cast<const Rules&>(game.attr("rules"));
            new (self) H{game, S(r)};
        },
        "game"_a);
    state.def_prop_ro(
        "game", [](const H& self) { return self.game; },
        nb::for_getter(nb::sig("def game(self) -> rookery.game.Game")));
    state.def("player", [](const H& self) { return static_cast<int>(self.state.player()); });
    state.def("legal_actions", [](const H& self) {
        ActionList actions;
        self.state.legal_actions(actions);
        return actions;
    });
    const auto legal = [](const H& self, std::int64_t action) {
        return action >= 0 && action < self.state.rules().num_actions() &&
               is_legal(self.state, static_cast<Action>(action));
    };
    const auto refuse = [](nb::handle self, nb::handle action) {
        const std::string message =
            nb::cast<std::string>(nb::str("action {} is not legal in {}").format(action, nb::str(self)));
        throw nb::value_error(message.c_str());
    };
    state.def("is_legal", legal, "action"_a);
    state.def("chance_outcomes", [](const H& self) {
        ChanceList outcomes;
        if (self.state.player() == kChance) chance_outcomes(self.state, outcomes);
        return outcomes;
    });
    state.def(
        "apply",
        [legal, refuse](nb::handle py_self, nb::handle action) {
            H& self = nb::cast<H&>(py_self);
            std::int64_t number = 0;
            const bool small = nb::try_cast(action, number);
            if (!small && !PyLong_Check(action.ptr())) throw nb::type_error("an action is an integer");
            if (!small || !legal(self, number)) refuse(py_self, action);
            self.apply(static_cast<Action>(number));
        },
        "action"_a, nb::sig("def apply(self, action: int) -> None"));
    // Calls the constructor of the Python subclass, so that a clone has its class.
    const auto clone = [](nb::handle self) { return self.type()(self); };
    state.def("clone", clone, nb::sig("def clone(self) -> typing.Self"));
    state.def("__copy__", clone, nb::sig("def __copy__(self) -> typing.Self"));
    state.def(
        "__deepcopy__", [clone](nb::handle self, nb::handle) { return clone(self); }, "memo"_a,
        nb::sig("def __deepcopy__(self, memo: object) -> typing.Self"));
    state.def_prop_ro(
        "actions", [](const H& self) { return self.actions; },
        "The actions applied since `start`, chance outcomes included.");
    state.def_prop_ro(
        "start",
        [](nb::handle self) {
            const H& handle = nb::cast<const H&>(self);
            return self.type()(H{handle.game, handle.first()});
        },
        "The state in which the history of this one begins.");
    state.def(
        "__reduce__",
        [](nb::handle self) {
            const nb::object start = self.attr("start");
            return nb::make_tuple(nb::module_::import_("rookery.game").attr("replay"),
                                  nb::make_tuple(self.attr("game"), nb::str(start), self.attr("actions")));
        },
        nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
    state.def(
        "__repr__", [](nb::handle self) { return nb::module_::import_("rookery.game").attr("describe")(self); },
        nb::sig("def __repr__(self) -> str"));
    const auto returns = [](const H& self) {
        const int players = self.state.rules().players();
        const Returns values = self.state.player() == kTerminal ? Returns(self.state.returns()) : Returns{};
        return std::vector<double>(values.begin(), values.begin() + players);
    };
    state.def("returns", returns);
    state.def("rewards", [returns](const H& self) {
        if constexpr (requires { self.state.score(); }) return std::vector<double>{self.gained};
        return returns(self);
    });
    state.def("legal_mask", [](const H& self) {
        ActionList actions;
        self.state.legal_actions(actions);
        const auto size = static_cast<std::size_t>(self.state.rules().num_actions());
        auto* mask = new bool[size]{};
        for (const Action action : actions) mask[action] = true;
        nb::capsule owner(mask, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
        return nb::ndarray<nb::numpy, bool>(mask, {size}, owner);
    });
    state.def("key", [](const H& self) {
        const std::string key = self.state.key();
        return nb::bytes(key.data(), key.size());
    });
    state.def("observation", [](const H& self) {
        const Shape shape = self.state.rules().observation_shape();
        const auto planes = static_cast<std::size_t>(shape[0]), rows = static_cast<std::size_t>(shape[1]),
                   columns = static_cast<std::size_t>(shape[2]);
        std::vector<float> data(planes * rows * columns);
        self.state.observe(data.data());
        return to_numpy(std::move(data), {planes, rows, columns});
    });
    state.def("__eq__", [](const H& self, nb::handle other) {
        H* same = nullptr;
        return nb::try_cast(other, same) && same && (self.game.is(same->game) || self.game.equal(same->game)) &&
               self.state.key() == same->state.key();
    });
    state.def("__hash__", [](const H& self) { return std::hash<std::string>{}(self.state.key()); });
    state.def("_repr_svg_", [](nb::handle self) { return nb::str(self.attr("svg")()); });
    bind_algorithms(state);
    bind_policy_searches(state);
    bind_vector<float>(state, "Vector");
    bind_vector<std::uint8_t>(state, "ByteVector");
    bind_many_games(state);
    bind_puct(state);
    return {rules, state};
}

}  // namespace rookery
