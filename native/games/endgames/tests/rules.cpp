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

TEST(chess_endgame_says_what_is_wrong_with_a_fen) {
    const auto reason = [](const char* text) -> std::string {
        try {
            parse_fen(text);
        } catch (const std::invalid_argument& error) {
            return std::string(error.what()).substr(std::string("not a usable FEN: ").size());
        }
        return "";
    };
    const std::vector<std::pair<const char*, std::string>> cases = {
        {"8/8/8/4k3/8/8/8/R3K3 w - - 0 1", ""},
        {"8/8/8/4k3/8/8/R3K3 w - -", "the board must have 8 rows joined by '/'"},
        {"8/8/8/8/8/4k3/8/8/R3K3 w - -", "the board must have 8 rows joined by '/'"},
        {"8/8/8/4k3/8/8/8/R12K3 w - -", "a row of the board has two numbers side by side"},
        {"8/8/8/4k3/8/8/8/R3X3 w - -", "the board is written with 1 to 8, KQRBNP and kqrbnp only"},
        {"8/8/8/4k3/8/8/8/R3K4 w - -", "every row of the board must have 8 squares"},
        {"8/8/8/4k3/8/8/8/R3K2 w - -", "every row of the board must have 8 squares"},
        {"8/8/8/4k3/8/8/8/R7 w - -", "each side must have one king"},
        {"8/8/8/8/8/8/8/R3K3 w - -", "each side must have one king"},
        {"8/8/8/4k3/8/8/8/r7 w - -", "each side must have one king"},
        {"8/8/8/4k3/8/8/8/R3K2K w - -", "each side must have one king"},
        {"8/8/8/4k2k/8/8/8/R3K3 w - -", "each side must have one king"},
        {"8/8/8/4k2n/8/8/8/R3K3 w - -", "one side must have nothing but its king"},
        {"8/8/8/4k3/8/8/8/RRR1K3 w - -", "a side may have at most two pieces besides its king"},
        {"8/8/8/4k3/8/8/8/R3K3 x - -", "the side to move must be 'w' or 'b'"},
    };
    for (const auto& [fen, expected] : cases) CHECK(reason(fen) == expected);
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

// Positions that come as numbers may have any; each of these is the first that is too large.
TEST(chess_endgame_refuses_kings_and_players_that_are_none) {
    const Position legal = parse_fen(kStart).position;
    CHECK(!fault(legal));
    for (int field = 0; field < 4; ++field) {
        Position wrong = legal;
        if (field < 2) (field == 0 ? wrong.strong_king : wrong.weak_king) = 64;
        if (field >= 2) (field == 2 ? wrong.strong : wrong.to_move) = 2;
        const char* said = fault(wrong);
        CHECK(said && std::string_view(said) == "a king is off the board");
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

// Chess on a board of 64 letters, with no tables: slow, and enough for few men.
namespace slow {

static bool own(char man, int player) { return man != '.' && (man >= 'a') == (player == 1); }

static const std::vector<std::pair<int, int>> kStraight = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}},
                                              kSlanting = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};

// Squares that the man on a square attacks, pawns only sideways.
static std::set<int> attacked_from(const std::string& board, int square) {
    const char man = board[square];
    const char kind = static_cast<char>(man >= 'a' ? man - 'a' + 'A' : man);
    std::vector<std::pair<int, int>> steps;
    if (kind != 'B' && kind != 'N' && kind != 'P') steps = kStraight;
    if (kind == 'K' || kind == 'Q' || kind == 'B') steps.insert(steps.end(), kSlanting.begin(), kSlanting.end());
    if (kind == 'P') steps = {{-1, man == 'P' ? 1 : -1}, {1, man == 'P' ? 1 : -1}};
    for (const int a : {-2, -1, 1, 2}) {
        for (const int b : {-2, -1, 1, 2}) {
            if (kind == 'N' && std::abs(a) != std::abs(b)) steps.emplace_back(a, b);
        }
    }
    std::set<int> found;
    for (const auto& [right, up] : steps) {
        for (int file = square % 8 + right, rank = square / 8 + up; file >= 0 && file < 8 && rank >= 0 && rank < 8;
             file += right, rank += up) {
            found.insert(rank * 8 + file);
            if (board[rank * 8 + file] != '.' || kind == 'K' || kind == 'N' || kind == 'P') break;
        }
    }
    return found;
}

static bool attacked(const std::string& board, int square, int by) {
    for (int from = 0; from < 64; ++from) {
        if (own(board[from], by) && attacked_from(board, from).contains(square)) return true;
    }
    return false;
}

static int king(const std::string& board, int player) { return static_cast<int>(board.find(player ? 'k' : 'K')); }

struct Step {
    int from, to, promotion;  // Kind of the new piece, or 0
    std::string after;
};

static std::vector<Step> moves(const std::string& board, int player) {
    std::vector<Step> found;
    for (int from = 0; from < 64; ++from) {
        if (!own(board[from], player)) continue;
        std::set<int> targets;
        const bool pawn = board[from] == 'P' || board[from] == 'p';
        for (const int to : attacked_from(board, from)) {
            if (own(board[to], player) || (pawn && board[to] == '.')) continue;
            targets.insert(to);
        }
        const int up = player ? -8 : 8;
        if (pawn && board[from + up] == '.') {
            targets.insert(from + up);
            if (from / 8 == (player ? 6 : 1) && board[from + 2 * up] == '.') targets.insert(from + 2 * up);
        }
        for (const int to : targets) {
            const bool promotes = pawn && (to / 8 == 0 || to / 8 == 7);
            for (const char piece : std::string_view(promotes ? "NBRQ" : "-")) {
                std::string after = board;
                after[to] = promotes ? static_cast<char>(player ? piece - 'A' + 'a' : piece) : board[from];
                after[from] = '.';
                if (attacked(after, king(after, player), 1 - player)) continue;
                found.push_back({from, to, promotes ? static_cast<int>(kLetters.find(piece)) : 0, after});
            }
        }
    }
    return found;
}

}  // namespace slow

TEST(chess_endgame_moves_are_those_of_a_plain_board) {
    const Rules rules(kStart, 0, false);
    int mates = 0, stalemates = 0, bare = 0;
    for (const auto& material : kMaterials) {
        Rng rng(6);
        for (int i = 0; i < 12; ++i) {
            Position start = random_position(material, rng);
            if (i % 2) start = other_colour(start);
            State state(rules, {start, 3, 7});
            std::string board = letters(start);
            for (int ply = 0; ply < 30; ++ply) {
                const Position& p = state.position();
                const auto moves = slow::moves(board, p.to_move);
                const bool check = slow::attacked(board, slow::king(board, p.to_move), 1 - p.to_move);
                CHECK(letters(p) == board && in_check(p) == check);
                const auto planes = observed<float>(state);
                for (int square = 0; square < 64; ++square) {
                    for (int plane = 0; plane < 12; ++plane) {
                        CHECK(planes[plane * 64 + (7 - square / 8) * 8 + square % 8] ==
                              (board[square] == "KQRBNPkqrbnp"[plane]));
                    }
                    CHECK(planes[12 * 64 + square] == p.to_move);
                }
                const auto men = 64 - std::count(board.begin(), board.end(), '.');
                if (moves.empty()) {
                    CHECK(state.ending() == (check ? Ending::kCheckmate : Ending::kStalemate) || men == 2);
                    CHECK(state.player() == kTerminal);
                    const double worth = check ? (p.to_move == 1 ? 1 : -1) : 0;
                    CHECK((state.returns() == Returns{worth, -worth}));
                    ++(check ? mates : stalemates);
                    break;
                }
                if (men == 2) {
                    CHECK(state.ending() == Ending::kInsufficientMaterial && (state.returns() == Returns{0, 0}));
                    ++bare;
                    break;
                }
                std::set<Action> expected, found;
                for (const auto& move : moves) expected.insert(action_of(Move(move.from, move.to, move.promotion)));
                for_each_move(p, legal_moves(p), [&](Move move) { found.insert(action_of(move)); });
                CHECK(found == expected && static_cast<int>(found.size()) == legal_moves(p).count);
                if (state.player() == kTerminal) break;
                for (Action action = 0; action < kNumActions; ++action) {
                    CHECK(state.is_legal(action) == expected.contains(action));
                }
                const auto& move = moves[rng.below(static_cast<std::uint32_t>(moves.size()))];
                const bool pawn = (board[move.from] | 32) == 'p', capture = board[move.to] != '.';
                CHECK(is_irreversible(p, Move(move.from, move.to, move.promotion)) == (pawn || capture));
                const Setup before = state.setup();
                state.apply(action_of(Move(move.from, move.to, move.promotion)));
                board = move.after;
                CHECK(state.setup().halfmove_clock == (pawn || capture ? 0 : before.halfmove_clock + 1));
                CHECK(state.setup().fullmove_number == before.fullmove_number + before.position.to_move);
            }
        }
    }
    CHECK(mates + stalemates > 0 && bare > 5);
}

// Kings and a rook that go to and fro.
TEST(chess_endgame_draws) {
    const auto plies_until_drawn = [](int repetition, bool fifty, Ending ending) {
        const Rules rules("8/8/8/4k3/8/8/8/R3K3 w - - 0 1", repetition, fifty);
        State state(rules);
        const std::array<Move, 4> round = {Move(0, 1), Move(36, 37), Move(1, 0), Move(37, 36)};
        int plies = 0;
        for (; state.player() != kTerminal && plies < 200; ++plies) state.apply(action_of(round[plies % 4]));
        CHECK(state.ending() == ending && (state.returns() == Returns{0, 0}));
        CHECK((state.count_legal() == 0) == (ending != Ending::kNone));
        state.forget_history();
        CHECK(state.player() == plies % 2 && state.setup().halfmove_clock == 0);
        return plies;
    };
    CHECK(plies_until_drawn(2, false, Ending::kRepetition) == 4);
    CHECK(plies_until_drawn(3, true, Ending::kRepetition) == 8);
    CHECK(plies_until_drawn(0, true, Ending::kFiftyMoves) == 100);
    CHECK(plies_until_drawn(0, false, Ending::kNone) == 200);
    const auto refused = [](int repetition) {
        try {
            Rules(kStart, repetition, false);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(refused(1) && refused(-1) && refused(101) && !refused(0) && !refused(2) && !refused(100));
    // A knight or a bishop cannot mate, nor can two bishops on one colour (a1 and c1 are dark, b1 is light).
    const auto ending = [](const char* fen) { return State(Rules(fen, 3, true)).ending(); };
    CHECK(ending("8/8/8/3k4/8/8/8/N3K3 w - - 0 1") == Ending::kInsufficientMaterial);
    CHECK(ending("8/8/8/3k4/8/8/8/B3K3 w - - 0 1") == Ending::kInsufficientMaterial);
    CHECK(ending("8/8/8/3k4/8/8/8/B1B1K3 w - - 0 1") == Ending::kInsufficientMaterial);
    CHECK(ending("8/8/8/3k4/8/8/8/BB2K3 w - - 0 1") == Ending::kNone);
    CHECK(ending("8/8/8/3k4/8/8/8/NN2K3 w - - 0 1") == Ending::kNone);
    CHECK(ending("8/8/8/3k4/8/8/P7/4K3 w - - 0 1") == Ending::kNone);
    CHECK(ending("8/8/8/3k4/8/8/8/R3K3 w - - 99 80") == Ending::kNone);
    CHECK(ending("8/8/8/3k4/8/8/8/R3K3 w - - 100 80") == Ending::kFiftyMoves);
}

TEST(chess_endgame_fen) {
    for (const char* fen : {"8/8/8/4k3/8/8/8/R3K3 w - - 0 1", "k7/7R/2K5/8/8/8/8/8 b - - 12 34",
                            "8/8/8/1K6/8/8/8/1k1q3r b - - 99 1000000", "7k/8/8/8/8/8/8/K7 w - - 5 6",
                            "8/1p1p4/8/8/8/8/k6K/8 w - - 0 3"}) {
        CHECK(to_fen(parse_fen(fen)) == fen);
    }
    CHECK(to_fen(parse_fen(" 8/8/8/4k3/8/8/8/R3K3\tw -  - ")) == kStart);
    CHECK(to_fen(parse_fen("8/8/8/4k3/8/8/8/R3K3 w - - 7 0")) == "8/8/8/4k3/8/8/8/R3K3 w - - 7 1");
    const auto refused = [](const char* text) {
        try {
            parse_fen(text);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    for (const char* text :
         {"8/8/8/4k3/8/8/8/R3K3 w -", "8/8/8/4k3/8/8/8/R3K3 w - - 0 1 2", "8/8/8/4k3/8/8/8/R3K3 x - - 0 1",
          "8/8/8/4k3/8/8/8/R3K3 w Q - 0 1", "8/8/8/4k3/8/8/8/R3K3 w - e3 0 1", "8/8/8/4k3/8/8/8/R3K21 w - - 0 1",
          "8/8/8/4k3/8/8/8/R3K2 w - - 0 1", "8/8/8/4k3/8/8/8/R3K4 w - - 0 1", "8/8/8/4k3/8/8/8/R7 w - - 0 1",
          "8/8/8/4k3/8/8/8/R3K2K w - - 0 1", "8/8/8/4k2r/8/8/8/R3K3 w - - 0 1", "8/8/8/4k3/8/8/8/RRR1K3 w - - 0 1",
          "8/8/8/8/8/8/4k3/R3K3 w - - 0 1", "R3k3/8/8/8/8/8/8/4K3 w - - 0 1", "8/8/8/4k3/8/8/8/P3K3 w - - 0 1",
          "8/8/8/4k3/8/8/8/R3K3 w - - 1000001 1", "8/8/8/4k3/8/8/8/R3K3 w - - 0 -1", "8/8/4k3/8/8/8/R3K3 w - - 0 1",
          "8/8/8/R2k3R/8/8/8/4K3 b - - 0 1"}) {
        CHECK(refused(text));
    }
    CHECK(san(parse_fen("8/8/8/8/8/8/1k6/R6K b - - 0 1").position, Move(9, 0)) == "Kxa1");
    CHECK(san(parse_fen("8/8/8/8/8/8/1k6/R6K w - - 0 1").position, Move(7, 15)) == "Kh2");
    CHECK(san(parse_fen("7k/8/8/8/1N6/8/8/1N5K w - - 0 1").position, Move(1, 16)) == "Na3");
    CHECK(san(parse_fen("7k/8/8/8/8/8/1N6/3N3K w - - 0 1").position, Move(3, 20)) == "Ne3");
    CHECK(san(parse_fen("7k/8/8/8/8/2N3N1/8/7K w - - 0 1").position, Move(18, 28)) == "Nce4");
}
