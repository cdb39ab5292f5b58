// Checkers beyond the rules: search, matches, the learned value, solved endgames.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"
#include "games/checkers/td.hpp"
#include "games/checkers/matches.hpp"

namespace rookery {

using namespace checkers;
using H = Handle<checkers::State>;
using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig>;

static std::vector<float> to_vector(const Floats& array) { return {array.data(), array.data() + array.size()}; }

static int checked_threads(int threads) {
    if (threads < 0) throw nb::value_error("the number of threads must not be negative; 0 means all cores");
    return threads;
}

static void bind_endgames(nb::module_& m) {
    nb::class_<Database> endgames(m, "Database", "The distance to the end of the game in every position of few pieces.");
    endgames.attr("DRAWN") = static_cast<int>(Database::kDrawn);
    endgames.def_static(
        "solve",
        [](int pieces, int threads, Control* given) {
            ControlOrNone call(given);
            checked_threads(threads);
            auto made = interruptible(call.control, [&] { return solve_endgames(pieces, threads, call.control); });
            if (call.control.stopped()) throw std::runtime_error("the endgames were stopped before they were complete");
            return made;
        },
        "pieces"_a, "threads"_a = 0, "control"_a = nb::none());
    endgames.def_static(
        "load",
        [](int pieces, nb::bytes table) {
            auto loaded = std::make_shared<Database>(pieces);
            if (table.size() != loaded->size()) throw nb::value_error("the table has another size");
            loaded->table.assign(table.c_str(), table.c_str() + table.size());
            return loaded;
        },
        "pieces"_a, "table"_a);
    endgames.def_static("size_of", [](int pieces) { return Database(pieces).size(); }, "pieces"_a);
    endgames.def_prop_ro("pieces", &Database::pieces);
    endgames.def_prop_ro(
        "table",
        [](nb::handle self) {
            const auto& bytes = nb::cast<const Database&>(self).table;
            return nb::ndarray<nb::numpy, const std::uint8_t>(bytes.data(), {bytes.size()}, self);
        },
        "Plies to the end by number: odd, the side to move wins; even, it loses; 254 drawn, 255 no position.");
    endgames.def_prop_ro(
        "materials",
        [](const Database& self) {
            std::vector<std::array<std::size_t, 6>> rows;
            for (const auto& x : self.materials()) {
                rows.push_back({std::size_t(x.men), std::size_t(x.kings), std::size_t(x.other_men),
                                std::size_t(x.other_kings), x.first, x.size});
            }
            return rows;
        },
        "Men and kings of the side to move and of the other, first number, how many numbers.");
    endgames.def("covers", [](const Database& self, const H& state) { return self.covers(state.state.position()); },
                 "state"_a);
    const auto look_up = [](const Database& self, const Position& p) {
        if (!self.covers(p)) throw nb::value_error("the position has too many pieces");
        return static_cast<int>(self.look_up(p));
    };
    endgames.def("plies", [look_up](const Database& self, const H& state) { return look_up(self, state.state.position()); },
                 "state"_a, "The byte of a position.");
    endgames.def(
        "moves",
        [look_up](const Database& self, const H& state) {
            std::vector<std::pair<Action, int>> rows;
            const Position& p = state.state.position();
            for_each_action(p, find_starts(p),
                            [&](Action action) { rows.emplace_back(action, look_up(self, play(p, action))); });
            return rows;
        },
        "state"_a, "Every move with the byte of the position it leads to.");
    endgames.def(
        "squares",
        [](const Database& self, std::size_t number) -> std::optional<std::array<Squares, 3>> {
            Position p;
            if (!self.position(self.material(number), number, p)) return std::nullopt;
            return std::array<Squares, 3>{p.pieces[0], p.pieces[1], p.kings};
        },
        "number"_a, "Black's, White's and the kings' squares as bits, Black to move; None if no position has the number.");
}

// A search with what it needs, kept alive.
struct OwningSearch {
    std::shared_ptr<const Evaluation> evaluation;
    std::shared_ptr<const Database> endgames;
    Search search;

    OwningSearch(std::shared_ptr<const Evaluation> e, std::shared_ptr<const Database> t)
        : evaluation(std::move(e)), endgames(std::move(t)), search(*evaluation, endgames.get(), 18) {}
};

static std::shared_ptr<const Evaluation> or_material(std::shared_ptr<PatternValue> value) {
    if (value) return value;
    return std::make_shared<MaterialValue>();
}

static void bind_search(nb::module_& m) {
    nb::class_<PatternValue>(m, "PatternValue", "The learned value of a position, in hundredths of log-odds.")
        .def("__init__",
             [](PatternValue* self, const Floats& weights) { new (self) PatternValue(to_vector(weights)); }, "weights"_a)
        .def("__call__", [](const PatternValue& self, const H& state) { return self(state.state.position()); },
             "state"_a)
        .def_prop_ro_static("size", [](nb::handle) { return Patterns::kWeights; });
    m.def(
        "patterns",
        [](const H& state) {
            std::vector<std::uint32_t> active;
            Patterns::for_each(state.state.position(), [&](std::uint32_t i) { active.push_back(i); });
            return active;
        },
        "state"_a, "The numbers of a position's patterns.");

    const auto rows = [](const std::vector<Search::Value>& moves) {
        std::vector<std::pair<Action, Score>> pairs;
        for (const auto& move : moves) pairs.emplace_back(move.action, move.score);
        return pairs;
    };
    nb::class_<OwningSearch>(m, "Search")
        .def("__init__",
             [](OwningSearch* self, std::shared_ptr<PatternValue> value, std::shared_ptr<Database> endgames) {
                 new (self) OwningSearch(or_material(std::move(value)), std::move(endgames));
             },
             "value"_a = nb::none(), "endgames"_a = nb::none())
        .def(
            "best",
            [rows](OwningSearch& self, const H& state, int depth, Control* given) {
                ControlOrNone call(given);
                return rows(interruptible(call.control,
                                          [&] { return self.search.best(state.state, depth, call.control); }));
            },
            "state"_a, "depth"_a, "control"_a = nb::none(), "The moves of greatest score.")
        .def(
            "values",
            [rows](OwningSearch& self, const H& state, int depth, Control* given) {
                ControlOrNone call(given);
                return rows(interruptible(call.control,
                                          [&] { return self.search.values(state.state, depth, call.control); }));
            },
            "state"_a, "depth"_a, "control"_a = nb::none(), "Every legal move with its exact score.")
        .def_prop_ro("nodes", [](const OwningSearch& self) { return self.search.nodes; }, "Positions entered in the last call.");
    m.attr("DECIDED") = kDecided;
    m.attr("MAX_EVALUATION") = kMaxEvaluation;
    m.attr("SCORE_SCALE") = kScoreScale;

    nb::class_<Player>(m, "Player", "Plays by search to a depth; at random if that is 0.")
        .def("__init__",
             [](Player* self, int depth, std::shared_ptr<PatternValue> value, std::shared_ptr<Database> endgames) {
                 if (depth < 0 || depth > Search::kMaxDepth) throw nb::value_error("the depth must be 0 to 60");
                 new (self) Player{depth, or_material(std::move(value)), std::move(endgames)};
             },
             "depth"_a, "value"_a = nb::none(), "endgames"_a = nb::none());
    m.def(
        "play_match",
        [](const H& start, const Player& first, const Player& second, std::int64_t games, std::uint64_t seed,
           int threads, Control* given) {
            if (games < 1 || games > 100'000'000) throw nb::value_error("the number of games must be 1 to 10^8");
            checked_threads(threads);
            ControlOrNone call(given);
            std::vector<MatchGame> played(games);
            interruptible(call.control, [&] {
                play_match(start.state, {first, second}, seed, threads, std::span(played), call.control);
            });
            std::vector<std::int64_t> flat;
            for (const auto& game : played) {
                for (const std::int64_t x : {std::int64_t(game.result), std::int64_t(game.plies),
                                             std::int64_t(game.moves[0]), std::int64_t(game.moves[1]),
                                             std::int64_t(game.nodes[0]), std::int64_t(game.nodes[1])}) {
                    flat.push_back(x);
                }
            }
            return to_numpy(std::move(flat), {static_cast<std::size_t>(games), 6});
        },
        "start"_a, "first"_a, "second"_a, "games"_a, "seed"_a, "threads"_a = 0, "control"_a = nb::none(),
        "A row for each game: result for the first player, plies (-1: not played), searched moves and nodes of each.");
}

static void bind_learner(nb::module_& m) {
    nb::class_<TdLearner>(m, "TdLearner")
        .def("__init__",
             [](TdLearner* self, int depth, double lambda, double exploration, int opening) {
                 new (self) TdLearner({depth, lambda, exploration, opening});
             },
             "depth"_a, "lambda_"_a, "exploration"_a, "opening"_a)
        .def(
            "train",
            [](TdLearner& self, const H& start, std::int64_t first_game, std::int64_t games, double step,
               std::uint64_t seed, int threads, Control* given) {
                if (games < 1) throw nb::value_error("the number of games must be at least 1");
                checked_threads(threads);
                ControlOrNone call(given);
                const auto totals = interruptible(call.control, [&] {
                    return self.train(start.state, first_game, games, step, seed, threads, call.control);
                });
                return std::make_tuple(totals.games, totals.plies, totals.draws, totals.learned, totals.squared_error);
            },
            "start"_a, "first_game"_a, "games"_a, "step"_a, "seed"_a, "threads"_a = 0, "control"_a = nb::none(),
            "Games, plies, draws, positions learned, sum of squared errors.")
        .def("state",
             [](const TdLearner& self) {
                 const auto copy = [](std::vector<float> data) {
                     const std::size_t n = data.size();
                     return to_numpy(std::move(data), {n});
                 };
                 return std::make_tuple(copy(self.weights.value), copy(self.weights.error), copy(self.weights.magnitude));
             })
        .def(
            "restore",
            [](TdLearner& self, const Floats& value, const Floats& error, const Floats& magnitude) {
                for (const auto* array : {&value, &error, &magnitude}) {
                    if (array->size() != Patterns::kWeights) throw nb::value_error("another number of weights");
                }
                self.weights.value = to_vector(value);
                self.weights.error = to_vector(error);
                self.weights.magnitude = to_vector(magnitude);
            },
            "value"_a, "error"_a, "magnitude"_a);
}

ROOKERY_BIND(checkers, 2) {
    bind_endgames(m);
    bind_search(m);
    bind_learner(m);
}

}  // namespace rookery
