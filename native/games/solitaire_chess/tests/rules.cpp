#include "games/solitaire_chess/rules.hpp"

#include <map>
#include <utility>

#include "tests/check.hpp"
#include "games/solitaire_chess/capture_tree.hpp"
#include "games/solitaire_chess/enumeration.hpp"
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
        for (std::int64_t index = 0; index < boards; index += 37) CHECK(layer.index(layer.board(index)) == index);
    }
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
