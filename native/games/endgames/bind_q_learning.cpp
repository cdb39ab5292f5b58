#include "games/endgames/q_learning.hpp"

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <mutex>
#include <unordered_map>

namespace rookery {

using namespace endgames;

// An engine written in Python: a function from a FEN to (action, mate, score). It is asked once per position.
class PyEngine : public Engine {
public:
    explicit PyEngine(nb::object function) : function_(std::move(function)) {}

    Answer ask(const Position& position) override {
        std::lock_guard lock(mutex_);
        const auto known = answers_.find(position.code());
        if (known != answers_.end()) return known->second;
        Answer answer;
        {
            nb::gil_scoped_acquire gil;
            const auto said = nb::cast<std::tuple<Action, bool, int>>(function_(endgames::to_fen({position})));
            answer = {std::get<0>(said), std::get<1>(said), std::get<2>(said)};
        }
        if (!endgames::is_legal(position, legal_moves(position), answer.best)) {
            throw std::invalid_argument("the engine's move is not legal in " + endgames::to_fen({position}));
        }
        answers_.emplace(position.code(), answer);
        return answer;
    }

private:
    nb::object function_;
    std::mutex mutex_;
    std::unordered_map<std::uint64_t, Answer> answers_;
};

// (positions [n], number of moves of each [n], actions and values of all of them, one after the other)
static auto table_arrays(const QTable& table) {
    std::vector<std::uint64_t> positions;
    std::vector<std::uint16_t> counts, actions;
    std::vector<double> all_values;
    table.for_each_learned([&](const Position& position, std::span<const double> values) {
        positions.push_back(position.code());
        counts.push_back(static_cast<std::uint16_t>(values.size()));
        for_each_move(position, legal_moves(position),
                      [&](Move move) { actions.push_back(static_cast<std::uint16_t>(action_of(move))); });
        all_values.insert(all_values.end(), values.begin(), values.end());
    });
    const std::size_t rows = positions.size(), entries = actions.size();
    return std::make_tuple(to_numpy(std::move(positions), {rows}), to_numpy(std::move(counts), {rows}),
                           to_numpy(std::move(actions), {entries}), to_numpy(std::move(all_values), {entries}));
}

static void check(const Settings& s) {
    const auto refuse = [](const char* sentence) { throw nb::value_error(sentence); };
    if (!(s.alpha > 0 && s.alpha <= 1)) refuse("alpha must be above 0 and at most 1");
    if (!(s.gamma > 0 && s.gamma <= 1)) refuse("gamma must be above 0 and at most 1");
    if (!(s.epsilon >= 0 && s.epsilon <= 1)) refuse("epsilon must be from 0 to 1");
    if (!(s.decay >= 1 && s.decay <= 1000)) refuse("decay must be from 1 (no decay) to 1000");
    if (!std::isfinite(s.win) || !std::isfinite(s.draw)) refuse("the rewards must be finite");
    if (!(s.explored >= 0 && s.explored <= 1)) refuse("explored must be from 0 to 1");
    if (!(s.steps_per_square >= 0 && s.steps_per_square <= 100)) refuse("steps_per_square must be from 0 to 100");
}

ROOKERY_BIND(endgames, 3) {
    using H = Handle<endgames::State>;

    nb::class_<Engine>(m, "Engine", "Answers for every position: a move and what the position is worth.")
        .def(
            "ask",
            [](Engine& self, const H& state) {
                const Answer answer = self.ask(state.state.position());
                return std::make_tuple(answer.best, answer.mate, answer.score);
            },
            "state"_a, "(action, mate, score) as seen by the side with the pieces.");
    nb::class_<PyEngine, Engine>(m, "PyEngine").def(nb::init<nb::object>(), "function"_a);

    nb::class_<PerfectEngine, Engine>(m, "PerfectEngine")
        .def(nb::init<std::shared_ptr<const endgames::DistanceTable>>(), "table"_a);

    nb::class_<Settings>(m, "QSettings")
        .def(
            "__init__",
            [](Settings* self, double alpha, double gamma, double epsilon, double decay, double win, double draw,
               bool engine_reward, bool potential, double steps_per_square, double explored) {
                new (self) Settings{alpha,         gamma,     epsilon,          decay,   win, draw,
                                    engine_reward, potential, steps_per_square, explored};
                check(*self);
            },
            nb::kw_only(), "alpha"_a, "gamma"_a, "epsilon"_a, "decay"_a, "win"_a, "draw"_a, "engine_reward"_a,
            "potential"_a, "steps_per_square"_a, "explored"_a);

    nb::class_<Run>(m, "QRun")
        .def_prop_ro(
            "moves",
            [](const Run& self) {
                std::vector<std::int32_t> moves;
                for (const Match& match : self.matches) moves.push_back(match.moves);
                const std::size_t count = moves.size();
                return to_numpy(std::move(moves), {count});
            },
            nb::rv_policy::move)
        .def_prop_ro(
            "endings",
            [](const Run& self) {
                std::vector<std::uint8_t> endings;
                for (const Match& m : self.matches) endings.push_back(static_cast<std::uint8_t>(m.ending));
                const std::size_t count = endings.size();
                return to_numpy(std::move(endings), {count});
            },
            nb::rv_policy::move)
        .def_prop_ro("validation",
                     [](const Run& self) {
                         return std::make_pair(static_cast<int>(self.validation.ending), self.validation.moves);
                     })
        .def(
            "table", [](const Run& self, bool strong) { return table_arrays(strong ? self.strong : self.weak); },
            "strong"_a);

    m.def(
        "train",
        [](const H& start, const Settings& settings, bool strong_learns, bool weak_learns, Engine& engine, int matches,
           int first_run, int runs, std::uint64_t seed, int threads, Control* given) {
            if (matches < 0 || matches > 10'000'000) throw nb::value_error("the number of matches must be 0 to 10^7");
            if (runs < 0 || runs > 100'000) throw nb::value_error("the number of runs must be 0 to 100000");
            if (first_run < 0) throw nb::value_error("the number of the first run must not be negative");
            if (threads < 0) throw nb::value_error("the number of threads must not be negative; 0 means all cores");
            if (start.state.player() == kTerminal) throw nb::value_error("the game is over in the start position");
            ControlOrNone call(given);
            std::vector<Run> results(runs);
            interruptible(call.control, [&] {
                parallel_blocks(runs, threads, [&](std::int64_t run) {
                    results[run] = train(start.state, settings, strong_learns, weak_learns, engine, matches,
                                         Rng(seed, first_run + run), call.control);
                });
            });
            return results;
        },
        "start"_a, "settings"_a, "strong_learns"_a, "weak_learns"_a, "engine"_a, "matches"_a, "first_run"_a, "runs"_a,
        "seed"_a, "threads"_a, "control"_a = nb::none(), "`control.done` counts matches.");

    m.def(
        "fen",
        [](std::uint64_t code) {
            const auto p = std::bit_cast<Position>(code);
            const auto square = [](std::uint8_t at) { return at < 64; };
            const auto piece = [&](int i) {
                return p.kinds[i] == endgames::kNoPiece ? p.squares[i] == endgames::kNoSquare : square(p.squares[i]);
            };
            if (!square(p.strong_king) || !square(p.weak_king) || !piece(0) || !piece(1) || p.strong > 1 ||
                p.to_move > 1 || p.kinds[0] > endgames::kPawn || p.kinds[1] > endgames::kPawn) {
                throw nb::value_error("no position has this code");
            }
            return endgames::to_fen({p});
        },
        "code"_a, "The position with this `State.key()`, as FEN.");
    m.def(
        "king_area", [](const H& state) { return king_area(state.state.position()); }, "state"_a,
        "Squares the lone king could walk to if nothing else moved, its own included.");
    m.def("king_distance", [](const H& state) { return king_distance(state.state.position()); }, "state"_a);
    m.def("heuristic_reward", [](const H& state) { return heuristic_reward(state.state.position()); }, "state"_a);
    m.def(
        "stockfish_reward", [](bool mate, int score) { return stockfish_reward({-1, mate, score}); }, "mate"_a,
        "score"_a);
}

}  // namespace rookery
