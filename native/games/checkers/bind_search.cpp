// Checkers beyond the rules: search, matches, the learned value, solved endgames.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"
#include "games/checkers/td.hpp"
#include "games/checkers/matches.hpp"
#include "games/checkers/net_learner.hpp"

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
    nb::class_<Database> endgames(m, "Database",
                                  "The distance to the end of the game in every position of few pieces.");
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
            for (int whole = 2; whole <= pieces; ++whole) {
                auto loaded = std::make_shared<Database>(pieces, whole);
                if (table.size() != loaded->table_size()) continue;
                loaded->table.assign(table.c_str(), table.c_str() + table.size());
                return loaded;
            }
            throw nb::value_error("the table has another size");
        },
        "pieces"_a, "table"_a, "A table of these or of fewer pieces; files for all others are to be attached.");
    endgames.def_static("size_of", [](int pieces) { return Database(pieces, pieces).size(); }, "pieces"_a);
    endgames.def(
        "attach", &Database::attach, "place"_a, "path"_a,
        "Reads the values of a material from a file, when they are needed; ValueError says what is wrong with it.");
    endgames.def(
        "unpacked",
        [](const Database& self, int pieces, int threads, Control* given) {
            ControlOrNone call(given);
            checked_threads(threads);
            auto made = std::make_shared<Database>(pieces, pieces - 1);
            interruptible(call.control, [&] {
                made->table.resize(made->table_size());
                self.unpack_into(*made, threads, call.control);
            });
            if (call.control.stopped()) throw std::runtime_error("the endgames were stopped before they were complete");
            return made;
        },
        "pieces"_a, "threads"_a = 0, "control"_a = nb::none(),
        "A database of this many pieces, with those of fewer in its table.");
    endgames.def(
        "solve_group",
        [](const Database& self, std::size_t group, int threads, Control* given) {
            ControlOrNone call(given);
            checked_threads(threads);
            const auto& places = self.groups().at(group);
            const auto files = interruptible(call.control, [&] {
                auto values = Solver(self, places, threads, call.control).run();
                std::vector<Bytes> packed;
                for (std::size_t i = 0; i < places.size() && !call.control.stopped(); ++i)
                    packed.push_back(self.pack(places[i], std::move(values[i]), threads));
                return packed;
            });
            if (call.control.stopped()) throw std::runtime_error("the endgames were stopped before they were complete");
            nb::typed<nb::list, nb::bytes> found;
            for (const Bytes& file : files) found.append(nb::bytes(file.data(), file.size()));
            return found;
        },
        "group"_a, "threads"_a = 0, "control"_a = nb::none(), "The contents of the files of its materials.");
    endgames.def("verify", &Database::verify, "place"_a, "ValueError if a block of the material's file is damaged.");
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
    endgames.def_prop_ro("groups", &Database::groups, "The places of the materials that are solved together.");
    endgames.def(
        "counts",
        [](const Database& self, std::size_t place) {
            const auto found = self.counts(place);
            return std::make_tuple(found.wins, found.draws, found.losses, found.longest);
        },
        "place"_a, "Wins, draws and losses of the side to move, and the longest distance.");
    endgames.def(
        "covers", [](const Database& self, const H& state) { return self.covers(state.state.position()); }, "state"_a);
    const auto look_up = [](const Database& self, const Position& p) {
        if (!self.covers(p)) throw nb::value_error("the position has too many pieces");
        return static_cast<int>(self.look_up(p));
    };
    endgames.def(
        "plies", [look_up](const Database& self, const H& state) { return look_up(self, state.state.position()); },
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
            const auto& material = self.material(number);
            if (!Database::position(material, number - material.first, p)) return std::nullopt;
            return std::array<Squares, 3>{p.pieces[0], p.pieces[1], p.kings};
        },
        "number"_a,
        "Black's, White's and the kings' squares as bits, Black to move; None if no position has the number.");
}

// A search with what it needs, kept alive.
struct OwningSearch {
    std::shared_ptr<const Evaluation> evaluation;
    std::shared_ptr<const Database> endgames;
    Search search;

    OwningSearch(std::shared_ptr<const Evaluation> e, std::shared_ptr<const Database> t)
        : evaluation(std::move(e)), endgames(std::move(t)), search(*evaluation, endgames.get(), 18) {}
};

static std::shared_ptr<const Evaluation> or_material(std::shared_ptr<Evaluation> value) {
    if (value) return value;
    return std::make_shared<MaterialValue>();
}

struct OwningEngine {
    std::shared_ptr<const Evaluation> evaluation;
    std::shared_ptr<const Database> endgames;
    std::vector<std::unique_ptr<const Cached>> cached;
    Engine engine;

    OwningEngine(const OwningEngine&) = delete;
    OwningEngine(std::shared_ptr<const Evaluation> e, std::shared_ptr<const Database> t, bool selective, int threads)
        : evaluation(std::move(e)), endgames(std::move(t)), engine(caches(threads), endgames.get(), 20, selective) {}

private:
    std::vector<const Evaluation*> caches(int threads) {
        if (threads < 1 || threads > 64) throw nb::value_error("the engine has 1 to 64 threads");
        std::vector<const Evaluation*> found;
        for (int i = 0; i < threads; ++i)
            found.push_back(cached.emplace_back(std::make_unique<const Cached>(*evaluation)).get());
        return found;
    }
};

// 0 is no limit.
static Limits to_limits(int depth, std::int64_t nodes, double seconds, bool keep = false, int contempt = 0,
                        bool paced = false) {
    if (depth < 0 || depth > Engine::kMaxDepth) throw nb::value_error("the depth must be 1 to 99, or 0 for no limit");
    if (nodes < 0) throw nb::value_error("the number of nodes must be positive, or 0 for no limit");
    if (!(seconds >= 0)) throw nb::value_error("the seconds must be positive, or 0 for no limit");
    Limits limits;
    if (depth) limits.depth = depth;
    if (nodes) limits.nodes = static_cast<std::uint64_t>(nodes);
    if (seconds > 0) limits.seconds = seconds;
    if (std::abs(contempt) > 1000) throw nb::value_error("contempt is -1000 to 1000 hundredths");
    limits.keep = keep;
    limits.contempt = contempt;
    limits.paced = paced;
    return limits;
}

static void bind_search(nb::module_& m) {
    nb::class_<Evaluation>(m, "Evaluation", "The value of a position for the side to move, in hundredths of log-odds.")
        .def(
            "__call__", [](const Evaluation& self, const H& state) { return self(state.state.position()); }, "state"_a);
    nb::class_<NetValue, Evaluation>(m, "NetValue", "The value that a net finds.")
        .def(
            "__init__", [](NetValue* self, const Floats& weights) { new (self) NetValue(to_vector(weights)); },
            "weights"_a)
        .def_prop_ro_static("size", [](nb::handle) { return NetValue::kWeights; })
        .def_prop_ro_static("shape", [](nb::handle) {
            return std::make_tuple(NetValue::kInputs, NetValue::kWide, NetValue::kNarrow, NetValue::kStages);
        });
    nb::class_<PatternValue, Evaluation>(m, "PatternValue",
                                         "The learned value of a position, in hundredths of log-odds.")
        .def(
            "__init__", [](PatternValue* self, const Floats& weights) { new (self) PatternValue(to_vector(weights)); },
            "weights"_a)
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
        .def(
            "__init__",
            [](OwningSearch* self, std::shared_ptr<Evaluation> value, std::shared_ptr<Database> endgames) {
                new (self) OwningSearch(or_material(std::move(value)), std::move(endgames));
            },
            "value"_a = nb::none(), "endgames"_a = nb::none())
        .def(
            "best",
            [rows](OwningSearch& self, const H& state, int depth, Control* given) {
                ControlOrNone call(given);
                return rows(
                    interruptible(call.control, [&] { return self.search.best(state.state, depth, call.control); }));
            },
            "state"_a, "depth"_a, "control"_a = nb::none(), "The moves of greatest score.")
        .def(
            "values",
            [rows](OwningSearch& self, const H& state, int depth, Control* given) {
                ControlOrNone call(given);
                return rows(
                    interruptible(call.control, [&] { return self.search.values(state.state, depth, call.control); }));
            },
            "state"_a, "depth"_a, "control"_a = nb::none(), "Every legal move with its exact score.")
        .def_prop_ro(
            "nodes", [](const OwningSearch& self) { return self.search.nodes; }, "Positions entered in the last call.");
    nb::class_<OwningEngine>(m, "Engine")
        .def(
            "__init__",
            [](OwningEngine* self, std::shared_ptr<Evaluation> value, std::shared_ptr<Database> endgames,
               bool selective, int threads) {
                new (self) OwningEngine(or_material(std::move(value)), std::move(endgames), selective, threads);
            },
            "value"_a = nb::none(), "endgames"_a = nb::none(), "selective"_a = true, "threads"_a = 1)
        .def(
            "best",
            [](OwningEngine& self, const H& state, int depth, std::int64_t nodes, double seconds,
               const std::vector<Action>& order, bool keep, int contempt, bool paced, Control* given) {
                ControlOrNone call(given);
                const Limits limits = to_limits(depth, nodes, seconds, keep, contempt, paced);
                const auto found = interruptible(
                    call.control, [&] { return self.engine.best(state.state, limits, call.control, order); });
                return std::make_tuple(found.line, found.score, found.depth);
            },
            "state"_a, "depth"_a = 0, "nodes"_a = 0, "seconds"_a = 0.0, "order"_a = std::vector<Action>{},
            "keep"_a = false, "contempt"_a = 0, "paced"_a = false, "control"_a = nb::none(),
            "The principal line, its score, and the depth of the search.")
        .def(
            "values",
            [](OwningEngine& self, const H& state, int depth, std::int64_t nodes, double seconds, Control* given) {
                ControlOrNone call(given);
                const Limits limits = to_limits(depth, nodes, seconds);
                const auto [found, values] =
                    interruptible(call.control, [&] { return self.engine.values(state.state, limits, call.control); });
                std::vector<std::pair<Action, Score>> rows;
                for (const auto& value : values) rows.emplace_back(value.action, value.score);
                return std::make_tuple(rows, found.line, found.depth);
            },
            "state"_a, "depth"_a = 0, "nodes"_a = 0, "seconds"_a = 0.0, "control"_a = nb::none(),
            "Every legal move with its score, the principal line, and the depth of the search.")
        .def_prop_ro(
            "nodes", [](const OwningEngine& self) { return self.engine.nodes; }, "Positions entered in the last call.");
    m.attr("WIN") = Searcher::kWin;
    m.attr("LEAST_WIN") = Searcher::kLeastWin;
    m.attr("DECIDED") = kDecided;
    m.attr("MAX_EVALUATION") = kMaxEvaluation;
    m.attr("SCORE_SCALE") = kScoreScale;

    nb::class_<Player>(
        m, "Player",
        "Plays by the engine if nodes or seconds are limited, else by minimax to a depth, at random if that is 0.")
        .def(
            "__init__",
            [](Player* self, int depth, std::shared_ptr<Evaluation> value, std::shared_ptr<Database> endgames,
               std::int64_t nodes, double seconds, int contempt, bool paced) {
                if (depth < 0 || depth > Search::kMaxDepth) throw nb::value_error("the depth must be 0 to 60");
                new (self) Player{depth, or_material(std::move(value)), std::move(endgames),
                                  to_limits(depth, nodes, seconds, false, contempt, paced)};
            },
            "depth"_a, "value"_a = nb::none(), "endgames"_a = nb::none(), "nodes"_a = 0, "seconds"_a = 0.0,
            "contempt"_a = 0, "paced"_a = false);
    m.def(
        "play_match",
        [](const H& start, const Player& first, const Player& second, std::int64_t games, std::uint64_t seed,
           int threads, int opening, Control* given) {
            if (opening < 0 || opening > 100) throw nb::value_error("the opening has 0 to 100 random plies");
            if (games < 1 || games > 100'000'000) throw nb::value_error("the number of games must be 1 to 10^8");
            checked_threads(threads);
            ControlOrNone call(given);
            std::vector<MatchGame> played(games);
            interruptible(call.control, [&] {
                play_match(start.state, {first, second}, opening, seed, threads, std::span(played), call.control);
            });
            std::vector<double> flat;
            for (const auto& game : played) {
                for (const double x : {double(game.result), double(game.plies), double(game.moves[0]),
                                       double(game.moves[1]), double(game.nodes[0]), double(game.nodes[1]),
                                       game.seconds[0], game.seconds[1], double(game.won[0]), double(game.won[1])}) {
                    flat.push_back(x);
                }
            }
            return to_numpy(std::move(flat), {static_cast<std::size_t>(games), 10});
        },
        "start"_a, "first"_a, "second"_a, "games"_a, "seed"_a, "threads"_a = 0, "opening"_a = 2,
        "control"_a = nb::none(),
        "A row for each game: result for the first player, plies (-1: not played), then for each player searched moves, "
        "nodes, CPU seconds, and whether it had a position that the solved endgames call won.");
    m.def(
        "play_examples",
        [](const H& start, std::shared_ptr<Evaluation> value, std::shared_ptr<Database> endgames, std::int64_t nodes,
           double trace, double exploration, int opening, int leaves, std::int64_t first_game, std::int64_t games,
           std::uint64_t seed, int threads, Control* given) {
            if (games < 1) throw nb::value_error("the number of games must be at least 1");
            if (nodes < 1) throw nb::value_error("the number of nodes must be at least 1");
            if (opening < 0) throw nb::value_error("the opening is 0 random plies or more");
            if (leaves < 0 || leaves > 1000) throw nb::value_error("the leaves per move are 0 to 1000");
            const auto share = [](double x) { return x >= 0 && x <= 1; };
            if (!share(trace) || !share(exploration))
                throw nb::value_error("trace and exploration lie between 0 and 1");
            checked_threads(threads);
            ControlOrNone call(given);
            const auto evaluation = or_material(std::move(value));
            const SelfPlay settings{static_cast<std::uint64_t>(nodes), trace, exploration, opening, leaves};
            const auto examples = interruptible(call.control, [&] {
                return play_examples(start.state, *evaluation, endgames.get(), settings, first_game, games, seed,
                                     threads, call.control);
            });
            std::vector<std::uint32_t> boards;
            std::vector<float> targets;
            for (const auto& x : examples) {
                boards.insert(boards.end(), {x.own, x.other, x.kings});
                targets.push_back(x.target);
            }
            const std::size_t n = targets.size();
            return std::make_tuple(to_numpy(std::move(boards), {n, 3}), to_numpy(std::move(targets), {n}));
        },
        "start"_a, "value"_a.none(), "endgames"_a.none(), "nodes"_a, "trace"_a, "exploration"_a, "opening"_a,
        "leaves"_a, "first_game"_a, "games"_a, "seed"_a, "threads"_a = 0, "control"_a = nb::none(),
        "Positions of self-play seen by the mover, as bits [n, 3] of own pieces, other pieces and kings, and chances [n].");
}

static void bind_learner(nb::module_& m) {
    nb::class_<TdLearner>(m, "TdLearner")
        .def(
            "__init__",
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
                 return std::make_tuple(copy(self.weights.value), copy(self.weights.error),
                                        copy(self.weights.magnitude));
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

static std::vector<Example> to_examples(const nb::ndarray<const std::uint32_t, nb::shape<-1, 3>, nb::c_contig>& boards,
                                        const Floats& targets) {
    if (boards.shape(0) != targets.shape(0)) throw nb::value_error("there are as many targets as boards");
    std::vector<Example> examples;
    for (std::size_t i = 0; i < targets.shape(0); ++i) {
        const auto* board = boards.data() + 3 * i;
        const Position p{{board[0], board[1]}, board[2], kBlack};
        check(p);
        examples.push_back({board[0], board[1], board[2], targets.data()[i]});
    }
    return examples;
}

static void bind_net_learner(nb::module_& m) {
    nb::class_<NetLearner>(m, "NetLearner")
        .def(nb::init<std::uint64_t>(), "seed"_a)
        .def("weights",
             [](const NetLearner& self) {
                 std::vector<float> copy = self.weights();
                 const std::size_t n = copy.size();
                 return to_numpy(std::move(copy), {n});
             })
        .def(
            "restore", [](NetLearner& self, const Floats& weights) { self.restore(to_vector(weights)); }, "weights"_a)
        .def(
            "learn",
            [](NetLearner& self, const nb::ndarray<const std::uint32_t, nb::shape<-1, 3>, nb::c_contig>& boards,
               const Floats& targets, int epochs, int batch, double rate, std::uint64_t seed, int threads,
               Control* given) {
                checked_threads(threads);
                ControlOrNone call(given);
                const auto examples = to_examples(boards, targets);
                return interruptible(call.control, [&] {
                    return self.learn(examples, epochs, batch, rate, seed, threads, call.control);
                });
            },
            "boards"_a, "targets"_a, "epochs"_a, "batch"_a, "rate"_a, "seed"_a, "threads"_a = 0,
            "control"_a = nb::none(),
            "Passes over the examples; the root of the mean squared error of the chances in the last one.")
        .def(
            "gradient",
            [](const NetLearner& self, const nb::ndarray<const std::uint32_t, nb::shape<-1, 3>, nb::c_contig>& boards,
               const Floats& targets) {
                std::vector<float> gradient(NetValue::kWeights);
                for (const auto& example : to_examples(boards, targets)) self.add_gradient(example, gradient);
                const std::size_t n = gradient.size();
                return to_numpy(std::move(gradient), {n});
            },
            "boards"_a, "targets"_a, "The gradient of the summed cross-entropy by the weights.");
}

ROOKERY_BIND(checkers, 3) {
    bind_net_learner(m);
    bind_endgames(m);
    bind_search(m);
    bind_learner(m);
}

}  // namespace rookery
