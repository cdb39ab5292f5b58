#include "games/endgames/rules.hpp"

#include "tests/check.hpp"

using namespace rookery;
using namespace rookery::testing;
using namespace rookery::endgames;

static const std::string kStart = "8/8/8/4k3/8/8/8/R3K3 w - - 0 1";
static const std::vector<std::string> kMaterials = {"Q",  "R",  "P",  "QQ", "QR", "QB", "QN", "QP", "RR",
                                                    "RB", "RN", "RP", "BB", "BN", "BP", "NN", "NP", "PP"};

static Position other_colour(Position p) {
    const auto turn = [](std::uint8_t square) { return static_cast<std::uint8_t>(square < 64 ? square ^ 56 : square); };
    p.strong_king = turn(p.strong_king);
    p.weak_king = turn(p.weak_king);
    for (auto& square : p.squares) square = turn(square);
    p.strong ^= 1;
    p.to_move ^= 1;
    sort_pieces(p);
    return p;
}

// Every legal position of White's king and one piece against Black's king.
template <class Visit>
static void for_each_position(Kind kind, Visit&& visit) {
    Position p;
    p.kinds[0] = kind;
    for (int i = 0; i < 64 * 64 * 64 * 2; ++i) {
        p.strong_king = i & 63;
        p.weak_king = i >> 6 & 63;
        p.squares[0] = i >> 12 & 63;
        p.to_move = i >> 18 & 1;
        if (!fault(p)) visit(p);
    }
}

TEST(chess_endgame_random_play) {
    const Rules with_draws(kStart, 3, true), without(kStart, 0, false);
    for (const auto& material : kMaterials) {
        Rng rng(1);
        for (int i = 0; i < 4; ++i) {
            const Position p = random_position(material, rng);
            check_random_play(State(with_draws, {p}), 2, 300);
            check_random_play(State(without, {other_colour(p)}), 2, 300);
        }
    }
}

// The numbers of legal positions are those published for endgame tables; with Black to move and a piece that is no pawn
// they are 3612 placements of two kings times 62. There are 27 mates with a rook up to the 8 symmetries of the board.
TEST(chess_endgame_counts_of_positions) {
    const auto count_positions = [](Kind kind) {
        std::array<int, 3> counts{};  // White to move, Black to move, mates
        for_each_position(kind, [&](const Position& p) {
            ++counts[p.to_move];
            counts[2] += in_check(p) && legal_moves(p).count == 0;
        });
        return counts;
    };
    CHECK((count_positions(kRook) == std::array{175'168, 223'944, 216}));
    CHECK(count_positions(kQueen)[0] == 144'508);
    CHECK(count_positions(kQueen)[1] == 3612 * 62);
    CHECK(count_positions(kPawn)[0] == 163'328);
    CHECK(count_positions(kPawn)[1] == 168'024);
}

static std::vector<Position> quiet_successors(const Position& p) {
    std::vector<Position> next;
    for_each_move(p, legal_moves(p), [&](Move move) {
        const bool capture = (p.pieces() & bit(move.to())) != 0;
        if (!capture && !move.promotion()) next.push_back(after(p, move));
    });
    return next;
}

static bool holds(const std::vector<Position>& positions, const Position& p) {
    return std::find(positions.begin(), positions.end(), p) != positions.end();
}

TEST(chess_endgame_predecessors_are_moves_taken_back) {
    const auto check = [](const Position& p) {
        std::vector<Position> predecessors;
        for_each_quiet_predecessor(p, [&](const Position& before) {
            CHECK(!holds(predecessors, before));
            predecessors.push_back(before);
            CHECK(holds(quiet_successors(before), p));
        });
        for (const Position& next : quiet_successors(p)) {
            bool found = false;
            for_each_quiet_predecessor(next, [&](const Position& before) { found |= before == p; });
            CHECK(found);
        }
    };
    for (const auto& material : kMaterials) {
        Rng rng(2);
        for (int i = 0; i < 200; ++i) {
            const Position p = random_position(material, rng);
            check(p);
            check(other_colour(p));
        }
    }
    check(parse_fen("8/8/8/4k3/8/8/8/4K3 w - -").position);
    check(parse_fen("8/8/8/4k3/8/8/8/4K3 b - -").position);
}

TEST(chess_endgame_colours_are_alike) {
    for (const auto& material : kMaterials) {
        Rng rng(3);
        for (int i = 0; i < 200; ++i) {
            const Position p = random_position(material, rng), q = other_colour(p);
            CHECK(!fault(q));
            CHECK(legal_moves(p).count == legal_moves(q).count);
            CHECK(in_check(p) == in_check(q));
            CHECK(p != q && other_colour(q) == p);
            CHECK(parse_fen(to_fen({q})).position == q);
        }
    }
}

// Whatever the action in range, nothing is indexed out of range.
TEST(chess_endgame_survives_any_action) {
    Rng rng(4);
    for (int i = 0; i < 2000; ++i) {
        const Position p = random_position(kMaterials[i % kMaterials.size()], rng);
        const auto action = static_cast<Action>(rng.below(kNumActions));
        if (is_legal(p, legal_moves(p), action)) continue;
        const Position q = after(p, move_of(action));
        legal_moves(q);
        letters(q);
        fault(q);
    }
}

TEST(chess_endgame_refuses_bad_fen) {
    const auto refused = [](std::string_view text) {
        try {
            parse_fen(text);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(!refused(kStart));
    for (std::size_t length = 0; length < 21; ++length) CHECK(refused(kStart.substr(0, length)));
    CHECK(refused("8/8/8/4k3/8/8/8/R3K888888888888888888888888888 w - - 0 1"));
    CHECK(refused("8/8/8/4k3/8/8/8/RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR w - - 0 1"));
    CHECK(refused("8/8/8/4k3/8/8/8/R3K3 w - - 0 18446744073709551617"));
    constexpr std::string_view kCharacters = "KQRBNPkqrbnp12345678/ wb-0\n\xff";
    Rng rng(5);
    for (int i = 0; i < 20'000; ++i) {
        std::string text = kStart;
        for (int edits = 1 + static_cast<int>(rng.below(4)); edits > 0; --edits) {
            text[rng.below(static_cast<std::uint32_t>(text.size()))] = kCharacters[rng.below(kCharacters.size())];
        }
        if (!refused(text)) CHECK(!fault(parse_fen(text).position));
    }
}

TEST(chess_endgame_names) {
    const Position rooks = parse_fen("8/8/8/8/R7/8/1k6/R6K w - - 0 1").position;
    CHECK(san(rooks, Move(0, 16)) == "R1a3");
    CHECK(san(rooks, Move(24, 16)) == "R4a3");
    CHECK(san(rooks, Move(24, 25)) == "Rb4+");
    const Position pawn = parse_fen("k7/5P2/1K6/8/8/8/8/8 w - - 0 1").position;
    CHECK(san(pawn, Move(53, 61, kQueen)) == "f8=Q#");
    CHECK(san(pawn, Move(53, 61, kKnight)) == "f8=N");
}
