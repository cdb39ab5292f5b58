#include "games/solitaire_chess/rules.hpp"

#include <map>
#include <tuple>
#include <utility>

#include "tests/check.hpp"
#include "games/solitaire_chess/capture_tree.hpp"
#include "games/solitaire_chess/enumeration.hpp"
#include "games/solitaire_chess/piece_graph.hpp"
#include "games/solitaire_chess/puzzles.hpp"
#include "games/solitaire_chess/capture_search.hpp"

using namespace rookery;
using namespace rookery::solitaire_chess;
using namespace rookery::testing;

// A piece on every cell, kinds in turn.
static std::vector<int> full_board(int cells, int first) {
    std::vector<int> kinds;
    for (int cell = 0; cell < cells; ++cell) kinds.push_back((first + cell * 5) % kKinds);
    return kinds;
}

TEST(solitaire_chess_random_play) {
    for (int rows = kMinSide; rows <= kMaxSide; ++rows) {
        for (int columns = kMinSide; columns <= kMaxSide; ++columns) {
            for (const int max_captures : {0, 1, 2, 15}) {
                for (const bool king_last : {true, false}) {
                    const int cells = rows * columns;
                    const solitaire_chess::Rules rules(rows, columns, max_captures, king_last, full_board(cells, rows),
                                                       std::vector<int>(cells));
                    check_random_play(solitaire_chess::State(rules), 3);
                }
            }
        }
    }
}

TEST(solitaire_chess_refuses_bad_settings) {
    const auto refused = [](int rows, int columns, int max_captures, const std::vector<int>& kinds,
                            const std::vector<int>& captures) {
        try {
            solitaire_chess::Rules(rows, columns, max_captures, true, kinds, captures);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    const std::vector<int> none(4), board = {kRook, kNoPiece, kNoPiece, kNoPiece};
    CHECK(!refused(2, 2, 0, board, none));
    CHECK(!refused(2, 2, 2, board, {2, 0, 0, 0}));
    CHECK(refused(1, 4, 0, board, none));
    CHECK(refused(2, 9, 0, board, none));
    CHECK(refused(2, 2, 16, board, none));
    CHECK(refused(2, 2, -1, board, none));
    CHECK(refused(2, 2, 0, {kRook}, {0}));
    CHECK(refused(2, 2, 0, board, {0}));
    CHECK(refused(2, 2, 0, {6, -1, -1, -1}, none));
    CHECK(refused(2, 2, 0, {-2, 0, 0, 0}, none));
    CHECK(refused(2, 2, 0, {-1, -1, -1, -1}, none));
    CHECK(refused(2, 2, 0, board, {1, 0, 0, 0}));
    CHECK(refused(2, 2, 2, board, {3, 0, 0, 0}));
    CHECK(refused(2, 2, 2, board, {0, 1, 0, 0}));
}

TEST(solitaire_chess_trees) {
    // Three rooks in a row: the middle one takes either side, the outer ones take the middle one; then two are left,
    // in one row, and each takes the other.
    const solitaire_chess::Rules rules(2, 3, 0, true, {kRook, kRook, kRook, kNoPiece, kNoPiece, kNoPiece},
                                       std::vector<int>(6));
    const solitaire_chess::State state(rules);
    CHECK(count(state, 1) == 4);
    CHECK(count(state, 2) == 8);
    CHECK(count(state, 3) == 0);
    Control control;
    TreeWalk walk(1000, control);
    const CaptureTree tree = walk.walk(state);
    CHECK(tree.nodes == 13);
    CHECK(tree.solutions == 8);
    CHECK(tree.finals[kRook] == 0b111);
    CHECK(walk.distinct() == 7);  // the start, three pairs, three single rooks
    CHECK(control.done == 7);
    int solvable = 0;
    walk.for_each([&](const Board& board, const CaptureTree&) { solvable += walk.solvable(board); });
    CHECK(solvable == 7);
    bool too_many = false;
    try {
        TreeWalk(6, control).walk(state);
    } catch (const std::runtime_error&) {
        too_many = true;
    }
    CHECK(too_many);
    FirstSolution search(control);
    const auto moves = search.find(state);
    CHECK(moves && moves->size() == 2);
    // Pieces that may not capture any more are stuck.
    const solitaire_chess::Rules once(2, 3, 1, true, {kRook, kRook, kRook, kNoPiece, kNoPiece, kNoPiece},
                                      {1, 1, 1, 0, 0, 0});
    CHECK(solitaire_chess::State(once).player() == kTerminal);
}

TEST(solitaire_chess_enumeration) {
    Control control;
    Layer layer = single_pieces();
    CHECK(layer.boards() == 96);
    for (const std::int64_t boards : {4080, 100800}) {
        layer = next_layer(layer, 2, control);
        CHECK(layer.boards() == boards);
        CHECK(layer.solvable == boards - std::count(layer.values.begin(), layer.values.end(), kUnsolvable));
        CHECK(layer.unique == layer.solvable - std::count(layer.values.begin(), layer.values.end(), kSeveralFinals));
        for (std::int64_t index = 0; index < boards; index += 37) CHECK(layer.index(layer.board(index)) == index);
    }
    CHECK(control.done == 4080 + 100800);
    const auto refused = [&](std::vector<int> kinds) {
        try {
            layer.index(kinds);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    const std::vector<int> three = layer.board(layer.boards() - 1);
    std::vector<int> two = three, four(16, kNoPiece), kings = four, strange = three;
    *std::find_if(two.begin(), two.end(), [](int kind) { return kind != kNoPiece; }) = kNoPiece;
    four[0] = four[1] = kRook, four[2] = four[3] = kPawn;
    kings[0] = kings[1] = kings[2] = kKing;
    *std::find_if(strange.begin(), strange.end(), [](int kind) { return kind != kNoPiece; }) = kKinds;
    CHECK(!refused(three) && refused(two) && refused(four) && refused(kings) && refused(strange));
    CHECK(refused(std::vector<int>(15, kNoPiece)));
    // Solved one by one, the boards have the same answers.
    for (std::int64_t index = 0; index < layer.boards(); index += 101) {
        const solitaire_chess::Rules rules(4, 4, 0, true, layer.board(index), std::vector<int>(16));
        TreeWalk walk(1000, control);
        const CaptureTree tree = walk.walk(solitaire_chess::State(rules));
        int finals = 0, last = 0;
        for (int kind = 0; kind < kKinds; ++kind) {
            finals += popcount(tree.finals[kind]);
            if (tree.finals[kind]) last = 1 + kind * 16 + lowest_bit(tree.finals[kind]);
        }
        CHECK(layer.values[index] == (finals > 1 ? kSeveralFinals : last));
    }
}

TEST(solitaire_chess_searches) {
    const std::vector<int> kinds = {kNoPiece, kRook,    kKnight,  kNoPiece, kBishop,  kNoPiece, kPawn,    kNoPiece,
                                    kNoPiece, kNoPiece, kNoPiece, kNoPiece, kNoPiece, kNoPiece, kNoPiece, kNoPiece};
    const solitaire_chess::Rules rules(4, 4, 0, true, kinds, std::vector<int>(16));
    const solitaire_chess::State state(rules);
    Control control;
    const SearchLimits limits{1000, 100, false};
    const SearchResult found = DepthFirst(paper_order, false, limits, control).find(state);
    CHECK(found.moves && found.moves->size() == 3);
    CHECK(found.states == 12);  // the paper's puzzle 2: 11 captures tried
    CHECK(found.tree.size() == 12);
    CHECK(best_first(state, centre_order, limits, control).moves.has_value());
    CHECK(!DepthFirst(paper_order, false, {5, 0, false}, control).find(state).finished);
}

TEST(solitaire_chess_puzzles_and_graphs) {
    std::vector<int> kinds(64, kNoPiece);
    kinds[0] = kKing;
    const solitaire_chess::Rules box(4, 4, 0, true, std::vector<int>(kinds.begin(), kinds.begin() + 16),
                                     std::vector<int>(16));
    const solitaire_chess::Rules solo(8, 8, 2, true, kinds, std::vector<int>(64));
    const std::vector<int> pool = {kKing, kQueen, kRook, kRook, kBishop, kBishop, kKnight, kKnight, kPawn, kPawn};
    Control control;
    Rng rng(1);
    for (const auto* rules : {&box, &solo}) {
        const PuzzleMaker maker(*rules, {6, pool, true, false, rules == &box ? 8u : 0u});
        for (int i = 0; i < 20; ++i) {
            solitaire_chess::State state = maker.make(rng, control);
            CHECK(state.pieces() == 6);
            CHECK(FirstSolution(control).find(state).has_value());
            while (state.player() != kTerminal) {
                CHECK(!plainly_dead(state) || !FirstSolution(control).find(state));
                const PieceGraph graph(state);
                int captures = 0;
                for (const auto edge : graph.edges) captures += is_capture(edge);
                CHECK(captures == static_cast<int>(state.count_legal()));
                state.apply(state.random_action(rng));
            }
        }
    }
}

// Plays beside pieces that walk from cell to cell.
TEST(solitaire_chess_pieces_capture_what_they_walk_to) {
    struct Steps {
        std::vector<std::pair<int, int>> steps;
        bool far;  // as often as the way is free
    };
    const std::vector<std::pair<int, int>> straight = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}},
                                           diagonal = {{-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
    auto all = straight;
    all.insert(all.end(), diagonal.begin(), diagonal.end());
    const std::map<int, Steps> ways = {
        {kKing, {all, false}},
        {kQueen, {all, true}},
        {kRook, {straight, true}},
        {kBishop, {diagonal, true}},
        {kKnight, {{{-2, -1}, {-2, 1}, {-1, -2}, {-1, 2}, {1, -2}, {1, 2}, {2, -1}, {2, 1}}, false}},
        {kPawn, {{{-1, -1}, {-1, 1}}, false}}};
    Rng rng(11);
    int solved = 0, stuck = 0;
    for (int round = 0; round < 400; ++round) {
        const int rows = 2 + static_cast<int>(rng.below(7)), columns = 2 + static_cast<int>(rng.below(7));
        const int cells = rows * columns, limit = round % 3;
        const bool king_last = round % 2 == 0;
        std::vector<int> kinds(cells, kNoPiece), captures(cells);
        for (int cell = 0; cell < cells; ++cell) {
            if (rng.below(4) == 0) kinds[cell] = static_cast<int>(rng.below(kKinds));
            if (kinds[cell] != kNoPiece && limit) captures[cell] = static_cast<int>(rng.below(limit));
        }
        if (std::count(kinds.begin(), kinds.end(), kNoPiece) == cells) kinds[0] = kRook;
        const solitaire_chess::Rules rules(rows, columns, limit, king_last, kinds, captures);
        solitaire_chess::State state(rules);
        for (;;) {
            std::set<Action> expected;
            for (int from = 0; from < cells; ++from) {
                if (kinds[from] == kNoPiece) continue;
                const Steps& way = ways.at(kinds[from]);
                Bitboard reach = 0;
                for (const auto& [down, right] : way.steps) {
                    int row = from / columns + down, column = from % columns + right;
                    bool free = true;
                    while (row >= 0 && row < rows && column >= 0 && column < columns) {
                        const int to = row * columns + column;
                        reach |= Bitboard(1) << to;
                        const bool allowed = limit == 0 || captures[from] < limit;
                        if (free && kinds[to] != kNoPiece) {
                            free = false;
                            if (allowed && !(king_last && kinds[to] == kKing)) expected.insert(from * cells + to);
                        }
                        if (!way.far) break;
                        row += down;
                        column += right;
                    }
                }
                CHECK(rules.leaps(kinds[from], from) == reach);
            }
            ActionList found;
            state.legal_actions(found);
            CHECK(std::set<Action>(found.begin(), found.end()) == expected && found.size() == expected.size());
            CHECK(state.count_legal() == expected.size() && (state.player() == kTerminal) == expected.empty());
            const auto planes = observed<float>(state);
            int pieces = 0;
            for (int cell = 0; cell < cells; ++cell) {
                pieces += kinds[cell] != kNoPiece;
                for (int kind = 0; kind < kKinds; ++kind) {
                    CHECK(planes[kind * cells + cell] == (kinds[cell] == kind));
                }
                if (limit == 0) continue;
                const float left = static_cast<float>(limit - captures[cell]) / static_cast<float>(limit);
                CHECK(planes[kKinds * cells + cell] == (kinds[cell] == kNoPiece ? 0 : left));
            }
            CHECK(state.pieces() == pieces && state.returns()[0] == (pieces == 1));
            if (expected.empty()) {
                ++(pieces == 1 ? solved : stuck);
                break;
            }
            const Action action = state.random_action(rng);
            CHECK(expected.contains(action));
            state.apply(action);
            const int from = action / cells, to = action % cells;
            kinds[to] = std::exchange(kinds[from], kNoPiece);
            captures[to] = std::exchange(captures[from], 0) + (limit > 0);
            CHECK(state.key() == solitaire_chess::State(rules, kinds, captures).key());
        }
    }
    CHECK(solved > 20 && stuck > 200);
}

// Positions that a search without memory enters, its captures tried from the last cell to the first.
static std::pair<std::int64_t, bool> entered_backwards(const solitaire_chess::State& state) {
    if (state.pieces() == 1) return {1, true};
    ActionList actions;
    state.legal_actions(actions);
    const int cells = state.rules().cells(), columns = state.rules().columns();
    const auto rank = [&](Action action) {  // a queen's slanting captures come before its straight ones
        const int from = action / cells, to = action % cells;
        const bool straight = from / columns == to / columns || from % columns == to % columns;
        return std::tuple(-from, kind_of(state.board()[from]) == kQueen && straight, -to);
    };
    std::sort(actions.begin(), actions.end(), [&](Action a, Action b) { return rank(a) < rank(b); });
    std::int64_t entered = 1;
    for (const Action action : actions) {
        solitaire_chess::State next = state;
        next.apply(action);
        const auto [below, solved] = entered_backwards(next);
        entered += below;
        if (solved) return {entered, true};
    }
    return {entered, false};
}

// Whatever the order, a search finds a solution exactly if there is one, and its tree is one of captures.
TEST(solitaire_chess_searches_tell_the_truth) {
    Rng rng(12);
    int solvable = 0, dead = 0;
    for (int round = 0; round < 300; ++round) {
        const int limit = round % 3 == 0 ? 2 : 0, side = 4 + round % 2;
        std::vector<int> kinds(side * side, kNoPiece);
        for (int pieces = 2 + round % 6; pieces > 0; --pieces) {
            kinds[rng.below(static_cast<std::uint32_t>(kinds.size()))] = static_cast<int>(rng.below(kKinds));
        }
        const solitaire_chess::Rules rules(side, side, limit, round % 2 == 0, kinds, std::vector<int>(kinds.size()));
        const solitaire_chess::State state(rules);
        Control control;
        const auto [entered, expected] = entered_backwards(state);
        if (plainly_dead(state)) CHECK(!expected);
        dead += plainly_dead(state);
        solvable += expected;
        const auto check = [&](const SearchResult& found) {
            CHECK(found.finished && found.moves.has_value() == expected);
            CHECK(static_cast<std::int64_t>(found.tree.size()) == found.states);
            std::vector<solitaire_chess::State> states{state};
            CHECK(found.tree[0].parent == -1);
            for (std::size_t i = 1; i < found.tree.size(); ++i) {
                const auto [parent, action] = found.tree[i];
                CHECK(parent >= 0 && parent < static_cast<std::int64_t>(i));
                solitaire_chess::State next = states[static_cast<std::size_t>(parent)];
                CHECK(next.is_legal(action));
                next.apply(action);
                states.push_back(next);
            }
            if (found.moves) {
                solitaire_chess::State end = state;
                for (const Action action : *found.moves) {
                    CHECK(end.is_legal(action));
                    end.apply(action);
                }
                CHECK(end.pieces() == 1);
            }
        };
        for (const bool prune : {false, true}) {
            const SearchLimits limits{1'000'000, 1'000'000, prune};
            for (const bool memory : {false, true}) {
                Control counted;
                const SearchResult found = DepthFirst(paper_order, memory, limits, counted).find(state);
                check(found);
                CHECK(counted.done == found.states);
                if (!memory && !prune) CHECK(found.states == entered);
                if (memory || prune) CHECK(found.states <= entered);
                check(DepthFirst(centre_order, memory, limits, control).find(state));
            }
            Control counted;
            const SearchResult best = best_first(state, centre_order, limits, counted);
            check(best);
            CHECK(counted.done == best.states);
            if (best.states > 1) {
                CHECK(!best_first(state, centre_order, {best.states - 1, 9, prune}, control).finished);
                CHECK(best_first(state, centre_order, {best.states, 9, prune}, control).finished);
                CHECK(best_first(state, centre_order, {best.states, 1, prune}, control).tree.size() == 1);
            }
        }
        // Captures nearest to the centre come first.
        float before = -1;
        for (const auto& move : centre_order(state)) {
            const int to = move.action % rules.cells();
            const float down = static_cast<float>(to / side) - static_cast<float>(side - 1) / 2;
            const float right = static_cast<float>(to % side) - static_cast<float>(side - 1) / 2;
            CHECK(down * down + right * right >= before);
            before = down * down + right * right;
        }
    }
    CHECK(solvable > 30 && dead > 30);
    // Plainly dead: two pieces that cannot reach each other; two kings that are both left to the last.
    const auto is_dead = [](std::vector<int> kinds, int limit, std::vector<int> captures) {
        const solitaire_chess::Rules rules(2, 4, limit, true, kinds, captures);
        return plainly_dead(solitaire_chess::State(rules));
    };
    const int o = kNoPiece;
    const std::vector<int> none(8), spent = {1, 0, 0, 0, 0, 0, 0, 1};
    CHECK(is_dead({kPawn, o, o, o, o, o, o, kPawn}, 0, none) && !is_dead({kRook, o, o, kPawn, o, o, o, o}, 0, none));
    CHECK(is_dead({kKing, kKing, o, o, o, o, o, o}, 0, none) && !is_dead({kKing, kQueen, o, o, o, o, o, o}, 0, none));
    CHECK(is_dead({kRook, o, o, o, o, o, o, kRook}, 1, spent) && !is_dead({kRook, o, o, o, o, o, o, o}, 0, none));
}

// Best first beside a list that is looked through for every position: the greatest belief, which is a score of at most 2
// and 0.3 for every capture made; of equal ones the deepest, then the greatest score, then the first that was seen.
TEST(solitaire_chess_best_first_enters_what_is_believed_in_most) {
    struct Waiting {
        float score;
        int captures;
        std::int64_t parent;
        Action action;
        solitaire_chess::State state;
    };
    const auto order = [](const solitaire_chess::State& state) {  // some beliefs are equal, at the same depth only
        ScoredMoves moves = paper_order(state);
        for (ScoredMove& move : moves) {
            Rng rng(BoardHash()(state.board()), static_cast<std::uint64_t>(move.action));
            move.score = 0.37f * static_cast<float>(rng.below(20)) - 3.0f;
        }
        return moves;
    };
    Rng rng(14);
    int compared = 0;
    for (int round = 0; round < 60; ++round) {
        std::vector<int> kinds(25, kNoPiece);
        for (int i = 0; i < 9; ++i) kinds[rng.below(25)] = static_cast<int>(rng.below(kKinds));
        const solitaire_chess::Rules rules(5, 5, 0, true, kinds, std::vector<int>(25));
        const solitaire_chess::State root(rules);
        Control control;
        const SearchResult found = best_first(root, order, {100, 100, false}, control);
        std::vector<Waiting> waiting{{0, 0, -1, 0, root}};
        std::set<Board> seen{root.board()};
        for (std::size_t entered = 0; entered < found.tree.size(); ++entered, ++compared) {
            CHECK(!waiting.empty());
            const auto belief = [](const Waiting& w) {
                const double wanted = std::min(w.score, 2.0f) + 0.3 * w.captures;
                return std::tuple(w.parent < 0 ? 0 : std::lround(wanted * 1000), w.captures, w.score);
            };
            const auto best = std::max_element(waiting.begin(), waiting.end(), [&](const Waiting& a, const Waiting& b) {
                return belief(a) < belief(b);
            });
            const Waiting next = *best;
            waiting.erase(best);
            CHECK(found.tree[entered].parent == next.parent);
            CHECK(next.parent < 0 || found.tree[entered].action == next.action);
            if (next.state.pieces() == 1) {
                CHECK(found.moves && entered + 1 == found.tree.size());
                break;
            }
            for (const ScoredMove& move : order(next.state)) {
                solitaire_chess::State after = next.state;
                after.apply(move.action);
                if (!seen.insert(after.board()).second) continue;
                waiting.push_back(
                    {move.score, next.captures + 1, static_cast<std::int64_t>(entered), move.action, after});
            }
        }
    }
    CHECK(compared > 500);
}

// Random boards, some of whose pieces have made captures.
template <class Visit>
static void for_random_boards(int boards, Visit&& visit) {
    Rng rng(13);
    for (int round = 0; round < boards; ++round) {
        const int rows = 3 + static_cast<int>(rng.below(6)), columns = 3 + static_cast<int>(rng.below(6));
        const int limit = round % 4;
        std::vector<int> kinds(rows * columns, kNoPiece), captures(rows * columns);
        kinds[0] = kQueen;
        for (std::size_t cell = 0; cell < kinds.size(); ++cell) {
            if (rng.below(3) == 0) kinds[cell] = static_cast<int>(rng.below(kKinds));
            if (kinds[cell] != kNoPiece && limit) captures[cell] = static_cast<int>(rng.below(limit + 1));
        }
        visit(solitaire_chess::Rules(rows, columns, limit, round % 2 == 0, kinds, captures), kinds, captures);
    }
}

// What an edge says is what the two pieces do on a board of their own, and what stands between them.
TEST(solitaire_chess_graphs_say_how_pieces_stand) {
    for_random_boards(120, [](const solitaire_chess::Rules& rules, const auto& kinds, const auto& captures) {
        const solitaire_chess::State state(rules);
        const PieceGraph graph(state);
        const int n = graph.pieces, columns = rules.columns();
        CHECK(n == state.pieces() && graph.edges.size() == static_cast<std::size_t>(n) * n);
        for (int i = 0; i < n; ++i) {
            const int from = graph.cells[i], limit = rules.max_captures();
            const int left = limit ? std::min(2, limit - captures[from]) : 2;
            CHECK(graph.nodes[i] == left * kKinds + kinds[from] && graph.nodes[i] < kNodes);
            for (int j = 0; j < n; ++j) {
                const int to = graph.cells[j], edge = graph.edges[i * n + j];
                CHECK(edge < kEdges && (edge == kSelfEdge) == (i == j));
                if (i == j) continue;
                std::vector<int> two(kinds.size(), kNoPiece), made(kinds.size());
                two[from] = kinds[from], two[to] = kinds[to];
                made[from] = captures[from], made[to] = captures[to];
                const solitaire_chess::State alone(rules, two, made);
                CHECK((edge & 2) / 2 == alone.is_legal(from * rules.cells() + to));
                CHECK((edge & 1) == alone.is_legal(to * rules.cells() + from));
                CHECK(is_capture(edge) == state.is_legal(from * rules.cells() + to));
                const int down = to / columns - from / columns, right = to % columns - from % columns;
                const int far = std::max(std::abs(down), std::abs(right));
                const bool straight = down == 0 || right == 0, oblique = std::abs(down) == std::abs(right);
                int between = 0;
                for (int k = 1; k < far && (straight || oblique); ++k) {
                    between += kinds[from + k * (down / far) * columns + k * (right / far)] != kNoPiece;
                }
                const int expected = far == 2 && std::abs(down * right) == 2 ? kKnightsMove
                                     : !straight && !oblique                 ? kNoLine
                                     : far == 1 && straight                  ? kBeside
                                     : far == 1 ? (down < 0 ? kDiagonallyAbove : kDiagonallyBelow)
                                                : (straight ? kStraight : kOblique) + std::min(2, between);
                CHECK(edge / 4 == expected);
            }
        }
    });
}

// A knight that may capture twice takes both pawns; if it may capture once, the second is out of its reach.
TEST(solitaire_chess_pieces_reach_no_more_than_they_may_capture) {
    std::vector<int> kinds(16, kNoPiece);
    kinds[0] = kKnight, kinds[6] = kinds[8] = kPawn;
    for (const int captures : {1, 2, 0}) {
        const solitaire_chess::Rules rules(4, 4, captures, true, kinds, std::vector<int>(16));
        CHECK(plainly_dead(solitaire_chess::State(rules)) == (captures == 1));
    }
    // The rook sees the pawn, which cannot capture it. After two captures of two it stays where it is.
    kinds.assign(16, kNoPiece);
    kinds[0] = kRook, kinds[3] = kPawn;
    for (const int made : {0, 1, 2}) {
        std::vector<int> captures(16);
        captures[0] = made;
        const solitaire_chess::Rules rules(4, 4, 2, true, kinds, captures);
        CHECK(plainly_dead(solitaire_chess::State(rules)) == (made == 2));
    }
}

TEST(solitaire_chess_puzzles_are_as_wished) {
    const std::vector<int> pool = {kKing, kQueen, kRook, kRook, kBishop, kKnight, kPawn};
    const solitaire_chess::Rules rules(4, 4, 0, true, std::vector<int>(16, kRook), std::vector<int>(16));
    const auto kinds_of = [](const Board& board) {
        std::vector<int> kinds;
        for (const auto piece : board) {
            if (piece) kinds.push_back(kind_of(piece));
        }
        std::sort(kinds.begin(), kinds.end());
        return kinds;
    };
    const auto check_pool = [&](const Board& board) {
        const auto kinds = kinds_of(board);
        CHECK(std::includes(pool.begin(), pool.end(), kinds.begin(), kinds.end()));
    };
    Rng rng(1);
    Control control;
    std::map<int, int> sizes, places;
    for (int i = 0; i < 2000; ++i) {
        const auto state = random_board(rules, pool, 2, 4, false, 1, rng);
        ++sizes[state->pieces()];
        for (Bitboard left = state->occupied(); left; left &= left - 1) ++places[lowest_bit(left)];
        check_pool(state->board());
    }
    CHECK(sizes.size() == 3 && places.size() == 16);
    for (const auto& [size, times] : sizes) CHECK(size >= 2 && size <= 4 && std::abs(times - 667) < 120);
    for (const auto& [cell, times] : places) CHECK(std::abs(times - 375) < 100);
    int found = 0;
    for (int i = 0; i < 100; ++i) {
        const auto state = random_board(rules, pool, 5, 5, true, 1, rng);
        found += state.has_value();
        if (state) CHECK(TreeWalk(1'000'000, control).walk(*state).solutions > 0);
    }
    CHECK(found > 5 && found < 95);
    CHECK(!random_board(rules, pool, 2, 4, false, 0, rng));
    for (const bool with_king : {true, false}) {
        const PuzzleMaker maker(rules, {4, pool, with_king, !with_king, 3});
        Control counted;
        const auto boards = make_puzzles(maker, 30, 7, 2, counted);
        CHECK(counted.done == 30 && boards == make_puzzles(maker, 30, 7, 1, counted));
        for (const Board& board : boards) {
            const auto kinds = kinds_of(board);
            CHECK(kinds.size() == 4 && (kinds[0] == kKing) == with_king);
            check_pool(board);
            const solitaire_chess::State state(rules, board);
            const CaptureTree tree = TreeWalk(1'000'000, control).walk(state);
            int finals = 0, last = 0;
            for (int kind = 0; kind < kKinds; ++kind) {
                finals += popcount(tree.finals[kind]);
                if (tree.finals[kind]) last = 1 + kind * 16 + lowest_bit(tree.finals[kind]);
            }
            const Outcome outcome = OnlyFinal().find(state);
            CHECK(finals == 1 && tree.solutions <= 3 && outcome.final == last && outcome.solutions == tree.solutions);
        }
    }
    // Two rooks, made backwards: each of the 48 pairs of cells in one row or column comes as often.
    std::map<Bitboard, int> pairs;
    for (const Board& board :
         make_puzzles(PuzzleMaker(rules, {2, {kRook, kRook}, false, false, 0}), 4800, 3, 1, control)) {
        ++pairs[solitaire_chess::State(rules, board).occupied()];
    }
    CHECK(pairs.size() == 48);
    for (const auto& [cells, times] : pairs) {
        const int one = lowest_bit(cells), other = lowest_bit(cells & (cells - 1));
        CHECK((one / 4 == other / 4 || one % 4 == other % 4) && std::abs(times - 100) < 50);
    }
    const auto refused = [&](PuzzleWish wish) {
        try {
            PuzzleMaker(rules, wish);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(!refused({7, pool, true, false, 0}) && refused({8, pool, false, false, 0}) &&
          refused({1, pool, true, false, 0}));
    CHECK(refused({7, pool, false, true, 0}) && !refused({6, pool, false, true, 0}) &&
          refused({3, pool, true, true, 0}));
    CHECK(refused({2, {kRook, kRook}, true, false, 0}) && refused({2, {kKing, kKing, kRook}, false, false, 0}));
    CHECK(refused({2, {kRook, 6}, false, false, 0}) && refused({2, {-1, kRook}, false, false, 0}));
    CHECK(refused({16, std::vector<int>(20, kRook), false, false, 0}));
    CHECK(!refused({15, std::vector<int>(20, kRook), false, false, 0}));
    const auto no_board = [&](std::vector<int> kinds, int least, int most) {
        try {
            random_board(rules, kinds, least, most, false, 1, rng);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(!no_board(pool, 1, 7) && no_board(pool, 0, 7) && no_board(pool, 1, 8) && no_board(pool, 4, 3));
    CHECK(no_board({6}, 1, 1) && no_board({-1}, 1, 1) && no_board(std::vector<int>(20, kRook), 1, 17));
    CHECK(!no_board(std::vector<int>(20, kRook), 16, 16));
}
