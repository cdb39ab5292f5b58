#include "games/solitaire_chess/rules.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"
#include "games/solitaire_chess/capture_tree.hpp"
#include "games/solitaire_chess/enumeration.hpp"
#include "games/solitaire_chess/lessons.hpp"
#include "games/solitaire_chess/puzzles.hpp"
#include "games/solitaire_chess/backtracking.hpp"
#include "games/solitaire_chess/capture_ranker.hpp"
#include "games/solitaire_chess/capture_search.hpp"

namespace rookery {

using namespace solitaire_chess;
using H = Handle<solitaire_chess::State>;

static std::vector<int> on_every_cell(const H& self, int (*value)(std::uint8_t)) {
    std::vector<int> values;
    for (int cell = 0; cell < self.state.rules().cells(); ++cell) values.push_back(value(self.state.board()[cell]));
    return values;
}

static void bind_exact(nb::module_& m) {
    m.def(
        "solve",
        [](const H& state, Control* given) {
            ControlOrNone call(given);
            FirstSolution search(call.control);
            auto moves = interruptible(call.control, [&] { return search.find(state.state); });
            return std::make_pair(moves, search.states());
        },
        "state"_a, "control"_a = nb::none(), "The moves of a solution, or None; and the number of positions entered.");
    m.def(
        "capture_tree",
        [](const H& state, std::int64_t max_states, Control* given) {
            ControlOrNone call(given);
            TreeWalk walk(max_states, call.control);
            const CaptureTree tree = interruptible(call.control, [&] { return walk.walk(state.state); });
            std::vector<std::pair<int, int>> finals;
            for (int kind = 0; kind < kKinds; ++kind) {
                for (Bitboard left = tree.finals[kind]; left; left &= left - 1) {
                    finals.emplace_back(kind, lowest_bit(left));
                }
            }
            return std::make_tuple(finals, tree.solutions, tree.nodes, walk.distinct());
        },
        "state"_a, "max_states"_a, "control"_a = nb::none(),
        "Possible finals as (kind, cell), solutions, nodes of the tree and distinct positions.");

    nb::class_<Layer>(m, "Layer", "All 4x4 boards with a given number of pieces.")
        .def_ro("pieces", &Layer::pieces)
        .def_prop_ro("boards", &Layer::boards)
        .def_ro("solvable", &Layer::solvable)
        .def_ro("unique", &Layer::unique)
        .def_prop_ro("values",
                     [](nb::handle py_self) {
                         const auto& self = nb::cast<const Layer&>(py_self);
                         return nb::ndarray<nb::numpy, const std::uint8_t>(self.values.data(), {self.values.size()},
                                                                           py_self);
                     })
        .def("index", &Layer::index, "kinds"_a)
        .def("board", &Layer::board, "index"_a);
    m.def("single_pieces", &single_pieces);
    m.def(
        "next_layer",
        [](const Layer& below, int threads, Control* given) {
            if (threads < 0) throw nb::value_error("the number of threads must not be negative; 0 means all cores");
            ControlOrNone call(given);
            return interruptible(call.control, [&] { return next_layer(below, threads, call.control); });
        },
        "below"_a, "threads"_a, "control"_a = nb::none());
}

// Boards as they travel in batches: a byte per cell as in `Board`, `[boards, cells]`.
using Boards = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

static solitaire_chess::State board_at(const solitaire_chess::Rules& rules, const Boards& boards, std::size_t i) {
    if (static_cast<int>(boards.shape(1)) != rules.cells()) throw nb::value_error("a board has a byte for every cell");
    std::vector<int> kinds, captures;
    for (int cell = 0; cell < rules.cells(); ++cell) {
        const std::uint8_t piece = boards.data()[i * boards.shape(1) + cell];
        kinds.push_back(kind_of(piece));
        captures.push_back(captures_of(piece));
    }
    return {rules, kinds, captures};
}

static void bind_puzzles(nb::module_& m) {
    m.def(
        "make_puzzles",
        [](const solitaire_chess::Rules& rules, std::int64_t count, int pieces, const std::vector<int>& pool,
           std::optional<bool> king, std::uint32_t max_solutions, std::uint64_t seed, int threads, Control* given) {
            if (count < 0 || count > 100'000'000) throw nb::value_error("the number of puzzles must be 0 to 10^8");
            if (threads < 0) throw nb::value_error("the number of threads must not be negative; 0 means all cores");
            const PuzzleMaker maker(rules, {pieces, pool, king == true, king == false, max_solutions});
            ControlOrNone call(given);
            const auto boards =
                interruptible(call.control, [&] { return make_puzzles(maker, count, seed, threads, call.control); });
            std::vector<std::uint8_t> bytes;
            bytes.reserve(count * rules.cells());
            for (const Board& board : boards) bytes.insert(bytes.end(), board.begin(), board.begin() + rules.cells());
            return to_numpy(std::move(bytes), {boards.size(), std::size_t(rules.cells())});
        },
        "rules"_a, "count"_a, "pieces"_a, "pool"_a, "king"_a.none(), "max_solutions"_a, "seed"_a, "threads"_a,
        "control"_a = nb::none(),
        "Solvable boards, `[count, cells]`, with one possible final and at most `max_solutions` solutions, unless that is "
        "0; `king` None leaves it to chance.");
}

static void bind_learning(nb::module_& m) {
    m.attr("NODES") = kNodes;
    m.attr("EDGES") = kEdges;
    m.def(
        "piece_graphs",
        [](const solitaire_chess::Rules& rules, const Boards& boards) {
            const std::size_t n = boards.shape(0);
            const std::size_t pieces = n ? board_at(rules, boards, 0).pieces() : 0;
            std::vector<std::uint8_t> nodes, edges;
            for (std::size_t i = 0; i < n; ++i) {
                const PieceGraph graph(board_at(rules, boards, i));
                if (static_cast<std::size_t>(graph.pieces) != pieces) {
                    throw nb::value_error("all boards of a batch must have the same number of pieces");
                }
                nodes.insert(nodes.end(), graph.nodes.begin(), graph.nodes.begin() + graph.pieces);
                edges.insert(edges.end(), graph.edges.begin(), graph.edges.end());
            }
            return std::make_pair(to_numpy(std::move(nodes), {n, pieces}),
                                  to_numpy(std::move(edges), {n, pieces, pieces}));
        },
        "rules"_a, "boards"_a, "Nodes `[boards, pieces]` and edges `[boards, pieces, pieces]` of boards of one size.");
    m.def(
        "captures",
        [](const solitaire_chess::Rules& rules, const Boards& boards) {
            std::vector<std::int64_t> board, mover, taken;
            std::vector<std::uint8_t> after;
            for (std::size_t i = 0; i < boards.shape(0); ++i) {
                const auto state = board_at(rules, boards, i);
                ActionList actions;
                state.legal_actions(actions);
                for (const Action action : actions) {
                    const int from = action / rules.cells(), to = action % rules.cells();
                    const auto place = [&](int cell) {
                        return popcount(state.occupied() & ((Bitboard(1) << cell) - 1));
                    };
                    board.push_back(static_cast<std::int64_t>(i));
                    mover.push_back(place(from));
                    taken.push_back(place(to));
                    auto next = state;
                    next.apply(action);
                    after.insert(after.end(), next.board().begin(), next.board().begin() + rules.cells());
                }
            }
            const std::size_t n = board.size();
            return std::make_tuple(to_numpy(std::move(board), {n}), to_numpy(std::move(mover), {n}),
                                   to_numpy(std::move(taken), {n}),
                                   to_numpy(std::move(after), {n, std::size_t(rules.cells())}));
        },
        "rules"_a, "boards"_a,
        "Every legal capture of every board: the board's number, the nodes of the capturing and of the captured piece, "
        "and the board after it.");
    m.def(
        "lessons",
        [](const solitaire_chess::Rules& rules, const Boards& puzzles, std::uint64_t seed, int threads,
           Control* given) {
            ControlOrNone call(given);
            std::vector<solitaire_chess::State> starts;
            for (std::size_t i = 0; i < puzzles.shape(0); ++i) starts.push_back(board_at(rules, puzzles, i));
            const Lessons lessons =
                interruptible(call.control, [&] { return make_lessons(starts, seed, threads, call.control); });
            std::vector<std::uint8_t> bytes;
            for (const Board& board : lessons.boards)
                bytes.insert(bytes.end(), board.begin(), board.begin() + rules.cells());
            return std::make_pair(to_numpy(std::move(bytes), {lessons.boards.size(), std::size_t(rules.cells())}),
                                  to_numpy(std::vector(lessons.good), {lessons.good.size()}));
        },
        "rules"_a, "puzzles"_a, "seed"_a, "threads"_a, "control"_a = nb::none(),
        "Positions from the puzzles' trees, `[n, cells]`: all that can be solved, and as many that cannot; and for each a "
        "number whose bit i says whether its i-th capture in the order of `captures` leaves it solvable.");
    nb::class_<CaptureRanker>(m, "CaptureRanker", "The learned ranking of captures.")
        .def(nb::init<int, int, int, const std::vector<CaptureNet::Weights>&>(), "width"_a, "heads"_a, "layers"_a,
             "nets"_a)
        .def(
            "rank",
            [](const CaptureRanker& self, const H& state) {
                std::vector<std::pair<Action, float>> rows;
                for (const auto& move : self.rank(state.state)) rows.emplace_back(move.action, move.score);
                return rows;
            },
            "state"_a, "Every legal capture and the log-odds that the puzzle can be solved after it.");
    m.def(
        "play_with_backtracking",
        [](const solitaire_chess::Rules& rules, const Boards& puzzles, const CaptureRanker& ranker,
           const std::vector<double>& epsilons, int max_states, std::uint64_t seed, int threads) {
            if (epsilons.size() != puzzles.shape(0))
                throw nb::value_error("every puzzle needs a share of random orders");
            std::vector<solitaire_chess::State> starts;
            for (std::size_t i = 0; i < puzzles.shape(0); ++i) starts.push_back(board_at(rules, puzzles, i));
            Experience all;
            {
                nb::gil_scoped_release release;
                all = play_with_backtracking(starts, ranker, epsilons, max_states, seed, threads);
            }
            std::vector<std::uint8_t> bytes;
            for (const Board& board : all.boards)
                bytes.insert(bytes.end(), board.begin(), board.begin() + rules.cells());
            const std::size_t n = all.boards.size(), games = all.solved.size();
            return std::make_tuple(to_numpy(std::move(bytes), {n, std::size_t(rules.cells())}),
                                   to_numpy(std::move(all.good), {n}), to_numpy(std::move(all.tried), {n}),
                                   to_numpy(std::move(all.solved), {games}),
                                   to_numpy(std::move(all.positions), {games}));
        },
        "rules"_a, "puzzles"_a, "ranker"_a, "epsilons"_a, "max_states"_a, "seed"_a, "threads"_a,
        "Play puzzles by the ranker's order, take captures back until each is solved or `max_states` positions were entered. "
        "Positions met, `[n, cells]`; for each two numbers whose bit i says whether its i-th capture in the order of "
        "`captures` leads to the solution, and whether all about it is known; and for each puzzle whether it was solved "
        "and the positions entered.");
}

static void bind_search(nb::module_& m) {
    m.def(
        "search",
        [](const H& handle, const std::string& order, const CaptureRanker* ranker, const std::string& method,
           bool prune, bool look_ahead, std::int64_t max_states, std::int64_t max_tree, Control* given) {
            const auto& state = handle.state;
            const SearchLimits limits{max_states, max_tree, prune};
            ControlOrNone call(given);
            const auto run = [&](const auto& order) {
                if (method == "best-first") return best_first(state, order, limits, call.control);
                return DepthFirst(order, method == "dfs-tt", limits, call.control).find(state);
            };
            std::int64_t looked_at = 0;
            const SearchResult result = interruptible(call.control, [&] {
                if (order == "paper") return run(paper_order);
                if (order == "centre") return run(centre_order);
                if (!ranker) throw std::invalid_argument("the order must be paper, centre, or that of a ranker");
                return run(
                    [&](const solitaire_chess::State& at) { return ranked_order(*ranker, at, look_ahead, looked_at); });
            });
            std::vector<std::pair<std::int64_t, Action>> tree;
            for (const auto& [parent, action] : result.tree) tree.emplace_back(parent, action);
            return std::make_tuple(result.moves, result.states, result.finished, tree, looked_at);
        },
        "state"_a, "order"_a, "ranker"_a.none(), "method"_a, "prune"_a, "look_ahead"_a, "max_states"_a, "max_tree"_a,
        "control"_a = nb::none());
    m.def(
        "ranked_moves",
        [](const CaptureRanker& ranker, const H& state, bool look_ahead) {
            std::vector<std::pair<Action, float>> rows;
            std::int64_t looked_at = 0;
            for (const auto& move : ranked_order(ranker, state.state, look_ahead, looked_at)) {
                rows.emplace_back(move.action, move.score);
            }
            return rows;
        },
        "ranker"_a, "state"_a, "look_ahead"_a = true,
        "The captures as the ranked searches try them, with their scores as log-odds.");
    m.def("plainly_dead", [](const H& state) { return plainly_dead(state.state); }, "state"_a);
}

ROOKERY_BIND(solitaire_chess, 0) {
    auto [rules, state] = bind_game<solitaire_chess::State>(m);
    rules.def(nb::init<int, int, int, bool, const std::vector<int>&, const std::vector<int>&>(), "rows"_a, "columns"_a,
              "max_captures"_a, "king_last"_a, "kinds"_a, "captures"_a);
    state.def(
        "__init__",
        [](H* self, nb::object game, const std::vector<int>& kinds, const std::vector<int>& captures) {
            const auto& r = nb::cast<const solitaire_chess::Rules&>(game.attr("rules"));
            new (self) H{game, solitaire_chess::State(r, kinds, captures)};
        },
        "game"_a, "kinds"_a, "captures"_a);
    state.def(
        "__init__",
        [](H* self, nb::object game, const std::vector<int>& pool, int least, int most, bool solvable,
           std::int64_t draws, std::uint64_t seed) {
            const auto& r = nb::cast<const solitaire_chess::Rules&>(game.attr("rules"));
            Rng rng(seed);
            std::optional<solitaire_chess::State> drawn;
            {
                nb::gil_scoped_release release;
                drawn = random_board(r, pool, least, most, solvable, draws, rng);
            }
            if (!drawn) throw nb::value_error("none of the random boards could be solved");
            new (self) H{game, *drawn};
        },
        "game"_a, "pool"_a, "least"_a, "most"_a, "solvable"_a, "draws"_a, "seed"_a,
        "A random board of `least` to `most` pieces from the pool; solvable ones are drawn at most `draws` times.");
    state.def_prop_ro(
        "kinds", [](const H& self) { return on_every_cell(self, kind_of); },
        "The kind of piece on every cell: 0 to 5 for K, Q, R, B, N, P; -1 where there is none.");
    state.def_prop_ro(
        "captures", [](const H& self) { return on_every_cell(self, captures_of); },
        "Captures that the piece on every cell has made; 0 throughout in games that do not limit them.");
    state.def_prop_ro("pieces", [](const H& self) { return self.state.pieces(); }, "Number of pieces left.");
    bind_exact(m);
    bind_puzzles(m);
    bind_learning(m);
    bind_search(m);
}

}  // namespace rookery
