// A Solitaire Chess position as a graph: a node a piece, and for every ordered pair of pieces how the one stands to the
// other. Only occupied squares matter in this game and only their relative places, so the graph says all there is to
// say, and it says it in the same words on a board of any size.
#pragma once

#include <cstdlib>

#include "games/solitaire_chess/rules.hpp"

namespace rookery::solitaire_chess {

// A node is a kind and the captures it has left: none, one, more.
inline constexpr int kNodes = kKinds * 3;

// How another piece stands as seen from a piece.
enum Relation {
    kNoLine,
    kBeside,
    kDiagonallyAbove,
    kDiagonallyBelow,
    kKnightsMove,
    kStraight,
    kStraightBlocked,
    kStraightBlockedTwice,
    kOblique,
    kObliqueBlocked,
    kObliqueBlockedTwice
};
inline constexpr int kRelations = 11;

// An edge is a relation * 4, + 2 if the first piece could capture the second were nothing in the way, + 1 if the
// second could capture the first. The last code is that of a piece with itself.
inline constexpr int kSelfEdge = kRelations * 4;
inline constexpr int kEdges = kSelfEdge + 1;

inline bool is_capture(int edge) {
    const int relation = edge / 4;
    const bool clear = (relation >= kBeside && relation <= kStraight) || relation == kOblique;
    return clear && (edge & 2);
}

struct PieceGraph {
    int pieces = 0;
    std::array<std::uint8_t, kMaxCells> cells;  // ascending
    std::array<std::uint8_t, kMaxCells> nodes;
    std::vector<std::uint8_t> edges;  // [pieces, pieces]

    explicit PieceGraph(const State& state) {
        for (Bitboard left = state.occupied(); left; left &= left - 1) {
            cells[pieces] = static_cast<std::uint8_t>(lowest_bit(left));
            nodes[pieces] = node(state, cells[pieces]);
            ++pieces;
        }
        edges.resize(pieces * pieces);
        for (int i = 0; i < pieces; ++i) {
            for (int j = 0; j < pieces; ++j)
                edges[i * pieces + j] = i == j ? kSelfEdge : edge(state, cells[i], cells[j]);
        }
    }

    static std::uint8_t node(const State& state, int cell) {
        const int limit = state.rules().max_captures();
        const int left = limit == 0 ? 2 : std::min(2, limit - captures_of(state.board()[cell]));
        return static_cast<std::uint8_t>(left * kKinds + kind_of(state.board()[cell]));
    }

private:
    static std::uint8_t edge(const State& state, int from, int to) {
        const int columns = state.rules().columns();
        const int down = to / columns - from / columns, right = to % columns - from % columns;
        const int rows = std::abs(down), files = std::abs(right), distance = std::max(rows, files);
        const bool straight = rows == 0 || files == 0, oblique = rows == files;
        int relation = kNoLine;
        if (rows + files == 3 && !straight)
            relation = kKnightsMove;
        else if (distance == 1)
            relation = straight ? kBeside : down < 0 ? kDiagonallyAbove : kDiagonallyBelow;
        else if (straight || oblique) {
            const int step = (to - from) / distance;
            int blockers = 0;
            for (int cell = from + step; cell != to; cell += step) blockers += state.occupied() >> cell & 1;
            relation = (straight ? kStraight : kOblique) + std::min(blockers, 2);
        }
        return static_cast<std::uint8_t>(relation * 4 + could_capture(state, relation, from, to) * 2 +
                                         could_capture(state, seen_from_there(relation), to, from));
    }

    static int seen_from_there(int relation) {
        return relation == kDiagonallyAbove   ? kDiagonallyBelow
               : relation == kDiagonallyBelow ? kDiagonallyAbove
                                              : relation;
    }

    static bool could_capture(const State& state, int relation, int from, int to) {
        const std::uint8_t piece = state.board()[from];
        const int limit = state.rules().max_captures();
        if (limit > 0 && captures_of(piece) == limit) return false;
        if (state.rules().king_last() && kind_of(state.board()[to]) == kKing) return false;
        const bool straight = relation == kBeside || (relation >= kStraight && relation < kOblique);
        const bool oblique = relation == kDiagonallyAbove || relation == kDiagonallyBelow || relation >= kOblique;
        switch (kind_of(piece)) {
            case kKing:
                return relation >= kBeside && relation <= kDiagonallyBelow;
            case kQueen:
                return straight || oblique;
            case kRook:
                return straight;
            case kBishop:
                return oblique;
            case kKnight:
                return relation == kKnightsMove;
            default:
                return relation == kDiagonallyAbove;
        }
    }
};

}  // namespace rookery::solitaire_chess
