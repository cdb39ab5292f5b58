// Learning and playing 1010!: the submodule rookery._native.tenten.
//
// A board is a pair of 64-bit halves, (low, high); many boards are an array [n, 2].
#include <optional>

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"
#include "games/tenten/features.hpp"
#include "games/tenten/folded.hpp"
#include "games/tenten/lspi.hpp"
#include "games/tenten/td.hpp"
#include "games/tenten/value.hpp"
#include "games/tenten/lookahead.hpp"

namespace rookery {

using namespace tenten;
using Halves = std::pair<std::uint64_t, std::uint64_t>;
using Boards = nb::ndarray<const std::uint64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

static Board to_board(const Rules& rules, std::uint64_t low, std::uint64_t high) {
    const Board board = Board(high) << 64 | low;
    if (board >> rules.cells() != 0) throw nb::value_error("a board has cells outside its size");
    return board;
}

static void check_piece(const Rules& rules, int piece) {
    if (piece < 0 || piece >= static_cast<int>(rules.pieces().size())) throw nb::value_error("unknown piece");
}

template <class T>
static void check_weights(const Vector<T>& weights, std::size_t expected) {
    if (weights.shape(0) != expected) {
        const std::string message =
            "expected " + std::to_string(expected) + " weights, not " + std::to_string(weights.shape(0));
        throw nb::value_error(message.c_str());
    }
}

static auto placements_to_python(const std::vector<Placement>& all) {
    std::vector<std::int32_t> cells, lines;
    std::vector<std::uint64_t> boards;
    std::vector<float> values;
    for (const auto& p : all) {
        cells.push_back(p.cell);
        lines.push_back(p.lines);
        boards.push_back(static_cast<std::uint64_t>(p.board));
        boards.push_back(static_cast<std::uint64_t>(p.board >> 64));
        values.push_back(p.value);
    }
    const std::size_t n = all.size();
    return std::make_tuple(to_numpy(std::move(cells), {n}), to_numpy(std::move(lines), {n}),
                           to_numpy(std::move(boards), {n, 2}), to_numpy(std::move(values), {n}));
}

template <class E>
static auto play_to_python(const E& evaluation, const PlayStyle& style, std::int64_t games, std::uint64_t seed,
                           std::int64_t max_rounds, int threads, Control* given) {
    if (games < 1 || max_rounds < 1) throw nb::value_error("games and rounds must be at least 1");
    ControlOrNone call(given);
    const auto records = interruptible(
        call.control, [&] { return play_games(evaluation, style, games, seed, max_rounds, threads, call.control); });
    std::vector<std::int64_t> rounds, hands, scores;
    std::vector<std::uint8_t> ended;
    std::vector<std::int32_t> fatal;
    for (const auto& record : records) {
        rounds.push_back(record.rounds);
        hands.push_back(record.hands);
        scores.push_back(record.score);
        ended.push_back(record.ended);
        fatal.push_back(record.fatal);
    }
    const std::size_t n = records.size();
    return std::make_tuple(to_numpy(std::move(rounds), {n}), to_numpy(std::move(hands), {n}),
                           to_numpy(std::move(scores), {n}), to_numpy(std::move(ended), {n}),
                           to_numpy(std::move(fatal), {n}));
}

static void bind_paper(nb::module_& m) {
    nb::class_<PaperFeatures>(m, "PaperFeatures", "The 21 features of the paper's LSPI.")
        .def(
            "__init__",
            [](PaperFeatures* self, const Rules& rules, int reward) {
                if (reward < 1 || reward > 3) throw nb::value_error("the reward is 1, 2 or 3");
                new (self) PaperFeatures(rules, static_cast<Reward>(reward));
            },
            "rules"_a, "reward"_a, nb::keep_alive<1, 2>())
        .def(
            "of_placement",
            [](const PaperFeatures& self, Halves before, int piece, int cell) {
                const Rules& rules = self.rules();
                const Board board = to_board(rules, before.first, before.second);
                check_piece(rules, piece);
                if (cell < 0 || cell >= rules.cells() || !(rules.placements(board, piece) >> cell & 1)) {
                    throw nb::value_error("the piece does not fit there");
                }
                std::vector<double> values;
                for_each_afterstate(rules, board, piece, Board(1) << cell, [&](int, Board after, int lines) {
                    const auto vector = self(piece, cell, after, lines);
                    values.assign(vector.begin(), vector.end());
                });
                return to_numpy(std::move(values), {kPaperFeatures});
            },
            "board"_a, "piece"_a, "cell"_a)
        .def(
            "placements",
            [](const PaperFeatures& self, Vector<double> weights, Halves board, int piece) {
                check_weights(weights, kPaperFeatures);
                check_piece(self.rules(), piece);
                return placements_to_python(ranked_placements(
                    PaperValue{&self, weights.data()}, to_board(self.rules(), board.first, board.second), piece));
            },
            "weights"_a, "board"_a, "piece"_a)
        .def(
            "play",
            [](const PaperFeatures& self, Vector<double> weights, std::int64_t games, std::uint64_t seed,
               std::int64_t max_rounds, int threads, Control* control) {
                check_weights(weights, kPaperFeatures);
                return play_to_python(PaperValue{&self, weights.data()}, {}, games, seed, max_rounds, threads, control);
            },
            "weights"_a, "games"_a, "seed"_a, "max_rounds"_a, "threads"_a = 0, "control"_a = nb::none())
        .def(
            "sample",
            [](const PaperFeatures& self, Vector<double> weights, double discount, double penalty, std::int64_t games,
               std::uint64_t seed, std::int64_t first, std::int64_t max_rounds, int threads, Control* given) {
                check_weights(weights, kPaperFeatures);
                if (games < 1) throw nb::value_error("the number of games must be at least 1");
                ControlOrNone call(given);
                const auto all = interruptible(call.control, [&] {
                    return lspi_games(self, weights.data(), discount, penalty, games, seed, first, max_rounds, threads,
                                      call.control);
                });
                NormalEquations sum;
                std::vector<std::int64_t> rounds;
                for (const auto& one : all) {
                    for (std::size_t i = 0; i < sum.a.size(); ++i) sum.a[i] += one.a[i];
                    for (std::size_t i = 0; i < sum.b.size(); ++i) sum.b[i] += one.b[i];
                    rounds.push_back(one.rounds);
                }
                const std::size_t n = rounds.size();
                return std::make_tuple(to_numpy(std::move(sum.a), {kPaperFeatures, kPaperFeatures}),
                                       to_numpy(std::move(sum.b), {kPaperFeatures}), to_numpy(std::move(rounds), {n}));
            },
            "weights"_a, "discount"_a, "penalty"_a, "games"_a, "seed"_a, "first"_a, "max_rounds"_a, "threads"_a = 0,
            "control"_a = nb::none());
}

static void bind_hand_features(nb::module_& m) {
    nb::class_<HandFeatures>(m, "HandFeatures", "Our own 16 features of a board.")
        .def(nb::init<const Rules&>(), "rules"_a, nb::keep_alive<1, 2>())
        .def(
            "of_boards",
            [](const HandFeatures& self, Boards boards) {
                std::vector<float> values;
                for (std::size_t i = 0; i < boards.shape(0); ++i) {
                    const auto vector = self(to_board(self.rules(), boards(i, 0), boards(i, 1)));
                    values.insert(values.end(), vector.begin(), vector.end());
                }
                return to_numpy(std::move(values), {boards.shape(0), kHandFeatures});
            },
            "boards"_a)
        .def(
            "placements",
            [](const HandFeatures& self, Vector<float> weights, Halves board, int piece) {
                check_weights(weights, kHandFeatures);
                check_piece(self.rules(), piece);
                return placements_to_python(ranked_placements(
                    LinearValue{&self, weights.data()}, to_board(self.rules(), board.first, board.second), piece));
            },
            "weights"_a, "board"_a, "piece"_a)
        .def(
            "play",
            [](const HandFeatures& self, Vector<float> weights, std::int64_t games, std::uint64_t seed,
               std::int64_t max_rounds, int threads, Control* control) {
                check_weights(weights, kHandFeatures);
                return play_to_python(LinearValue{&self, weights.data()}, {}, games, seed, max_rounds, threads,
                                      control);
            },
            "weights"_a, "games"_a, "seed"_a, "max_rounds"_a, "threads"_a = 0, "control"_a = nb::none())
        .def(
            "death_rates",
            [](const HandFeatures& self, Matrix<float> candidates, std::int64_t rounds, std::uint64_t seed, int threads,
               Control* given) {
                if (candidates.shape(1) != kHandFeatures) throw nb::value_error("expected rows of 16 weights");
                if (rounds < 1) throw nb::value_error("the number of rounds must be at least 1");
                ControlOrNone call(given);
                const DeathChance death(self.rules());
                std::vector<double> rates(candidates.shape(0));
                interruptible(call.control, [&] {
                    parallel_blocks(static_cast<std::int64_t>(rates.size()), threads, [&](std::int64_t i) {
                        Rng rng(seed);
                        const LinearValue value{&self, candidates.data() + i * kHandFeatures};
                        rates[i] = death_rate(value, death, rounds, rng, call.control);
                        call.control.add(1);
                    });
                });
                const std::size_t n = rates.size();
                return to_numpy(std::move(rates), {n});
            },
            "candidates"_a, "rounds"_a, "seed"_a, "threads"_a = 0, "control"_a = nb::none(),
            "Deaths a round of each row of weights, all on the same pieces.");
}

static void bind_tuples(nb::module_& m) {
    using Weights = Vector<float>;
    nb::class_<TupleFeatures>(m, "TupleFeatures", "Windows of cells and the mobility of the largest pieces.")
        .def(nb::init<const Rules&, const std::vector<NTuples::Shape>&>(), "rules"_a, "shapes"_a,
             nb::keep_alive<1, 2>())
        .def_prop_ro("features", &TupleFeatures::features)
        .def_prop_ro("weights", &TupleFeatures::weights)
        .def(
            "values",
            [](const TupleFeatures& self, Weights weights, Boards boards) {
                check_weights(weights, self.weights());
                std::vector<float> values;
                for (std::size_t i = 0; i < boards.shape(0); ++i) {
                    values.push_back(self.value(weights.data(), to_board(self.rules(), boards(i, 0), boards(i, 1))));
                }
                return to_numpy(std::move(values), {boards.shape(0)});
            },
            "weights"_a, "boards"_a)
        .def(
            "placements",
            [](const TupleFeatures& self, Weights weights, double discount, Halves board, int piece, int width,
               double safe) {
                check_weights(weights, self.weights());
                check_piece(self.rules(), piece);
                return placements_to_python(look_ahead(TupleValue{&self, weights.data(), discount},
                                                       to_board(self.rules(), board.first, board.second), piece, width,
                                                       INFINITY, safe));
            },
            "weights"_a, "discount"_a, "board"_a, "piece"_a, "width"_a, "safe"_a = 0.0)
        .def(
            "plan",
            [](const TupleFeatures& self, Weights weights, Halves board, const std::vector<int>& hand, int beam,
               const std::vector<std::vector<int>>& hands) {
                check_weights(weights, self.weights());
                const auto read = [&](const std::vector<int>& pieces) {
                    if (pieces.size() > kMaxHand) throw nb::value_error("a hand holds 1 to 3 pieces");
                    std::array<std::int8_t, kMaxHand> slots;
                    slots.fill(-1);
                    for (std::size_t slot = 0; slot < pieces.size(); ++slot) {
                        if (pieces[slot] != -1) check_piece(self.rules(), pieces[slot]);
                        slots[slot] = static_cast<std::int8_t>(pieces[slot]);
                    }
                    return slots;
                };
                const auto pieces = read(hand);
                std::vector<std::array<std::int8_t, kMaxHand>> to_come;
                for (const auto& other : hands) to_come.push_back(read(other));
                const TupleValue value{&self, weights.data(), 1.0};
                const auto plans = plan_hands(value, to_board(self.rules(), board.first, board.second),
                                              std::span(pieces.data(), hand.size()), beam, hands.empty() ? 1 : kPlans);
                const auto& plan = plans[hands.empty() ? 0 : safest(value, plans, to_come, beam)];
                std::vector<std::pair<int, int>> moves;
                for (const auto& move : plan.moves) moves.emplace_back(move.slot, move.cell);
                return std::make_pair(moves, plan.value);
            },
            "weights"_a, "board"_a, "hand"_a, "beam"_a, "hands"_a = std::vector<std::vector<int>>(),
            "Moves (slot, cell) of the best plan found, and its value. With hands to come, it is the one of the six best "
            "plans after which they are survived best.")
        .def(
            "play",
            [](const TupleFeatures& self, Weights weights, double discount, std::int64_t games, std::uint64_t seed,
               std::int64_t max_rounds, int width, float margin, int narrow, int wide, float comfort, double safe,
               float worry, int hands, int threads, Control* control) {
                check_weights(weights, self.weights());
                FoldedValue folded(self, discount);
                folded.fold(weights.data());
                return play_to_python(folded, {width, margin, narrow, wide, comfort, safe, worry, hands}, games, seed,
                                      max_rounds, threads, control);
            },
            "weights"_a, "discount"_a, "games"_a, "seed"_a, "max_rounds"_a, "width"_a = 0, "margin"_a = 1.5f,
            "narrow"_a = 8, "wide"_a = 200, "comfort"_a = 0.0f, "safe"_a = 0.0, "worry"_a = -1e9f, "hands"_a = 48,
            "threads"_a = 0, "control"_a = nb::none());

    nb::class_<TdLearner>(m, "TdLearner", "Learns the weights of TupleFeatures by playing.")
        .def(
            "__init__",
            [](TdLearner* self, const Rules& rules, const std::vector<NTuples::Shape>& shapes, int lanes, int games,
               double first_value, double discount, bool every_piece, double restart) {
                new (self) TdLearner(rules, shapes, lanes, games, first_value, discount, every_piece, restart);
            },
            "rules"_a, "shapes"_a, "lanes"_a, "games"_a, "first_value"_a, "discount"_a, "every_piece"_a,
            "restart"_a = 0.0, nb::keep_alive<1, 2>())
        .def_ro("rounds", &TdLearner::rounds)
        .def_ro("deaths", &TdLearner::deaths)
        .def(
            "train",
            [](TdLearner& self, std::int64_t steps, double step, std::uint64_t seed, std::int64_t batch, int threads,
               Control* given) {
                if (steps < 1) throw nb::value_error("the number of steps must be at least 1");
                if (!(step > 0)) throw nb::value_error("the step must be positive");
                ControlOrNone call(given);
                interruptible(call.control, [&] { self.train(steps, step, seed, batch, threads, call.control); });
            },
            "steps"_a, "step"_a, "seed"_a, "batch"_a, "threads"_a = 0, "control"_a = nb::none())
        .def(
            "state",
            [](TdLearner& self) {
                const CoherentWeights& w = self.weights();
                std::vector<std::uint64_t> boards;
                for (const auto& lane : self.lanes()) {
                    for (const Board board : lane.boards) {
                        boards.push_back(static_cast<std::uint64_t>(board));
                        boards.push_back(static_cast<std::uint64_t>(board >> 64));
                    }
                }
                const std::size_t n = w.value.size(), games = boards.size() / 2;
                return std::make_tuple(to_numpy(std::vector(w.value), {n}), to_numpy(std::vector(w.error), {n}),
                                       to_numpy(std::vector(w.magnitude), {n}),
                                       to_numpy(std::move(boards), {games, 2}));
            },
            "Weights, sums of errors, sums of their magnitudes, boards of the games: all that training goes on from.")
        .def(
            "restore",
            [](TdLearner& self, Weights values, Weights errors, Weights magnitudes, Boards boards, std::int64_t rounds,
               std::int64_t deaths) {
                CoherentWeights& w = self.weights();
                for (const auto* array : {&values, &errors, &magnitudes}) check_weights(*array, w.value.size());
                const std::size_t games = self.lanes().size() * self.lanes()[0].boards.size();
                if (boards.shape(0) != games) throw nb::value_error("the number of games does not match");
                w.value.assign(values.data(), values.data() + values.size());
                w.error.assign(errors.data(), errors.data() + errors.size());
                w.magnitude.assign(magnitudes.data(), magnitudes.data() + magnitudes.size());
                std::size_t i = 0;
                for (auto& lane : self.lanes()) {
                    for (Board& board : lane.boards) {
                        board = to_board(self.features().rules(), boards(i, 0), boards(i, 1));
                        ++i;
                    }
                }
                self.rounds = rounds;
                self.deaths = deaths;
            },
            "values"_a, "errors"_a, "magnitudes"_a, "boards"_a, "rounds"_a, "deaths"_a);
}

ROOKERY_BIND(tenten, 3) {
    bind_paper(m);
    bind_hand_features(m);
    bind_tuples(m);
}

}  // namespace rookery
