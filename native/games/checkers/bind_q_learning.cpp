#include "games/checkers/q_table_match.hpp"

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <cmath>

namespace rookery {

using namespace checkers;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static void check(const Settings& s) {
    const auto refuse = [](const char* sentence) { throw nb::value_error(sentence); };
    if (!(s.alpha > 0 && s.alpha <= 1)) refuse("alpha must be above 0 and at most 1");
    if (!(s.epsilon >= 0 && s.epsilon <= 1)) refuse("epsilon must be from 0 to 1");
    if (!(s.first_discount >= 0 && s.first_discount <= 1)) refuse("the first discount must be from 0 to 1");
    if (!(s.last_discount >= 0 && s.last_discount <= 1)) refuse("the last discount must be from 0 to 1");
    if (!std::isfinite(s.draw_reward) || std::abs(s.draw_reward) > 1) refuse("the draw reward must be from -1 to 1");
    if (!std::isfinite(s.capture_reward) || std::abs(s.capture_reward) > 1000) {
        refuse("the capture reward must be from -1000 to 1000");
    }
    if (!(s.reward_decay >= 0 && s.reward_decay <= 1)) refuse("the reward decay must be from 0 to 1");
}

static void check_threads(int threads) {
    if (threads < 0) throw nb::value_error("the number of threads must not be negative; 0 means all cores");
}

// How a table is saved: Black's pieces, White's, kings [n] as sets of squares, side to move [n], a bit per value that
// says whether it is not 0 [ceil(m / 8)], and those values [k].
static auto table_arrays(const QTable& table) {
    std::vector<std::uint32_t> black, white, kings;
    std::vector<std::uint8_t> side, learned;
    std::vector<float> values;
    std::size_t bit = 0;
    for (std::uint32_t row = 0; row < table.size(); ++row) {
        const Position p = table.position(row);
        black.push_back(p.pieces[0]);
        white.push_back(p.pieces[1]);
        kings.push_back(p.kings);
        side.push_back(static_cast<std::uint8_t>(p.side));
        const int actions = count_actions(p, checkers::find_starts(p));
        for (int i = 0; i < actions; ++i, ++bit) {
            if (bit % 8 == 0) learned.push_back(0);
            const float q = table.values(row)[i];
            if (q == 0) continue;
            learned.back() |= static_cast<std::uint8_t>(1 << bit % 8);
            values.push_back(q);
        }
    }
    const std::size_t rows = table.size(), bytes = learned.size(), found = values.size();
    return std::make_tuple(to_numpy(std::move(black), {rows}), to_numpy(std::move(white), {rows}),
                           to_numpy(std::move(kings), {rows}), to_numpy(std::move(side), {rows}),
                           to_numpy(std::move(learned), {bytes}), to_numpy(std::move(values), {found}));
}

static std::shared_ptr<QTable> table_from_arrays(Array<std::uint32_t> black, Array<std::uint32_t> white,
                                                 Array<std::uint32_t> kings, Array<std::uint8_t> side,
                                                 Array<std::uint8_t> learned, Array<float> values) {
    const std::size_t rows = black.shape(0);
    if (white.shape(0) != rows || kings.shape(0) != rows || side.shape(0) != rows) {
        throw nb::value_error("the arrays of positions have different lengths");
    }
    auto table = std::make_shared<QTable>();
    std::size_t bit = 0, next = 0;
    const auto refuse = [] { throw nb::value_error("the values do not belong to the positions"); };
    for (std::size_t row = 0; row < rows; ++row) {
        const Position p = {{black(row), white(row)}, kings(row), side(row)};
        checkers::check(p);
        const int actions = count_actions(p, checkers::find_starts(p));
        if (actions == 0) throw nb::value_error("a position has no legal move");
        if (table->find_row(p) != QTable::kNone) throw nb::value_error("a position is there twice");
        float* to = table->find_or_add(p, actions);
        for (int i = 0; i < actions; ++i, ++bit) {
            if (bit / 8 >= learned.shape(0)) refuse();
            if (!(learned(bit / 8) >> bit % 8 & 1)) continue;
            if (next == values.shape(0)) refuse();
            to[i] = values(next++);
            if (!std::isfinite(to[i])) throw nb::value_error("a value is not a finite number");
        }
    }
    if (next != values.shape(0) || learned.shape(0) != (bit + 7) / 8) refuse();
    return table;
}

// An action that only one table has learned keeps its value, one that both have gets the mean.
static void merge(QTable& table, const QTable& other) {
    for (std::uint32_t row = 0; row < other.size(); ++row) {
        const Position p = other.position(row);
        const int actions = count_actions(p, checkers::find_starts(p));
        const float* from = other.values(row);
        float* to = table.find_or_add(p, actions);
        for (int i = 0; i < actions; ++i) to[i] = to[i] == 0 || from[i] == 0 ? to[i] + from[i] : (to[i] + from[i]) / 2;
    }
}

static ActionList actions_of(const Position& p) {
    ActionList actions;
    checkers::for_each_action(p, checkers::find_starts(p), [&](Action action) { actions.push_back(action); });
    return actions;
}

ROOKERY_BIND(checkers, 2) {
    using H = Handle<State>;

    nb::class_<Settings>(m, "QSettings")
        .def(
            "__init__",
            [](Settings* self, double alpha, double epsilon, double first_discount, double last_discount,
               double draw_reward, double capture_reward, double reward_decay, bool program) {
                new (self) Settings{alpha,       epsilon,        first_discount, last_discount,
                                    draw_reward, capture_reward, reward_decay,   program};
                check(*self);
            },
            nb::kw_only(), "alpha"_a, "epsilon"_a, "first_discount"_a, "last_discount"_a, "draw_reward"_a,
            "capture_reward"_a, "reward_decay"_a, "program"_a);

    nb::class_<QTable>(m, "QTable", "Values of actions by position. Not to be read while it learns.")
        .def(nb::init<>())
        .def("__len__", &QTable::size)
        .def_prop_ro("bytes", &QTable::bytes, "Memory in use.")
        .def(
            "values",
            [](const QTable& self, const H& state) -> std::optional<std::vector<std::pair<Action, float>>> {
                const Position& p = state.state.position();
                const float* values = self.find(p);
                if (!values) return std::nullopt;
                std::vector<std::pair<Action, float>> pairs;
                for (const Action action : actions_of(p)) pairs.emplace_back(action, *values++);
                return pairs;
            },
            "state"_a, "(action, value) of every legal action, or None where the position is unknown.")
        .def(
            "train",
            [](QTable& self, const H& start, const Settings& settings, std::int64_t first, std::int64_t end,
               std::int64_t games, std::uint64_t seed, Control* given) {
                if (first < 0 || end < first || games < end) {
                    throw nb::value_error("games are numbered from 0 to the length of the training");
                }
                if (start.state.player() == kTerminal) throw nb::value_error("the game is over in the start position");
                ControlOrNone call(given);
                const TrainingResult result = interruptible(
                    call.control,
                    [&] { return train(self, start.state, settings, first, end, games, seed, call.control); },
                    /*keep=*/true);
                return std::make_tuple(result.games, result.plies, result.results);
            },
            "start"_a, "settings"_a, "first"_a, "end"_a, "games"_a, "seed"_a, "control"_a = nb::none(),
            "Games `first` to `end` of a training of `games`: (games, plies, [Black won, drawn, White won]). Fewer games "
            "than asked for after Ctrl-C, or when stopped.")
        .def(
            "learn",
            [](QTable& self, const H& start, const ActionList& actions, const Settings& settings, double discount) {
                State state = start.state;
                std::vector<Step> steps;
                for (const Action action : actions) {
                    const ActionList legal = actions_of(state.position());
                    const auto found = std::find(legal.begin(), legal.end(), action);
                    if (state.player() == kTerminal || found == legal.end()) {
                        throw nb::value_error("the game has an illegal action");
                    }
                    steps.push_back({state.position(), static_cast<std::int32_t>(found - legal.begin()),
                                     static_cast<std::int32_t>(legal.size()),
                                     std::popcount(checkers::track(action).captured)});
                    state.apply(action);
                }
                if (state.player() != kTerminal) throw nb::value_error("the game is not over");
                learn_from_game<QTable>(self, steps, state.returns(), settings, discount);
            },
            "start"_a, "actions"_a, "settings"_a, "discount"_a, "The walk through one finished game.")
        .def(
            "keep_training",
            [](const QTable& self, const H& state, const Settings& settings, std::int64_t games, std::uint64_t seed) {
                if (games < 1) throw nb::value_error("the number of games must be at least 1");
                if (state.state.player() == kTerminal) throw nb::value_error("the game is over in the position");
                LayeredTable layer(self);
                Control control;
                interruptible(control, [&] { train(layer, state.state, settings, 0, games, games, seed, control); });
                std::vector<std::pair<Action, float>> pairs;
                const float* values = layer.find(state.state.position());
                for (const Action action : actions_of(state.state.position())) pairs.emplace_back(action, *values++);
                return pairs;
            },
            "state"_a, "settings"_a, "games"_a, "seed"_a,
            "(action, value) after training games from a position; the table stays as it is.")
        .def("merge", &merge, "other"_a,
             "Add another table: an action that both have learned gets the mean of the two values.")
        .def("arrays", &table_arrays)
        .def_static("from_arrays", &table_from_arrays, "black"_a, "white"_a, "kings"_a, "side"_a, "learned"_a,
                    "values"_a)
        .def(
            "strongest_votes",
            [](const QTable& self, const H& state, Action action, std::size_t most, int symmetries, int threads,
               bool program) {
                check_threads(threads);
                if (!state.state.is_legal(action)) throw nb::value_error("the action is not legal in the position");
                const Position p = state.state.position();
                Control control;
                const auto [for_it, against] = interruptible(
                    control, [&] { return strongest_votes(self, symmetries, p, action, most, threads, program); });
                const auto rows = [&](const std::vector<Vote>& votes) {
                    nb::list list;
                    for (const Vote& v : votes) {
                        const Position prior = self.position(v.row);
                        list.append(nb::make_tuple(v.weight, v.q, v.matching, prior.pieces[0], prior.pieces[1],
                                                   prior.kings, prior.side, v.action, v.symmetry));
                    }
                    return list;
                };
                return nb::make_tuple(rows(for_it), rows(against));
            },
            "state"_a, "action"_a, "most"_a, "symmetries"_a, "threads"_a, "program"_a,
            "Those for the action and those against it, each (weight, q, matching cells, Black, White, kings, side, "
            "action, symmetry).",
            nb::sig("def strongest_votes(self, state: rookery._native.checkers.State, action: int, most: int, "
                    "symmetries: int, threads: int, program: bool) -> tuple[list[typing.Any], list[typing.Any]]"));

    nb::class_<PriorStateVoting>(m, "PriorStateVoting", "The votes of a table as it was when this was made.")
        .def(
            "__init__",
            [](PriorStateVoting* self, const QTable& table, int symmetries, int threads, bool program) {
                check_threads(threads);
                Control control;
                new (self) PriorStateVoting(
                    interruptible(control, [&] { return PriorStateVoting(table, symmetries, threads, program); }));
            },
            "table"_a, "symmetries"_a = 1, "threads"_a = 0, "program"_a = false)
        .def(
            "scores",
            [](const PriorStateVoting& self, const H& state) {
                std::vector<MeanVote> scores;
                self.scores(state.state.position(), scores);
                std::vector<std::tuple<Action, double, std::int64_t>> rows;
                const ActionList actions = actions_of(state.state.position());
                for (std::size_t i = 0; i < actions.size(); ++i) {
                    rows.emplace_back(actions[i], scores[i].mean, scores[i].votes);
                }
                return rows;
            },
            "state"_a, "(action, score, votes) of every legal action.");

    m.def(
        "program_first",
        [](const ActionList& actions) {
            for (const Action action : actions) checkers::decode(action);  // refuses what is no action
            if (actions.empty()) throw nb::value_error("there are no actions");
            return *std::min_element(actions.begin(), actions.end(),
                                     [](Action a, Action b) { return program_order(a) < program_order(b); });
        },
        "actions"_a, "The action that the author's program lists first.");
    m.def(
        "first_moves",
        [](Array<std::uint32_t> black, Array<std::uint32_t> white, Array<std::uint32_t> kings,
           Array<std::uint8_t> side) {
            const std::size_t n = black.shape(0);
            if (white.shape(0) != n || kings.shape(0) != n || side.shape(0) != n) {
                throw nb::value_error("the arrays of positions have different lengths");
            }
            std::vector<std::uint32_t> starts(4 * n);
            for (std::size_t i = 0; i < n; ++i) {
                const checkers::Starts found =
                    checkers::find_starts({{black(i), white(i)}, kings(i), std::uint32_t(side(i) & 1)});
                for (int direction = 0; direction < 4; ++direction) {
                    const std::uint64_t half = direction < 2 ? found.down : found.up;
                    starts[4 * i + direction] = static_cast<std::uint32_t>(half >> 32 * (direction % 2));
                }
            }
            return to_numpy(std::move(starts), {n, 4});
        },
        "black"_a, "white"_a, "kings"_a, "side"_a,
        "[n, 4]: the squares from which a legal move starts in each direction, as sets.");
    m.def(
        "play_against_random",
        [](const QTable& table, const std::string& fallback, const PriorStateVoting* voting, const Settings& training,
           std::int64_t repetitions, const H& start, std::int64_t games, std::uint64_t seed, int threads,
           Control* given) {
            check_threads(threads);
            if (games < 0 || games > 100'000'000) throw nb::value_error("the number of games must be 0 to 10^8");
            if (repetitions < 1) throw nb::value_error("the number of repetitions must be at least 1");
            MatchSettings settings{Fallback::kRandom, voting, training, repetitions, training.program};
            if (fallback == "voting") settings.fallback = Fallback::kVoting;
            if (fallback == "keep-training") settings.fallback = Fallback::kKeepTraining;
            if (fallback == "voting" && !voting) throw nb::value_error("the fallback voting needs the votes");
            std::vector<TableGame> played(games);
            ControlOrNone call(given);
            interruptible(call.control, [&] {
                play_against_random(table, settings, start.state, played, seed, threads, call.control);
            });
            std::vector<double> rows;
            for (const TableGame& g : played) {
                for (const double x : {g.result, double(g.plies), double(g.moves), double(g.known), g.seconds}) {
                    rows.push_back(x);
                }
            }
            return to_numpy(std::move(rows), {static_cast<std::size_t>(games), 5});
        },
        "table"_a, "fallback"_a, "voting"_a.none(), "training"_a, "repetitions"_a, "start"_a, "games"_a, "seed"_a,
        "threads"_a, "control"_a = nb::none(),
        "[games, 5]: result of the table, plies (-1: stopped before its end), the table's moves, those in known "
        "positions, CPU seconds. `control.done` counts games.");
}

}  // namespace rookery
