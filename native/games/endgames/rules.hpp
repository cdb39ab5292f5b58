// Chess endgames: king and up to two pieces against a lone king.
//
// Two facts make these positions simple. The lone king is the only enemy of the other king, so the strong side is never
// in check, nothing of it is ever pinned, and it never captures. And with four men on the board, what a sliding piece
// attacks is its reach on the empty board less the shadows that the other three cast.
//
// Squares are numbered a1 = 0, b1 = 1 .. h8 = 63. Players are 0 (White) and 1 (Black).
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/bits.hpp"
#include "core/state.hpp"

namespace rookery::endgames {

using Squares = std::uint64_t;  // a set of squares

// The numbers of the first four are those of promotions in actions.
enum Kind : std::uint8_t { kNoPiece, kKnight, kBishop, kRook, kQueen, kPawn };
inline constexpr std::string_view kLetters = "?NBRQP";

inline constexpr int kNoSquare = 64;
inline constexpr Squares kBackRanks = 0xff000000000000ffULL;
inline constexpr Squares kLightSquares = 0x55aa55aa55aa55aaULL;

inline constexpr Squares bit(int square) { return square < 64 ? Squares(1) << square : 0; }

namespace tables {

using Step = std::array<int, 2>;  // files, ranks
inline constexpr std::array<Step, 8> kLines = {{{0, 1}, {1, 0}, {0, -1}, {-1, 0}, {1, 1}, {1, -1}, {-1, -1}, {-1, 1}}};
inline constexpr std::array<Step, 8> kLeaps = {
    {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}}};

inline constexpr int shifted(int square, Step step) {
    const int file = square % 8 + step[0], rank = square / 8 + step[1];
    return file >= 0 && file < 8 && rank >= 0 && rank < 8 ? rank * 8 + file : kNoSquare;
}

inline constexpr Squares ray(int square, Step step) {
    Squares squares = 0;
    for (int s = shifted(square, step); s != kNoSquare; s = shifted(s, step)) squares |= bit(s);
    return squares;
}

using Reach = std::array<std::array<std::array<Squares, 65>, 6>, 2>;
using Shadows = std::array<std::array<Squares, 65>, 64>;

inline constexpr std::array<Squares, 64> king_table() {
    std::array<Squares, 64> table{};
    for (int square = 0; square < 64; ++square) {
        for (const Step step : kLines) table[square] |= bit(shifted(square, step));
    }
    return table;
}

inline constexpr Reach reach_table() {
    Reach table{};
    for (int colour = 0; colour < 2; ++colour) {
        auto& kinds = table[colour];
        for (int square = 0; square < 64; ++square) {
            for (int i = 0; i < 8; ++i) {
                kinds[i < 4 ? kRook : kBishop][square] |= ray(square, kLines[i]);
                kinds[kQueen][square] |= ray(square, kLines[i]);
                kinds[kKnight][square] |= bit(shifted(square, kLeaps[i]));
            }
            const int up = colour == 0 ? 1 : -1;
            kinds[kPawn][square] = bit(shifted(square, {-1, up})) | bit(shifted(square, {1, up}));
        }
    }
    return table;
}

inline constexpr Shadows shadow_table() {
    Shadows table{};
    for (int square = 0; square < 64; ++square) {
        for (const Step step : kLines) {
            for (int s = shifted(square, step); s != kNoSquare; s = shifted(s, step)) table[square][s] = ray(s, step);
        }
    }
    return table;
}

}  // namespace tables

inline constexpr std::array<Squares, 64> kKingMoves = tables::king_table();
// [colour][kind][square]: what a piece attacks on an empty board.
inline constexpr tables::Reach kReach = tables::reach_table();
// [square][man]: what lies behind the man as seen from the square, if they share a line.
inline constexpr tables::Shadows kShadow = tables::shadow_table();

// Where the men stand and who is to move: eight bytes, equal exactly if the positions are. That needs an order of the
// pieces (see `sort_pieces`), and White as the strong side when there are two kings only.
struct Position {
    std::uint8_t strong_king = 0;
    std::uint8_t weak_king = 0;
    std::array<Kind, 2> kinds{kNoPiece, kNoPiece};
    std::array<std::uint8_t, 2> squares{kNoSquare, kNoSquare};
    std::uint8_t strong = 0;  // the player who owns the pieces
    std::uint8_t to_move = 0;

    friend bool operator==(const Position&, const Position&) = default;

    std::uint64_t code() const { return std::bit_cast<std::uint64_t>(*this); }
    Squares pieces() const { return bit(squares[0]) | bit(squares[1]); }
    Squares occupied() const { return bit(strong_king) | bit(weak_king) | pieces(); }
    bool strong_to_move() const { return to_move == strong; }
    bool bare_kings() const { return kinds[0] == kNoPiece; }
};
static_assert(std::is_trivially_copyable_v<Position> && sizeof(Position) == 8);

// The higher kind comes first, of two equal ones the lower square; a missing piece comes last.
inline void sort_pieces(Position& p) {
    if (p.kinds[0] < p.kinds[1] || (p.kinds[0] == p.kinds[1] && p.squares[0] > p.squares[1])) {
        std::swap(p.kinds[0], p.kinds[1]);
        std::swap(p.squares[0], p.squares[1]);
    }
    if (p.bare_kings() && p.strong == 1) {
        p.strong = 0;
        std::swap(p.strong_king, p.weak_king);
    }
}

// What piece i attacks or defends. The lone king does not stop a line on which it would have to flee.
inline Squares attacks_through_king(const Position& p, int i) {
    const auto& shadow = kShadow[p.squares[i] & 63];
    return kReach[p.strong][p.kinds[i]][p.squares[i]] & ~(shadow[p.strong_king] | shadow[p.squares[1 - i]]);
}

inline Squares attacks(const Position& p, int i) {
    return attacks_through_king(p, i) & ~kShadow[p.squares[i] & 63][p.weak_king];
}

// The pieces that attack the lone king.
inline Squares checkers(const Position& p) {
    const Squares king = bit(p.weak_king);
    return (attacks_through_king(p, 0) & king ? bit(p.squares[0]) : 0) |
           (attacks_through_king(p, 1) & king ? bit(p.squares[1]) : 0);
}

// Is the side to move in check?
inline bool in_check(const Position& p) { return !p.strong_to_move() && checkers(p) != 0; }

// What is wrong with a position, or null if it is legal. A position passes exactly if python-chess calls it valid.
inline const char* fault(const Position& p) {
    if (p.strong > 1 || p.to_move > 1 || p.strong_king > 63 || p.weak_king > 63) return "a king is off the board";
    int men = 2;
    for (int i = 0; i < 2; ++i) {
        if (p.kinds[i] > kPawn || (p.kinds[i] == kNoPiece) != (p.squares[i] == kNoSquare) || p.squares[i] > kNoSquare) {
            return "a piece is off the board";
        }
        men += p.kinds[i] != kNoPiece;
        if (p.kinds[i] == kPawn && bit(p.squares[i]) & kBackRanks) return "a pawn stands on the first or last rank";
    }
    if (popcount(p.occupied()) != men) return "two men stand on one square";
    if (kKingMoves[p.strong_king] & bit(p.weak_king)) return "the kings stand next to each other";
    const Squares giving_check = checkers(p);
    if (giving_check && p.strong_to_move()) return "the side that is not to move is in check";
    // A double check comes from a discovery, which cannot put the king between its two attackers.
    if (popcount(giving_check) == 2 && kShadow[p.squares[0]][p.weak_king] & bit(p.squares[1])) {
        return "no move can have given both checks, from opposite sides, at once";
    }
    return nullptr;
}

// Neither side could ever give mate, by the material alone.
inline bool insufficient_material(const Position& p) {
    if (p.bare_kings()) return true;
    if (p.kinds[1] == kNoPiece) return p.kinds[0] == kKnight || p.kinds[0] == kBishop;
    const bool two_bishops = p.kinds[0] == kBishop && p.kinds[1] == kBishop;
    return two_bishops && popcount(p.pieces() & kLightSquares) != 1;
}

// The legal moves of a position. Mover 0 is the king of the side to move, movers 1 and 2 are the two pieces.
struct Moves {
    std::array<Squares, 3> targets{};
    int count = 0;  // of actions: a promotion counts four times
};

inline int mover_square(const Position& p, int mover) {
    if (mover > 0) return p.squares[mover - 1];
    return p.strong_to_move() ? p.strong_king : p.weak_king;
}

inline Squares pawn_steps(int square, int colour, Squares occupied) {
    const bool at_home = square / 8 == (colour == 0 ? 1 : 6);
    const auto forward = [&](Squares s) { return (colour == 0 ? s << 8 : s >> 8) & ~occupied; };
    const Squares one = forward(bit(square));
    return at_home ? one | forward(one) : one;
}

inline Moves legal_moves(const Position& p) {
    Moves moves;
    if (!p.strong_to_move()) {
        // A defended piece is attacked by its own side, so this also says which captures are possible.
        const Squares attacked = kKingMoves[p.strong_king] | attacks_through_king(p, 0) | attacks_through_king(p, 1);
        moves.targets[0] = kKingMoves[p.weak_king] & ~attacked;
        moves.count = popcount(moves.targets[0]);
        return moves;
    }
    const Squares occupied = p.occupied();
    moves.targets[0] = kKingMoves[p.strong_king] & ~kKingMoves[p.weak_king] & ~occupied;
    moves.count = popcount(moves.targets[0]);
    for (int i = 0; i < 2; ++i) {
        if (p.kinds[i] == kPawn) {
            const Squares steps = moves.targets[1 + i] = pawn_steps(p.squares[i], p.strong, occupied);
            moves.count += steps & kBackRanks ? 4 : popcount(steps);
        } else {
            moves.targets[1 + i] = attacks(p, i) & ~occupied;
            moves.count += popcount(moves.targets[1 + i]);
        }
    }
    return moves;
}

// A move as the engines know it; `promotion` is 0 or one of kKnight .. kQueen.
class Move {
public:
    constexpr Move() = default;
    constexpr Move(int from, int to, int promotion = 0)
        : code_(static_cast<std::uint16_t>(promotion << 12 | from << 6 | to)) {}

    constexpr int from() const { return code_ >> 6 & 63; }
    constexpr int to() const { return code_ & 63; }
    constexpr int promotion() const { return code_ >> 12; }

private:
    std::uint16_t code_ = 0;
};

// Players know a move by its action. Actions are numbered densely: the moves of a queen and of a knight on an empty
// board, which are all moves there are, ordered by square and target; then the promotions, ordered by the new piece and
// then by square. A pawn never captures.
inline constexpr Action kFirstPromotion = 1792;
inline constexpr Action kNumActions = kFirstPromotion + 4 * 16;

// [from][to]; -1 where no piece can go. Promotions are not in it.
inline constexpr auto kActionOf = [] {
    std::array<std::array<std::int16_t, 64>, 64> table{};
    std::int16_t count = 0;
    for (int from = 0; from < 64; ++from) {
        const Squares targets = kReach[0][kQueen][from] | kReach[0][kKnight][from];
        for (int to = 0; to < 64; ++to) table[from][to] = targets & bit(to) ? count++ : std::int16_t(-1);
    }
    return table;
}();

inline constexpr Action action_of(Move move) {
    if (move.promotion() == 0) return kActionOf[move.from()][move.to()];
    return kFirstPromotion + 16 * (move.promotion() - kKnight) + move.to() % 8 + (move.to() / 8 == 7 ? 8 : 0);
}

inline constexpr auto kMoveOf = [] {
    std::array<Move, kNumActions> table{};
    const auto put = [&](Move move) { table[action_of(move)] = move; };
    for (int from = 0; from < 64; ++from) {
        for (int to = 0; to < 64; ++to) {
            if (kActionOf[from][to] >= 0) put({from, to});
        }
    }
    for (int kind = kKnight; kind <= kQueen; ++kind) {
        for (int file = 0; file < 8; ++file) put({8 + file, file, kind}), put({48 + file, 56 + file, kind});
    }
    return table;
}();
static_assert(action_of(Move(63, 62)) == kFirstPromotion - 1 && action_of(Move(55, 63, kQueen)) == kNumActions - 1);

// The action must be in range.
inline constexpr Move move_of(Action action) { return kMoveOf[action]; }

inline bool promotes(const Position& p, int mover, Squares targets) {
    return mover > 0 && p.kinds[mover - 1] == kPawn && targets & kBackRanks;
}

inline bool is_legal(const Position& p, const Moves& moves, Action action) {
    if (action < 0 || action >= kNumActions) return false;
    const Move move = move_of(action);
    for (int mover = 0; mover < 3; ++mover) {
        const Squares target = moves.targets[mover] & bit(move.to());
        if (target && mover_square(p, mover) == move.from()) {
            return promotes(p, mover, target) == (move.promotion() != 0);
        }
    }
    return false;
}

template <class Visit>
void for_each_move(const Position& p, const Moves& moves, Visit&& visit) {
    for (int mover = 0; mover < 3; ++mover) {
        const int from = mover_square(p, mover);
        for (Squares targets = moves.targets[mover]; targets; targets &= targets - 1) {
            const int to = lowest_bit(targets);
            if (promotes(p, mover, targets)) {
                for (int kind = kKnight; kind <= kQueen; ++kind) visit(Move(from, to, kind));
            } else {
                visit(Move(from, to));
            }
        }
    }
}

// The n-th move of for_each_move, counted from 0; there must be more than n.
inline Move nth_move(const Position& p, const Moves& moves, int n) {
    for (int mover = 0;; ++mover) {
        const Squares targets = moves.targets[mover];
        const bool promoting = promotes(p, mover, targets);
        const int count = promoting ? 4 : popcount(targets);
        if (n < count || mover == 2) {
            const int from = mover_square(p, mover);
            return promoting ? Move(from, lowest_bit(targets), kKnight + n) : Move(from, nth_bit(targets, n));
        }
        n -= count;
    }
}

// A capture or a move of a pawn: no earlier position can come again.
inline bool is_irreversible(const Position& p, Move move) {
    if (!p.strong_to_move()) return (p.pieces() & bit(move.to())) != 0;
    return (p.kinds[0] == kPawn && p.squares[0] == move.from()) || (p.kinds[1] == kPawn && p.squares[1] == move.from());
}

// The position after a legal move.
inline Position after(Position p, Move move) {
    const int from = move.from();
    const auto to = static_cast<std::uint8_t>(move.to());
    if (p.strong_to_move()) {
        if (from == p.strong_king) p.strong_king = to;
        for (int i = 0; i < 2; ++i) {
            if (p.squares[i] != from) continue;
            p.squares[i] = to;
            if (move.promotion()) p.kinds[i] = Kind(move.promotion());
        }
    } else {
        p.weak_king = to;
        for (int i = 0; i < 2; ++i) {
            if (p.squares[i] == to) p.kinds[i] = kNoPiece, p.squares[i] = kNoSquare;
        }
    }
    p.to_move ^= 1;
    sort_pieces(p);
    return p;
}

// Visits every legal position with the same men from which one move leads to `p`, which must be legal itself. Captures
// and promotions are not taken back: they come from positions of other material.
template <class Visit>
void for_each_quiet_predecessor(const Position& p, Visit&& visit) {
    const auto visit_from = [&](Squares squares, auto&& put_back) {
        for (; squares; squares &= squares - 1) {
            Position before = p;
            put_back(before, static_cast<std::uint8_t>(lowest_bit(squares)));
            before.to_move ^= 1;
            sort_pieces(before);
            if (!fault(before)) visit(before);
        }
    };
    const Squares empty = ~p.occupied();
    if (p.strong_to_move()) {
        visit_from(kKingMoves[p.weak_king] & empty, [](Position& q, std::uint8_t from) { q.weak_king = from; });
        return;
    }
    visit_from(kKingMoves[p.strong_king] & empty, [](Position& q, std::uint8_t from) { q.strong_king = from; });
    for (int i = 0; i < 2; ++i) {
        Squares from = attacks(p, i) & empty;
        if (p.kinds[i] == kPawn) {
            const auto back = [&](Squares s) { return (p.strong == 0 ? s >> 8 : s << 8) & empty & ~kBackRanks; };
            const Squares home = p.strong == 0 ? 0xff00ULL : 0xff000000000000ULL;
            const Squares one = back(bit(p.squares[i]));
            from = one | (back(one) & home);
        }
        visit_from(from, [i](Position& q, std::uint8_t square) { q.squares[i] = square; });
    }
}

inline std::string square_name(int square) {
    return {static_cast<char>('a' + square % 8), static_cast<char>('1' + square / 8)};
}

// A legal move in standard algebraic notation.
inline std::string san(const Position& p, Move move) {
    const int from = move.from(), to = move.to();
    std::string text;
    if (!p.strong_to_move() || from == p.strong_king) {
        text = p.pieces() & bit(to) ? "Kx" : "K";
    } else {
        const int mover = p.squares[0] == from ? 0 : 1, other = 1 - mover;
        if (p.kinds[mover] != kPawn) {
            text = kLetters[p.kinds[mover]];
            if (p.kinds[mover] == p.kinds[other] && attacks(p, other) & bit(to)) {
                const bool same_file = p.squares[other] % 8 == from % 8;
                text += square_name(from)[same_file ? 1 : 0];
            }
        }
    }
    text += square_name(to);
    if (move.promotion()) text += std::string("=") + kLetters[move.promotion()];
    const Position next = after(p, move);
    if (in_check(next)) text += legal_moves(next).count ? "+" : "#";
    return text;
}

// A position with its counters: what a FEN says.
struct Setup {
    Position position;
    int halfmove_clock = 0;  // plies since the last capture or move of a pawn
    int fullmove_number = 1;
};

inline constexpr int kMaxCounter = 1'000'000;

namespace fen_parts {

struct Man {
    int square;
    int player;
    char letter;  // upper case
};

[[noreturn]] inline void refuse(const std::string& reason) {
    throw std::invalid_argument("not a usable FEN: " + reason);
}

inline std::vector<std::string_view> split(std::string_view text, std::string_view separators, bool keep_empty) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = text.find_first_of(separators);
        const auto part = text.substr(0, end);
        if (keep_empty || !part.empty()) parts.push_back(part);
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

inline std::vector<Man> read_board(std::string_view board) {
    const auto rows = split(board, "/", true);
    if (rows.size() != 8) refuse("the board must have 8 rows joined by '/'");
    std::vector<Man> men;
    for (int row = 0; row < 8; ++row) {
        int file = 0;
        bool after_digit = false;
        for (const char c : rows[row]) {
            const bool digit = c >= '1' && c <= '8';
            if (digit && after_digit) refuse("a row of the board has two numbers side by side");
            after_digit = digit;
            if (digit) {
                file += c - '0';
            } else if (std::string_view("KQRBNPkqrbnp").find(c) != std::string_view::npos) {
                const bool black = c >= 'a';
                men.push_back({(7 - row) * 8 + file++, black ? 1 : 0, black ? static_cast<char>(c - 'a' + 'A') : c});
            } else {
                refuse("the board is written with 1 to 8, KQRBNP and kqrbnp only");
            }
            if (file > 8) break;
        }
        if (file != 8) refuse("every row of the board must have 8 squares");
    }
    return men;
}

inline Position make_position(const std::vector<Man>& men, int to_move) {
    Position p;
    std::array<int, 2> kings{kNoSquare, kNoSquare}, pieces{};
    for (const Man& man : men) {
        if (man.letter == 'K') {
            if (kings[man.player] != kNoSquare) refuse("each side must have one king");
            kings[man.player] = man.square;
        } else {
            if (pieces[1 - man.player]) refuse("one side must have nothing but its king");
            if (pieces[man.player] == 2) refuse("a side may have at most two pieces besides its king");
            const int i = pieces[man.player]++;
            p.kinds[i] = Kind(kLetters.find(man.letter));
            p.squares[i] = static_cast<std::uint8_t>(man.square);
            p.strong = static_cast<std::uint8_t>(man.player);
        }
    }
    if (kings[0] == kNoSquare || kings[1] == kNoSquare) refuse("each side must have one king");
    p.strong_king = static_cast<std::uint8_t>(kings[p.strong]);
    p.weak_king = static_cast<std::uint8_t>(kings[1 - p.strong]);
    p.to_move = static_cast<std::uint8_t>(to_move);
    sort_pieces(p);
    if (const char* reason = fault(p)) refuse(reason);
    return p;
}

inline int read_counter(std::string_view text, const char* name) {
    int value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') refuse(std::string(name) + " must be a whole number");
        value = value * 10 + (c - '0');
        if (value > kMaxCounter) refuse(std::string(name) + " must be at most 1000000");
    }
    return value;
}

}  // namespace fen_parts

// Reads a FEN: board, side to move, castling, en passant and, if they are there, the two counters.
inline Setup parse_fen(std::string_view text) {
    using namespace fen_parts;
    const auto fields = split(text, " \t\r\n", false);
    if (fields.size() < 4 || fields.size() > 6) {
        refuse("expected 4 to 6 fields, such as '8/8/8/4k3/8/8/8/R3K3 w - - 0 1'");
    }
    if (fields[1] != "w" && fields[1] != "b") refuse("the side to move must be 'w' or 'b'");
    if (fields[2] != "-") refuse("nobody can castle in these endgames, so the third field must be '-'");
    if (fields[3] != "-") refuse("nothing can be taken en passant in these endgames, so the fourth field must be '-'");
    Setup setup;
    setup.position = make_position(read_board(fields[0]), fields[1] == "b");
    if (fields.size() > 4) setup.halfmove_clock = read_counter(fields[4], "the halfmove clock");
    if (fields.size() > 5) setup.fullmove_number = std::max(1, read_counter(fields[5], "the fullmove number"));
    return setup;
}

// The men as letters on 64 squares, upper case for White and '.' for empty squares.
inline std::string letters(const Position& p) {
    const auto letter = [](char upper, int player) {
        return player == 0 ? upper : static_cast<char>(upper - 'A' + 'a');
    };
    std::string board(64, '.');
    board[p.strong_king] = letter('K', p.strong);
    board[p.weak_king] = letter('K', 1 - p.strong);
    for (int i = 0; i < 2; ++i) {
        if (p.kinds[i] != kNoPiece) board[p.squares[i]] = letter(kLetters[p.kinds[i]], p.strong);
    }
    return board;
}

inline std::string to_fen(const Setup& setup) {
    const std::string board = letters(setup.position);
    std::string text;
    for (int rank = 7; rank >= 0; --rank) {
        int empty = 0;
        for (int file = 0; file < 8; ++file) {
            const char letter = board[rank * 8 + file];
            if (letter == '.') {
                ++empty;
                continue;
            }
            if (empty) text += std::to_string(empty);
            empty = 0;
            text += letter;
        }
        if (empty) text += std::to_string(empty);
        if (rank) text += '/';
    }
    return text + (setup.position.to_move == 0 ? " w" : " b") + " - - " + std::to_string(setup.halfmove_clock) + ' ' +
           std::to_string(setup.fullmove_number);
}

// A legal position in which the game goes on, White having the given pieces (letters of QRBNP): the side to move by a
// fair coin, then every placement of that side equally likely. Two bishops stand on different colours.
inline Position random_position(std::string_view pieces, Rng& rng) {
    Position p;
    if (pieces.empty() || pieces.size() > 2) throw std::invalid_argument("a side may have one or two pieces");
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const auto kind = kLetters.find(pieces[i], 1);
        if (kind == std::string_view::npos) throw std::invalid_argument("a piece must be one of Q, R, B, N and P");
        p.kinds[i] = Kind(kind);
    }
    if (pieces == "B" || pieces == "N") throw std::invalid_argument("with this material every position is drawn");
    p.to_move = static_cast<std::uint8_t>(rng.below(2));
    while (true) {
        Position placed = p;
        const auto square = [&] { return static_cast<std::uint8_t>(rng.below(64)); };
        placed.strong_king = square();
        placed.weak_king = square();
        for (std::size_t i = 0; i < pieces.size(); ++i) placed.squares[i] = square();
        sort_pieces(placed);
        if (!fault(placed) && !insufficient_material(placed) && legal_moves(placed).count > 0) return placed;
    }
}

class Rules {
public:
    // `repetition`: the game is drawn when a position occurs for that time; 0: never.
    // `fifty_move_rule`: it is drawn after a hundred plies without capture or move of a pawn.
    Rules(std::string_view start_fen, int repetition, bool fifty_move_rule)
        : start_(parse_fen(start_fen)), repetition_(repetition), fifty_move_rule_(fifty_move_rule) {
        if (repetition != 0 && (repetition < 2 || repetition > 100)) {
            throw std::invalid_argument("repetition must be 0 (never a draw) or from 2 to 100");
        }
    }

    int players() const { return 2; }
    Action num_actions() const { return kNumActions; }
    Shape observation_shape() const { return {13, 8, 8}; }

    const Setup& start() const { return start_; }
    int repetition() const { return repetition_; }
    bool fifty_move_rule() const { return fifty_move_rule_; }

private:
    Setup start_;
    int repetition_;
    bool fifty_move_rule_;
};

enum class Ending : std::uint8_t { kNone, kCheckmate, kInsufficientMaterial, kStalemate, kRepetition, kFiftyMoves };

class State {
public:
    using Rules = endgames::Rules;

    explicit State(const Rules& rules) : State(rules, rules.start()) {}

    State(const Rules& rules, const Setup& setup) : rules_(&rules), setup_(setup) { arrive(); }

    const Rules& rules() const { return *rules_; }
    const Setup& setup() const { return setup_; }
    const Position& position() const { return setup_.position; }
    Ending ending() const { return ending_; }

    int player() const { return ending_ == Ending::kNone ? position().to_move : kTerminal; }

    void legal_actions(ActionList& actions) const {
        for_each_legal([&](Action action) { actions.push_back(action); });
    }

    std::uint64_t count_legal() const { return ending_ == Ending::kNone ? moves_.count : 0; }

    bool is_legal(Action action) const {
        return ending_ == Ending::kNone && endgames::is_legal(position(), moves_, action);
    }

    Action random_action(Rng& rng) const { return action_of(random_move(rng)); }

    void apply(Action action) { play(move_of(action)); }

    void apply_random(Rng& rng) { play(random_move(rng)); }

    Returns returns() const {
        if (ending_ != Ending::kCheckmate) return {0.0, 0.0};
        return position().to_move == 1 ? Returns{1.0, -1.0} : Returns{-1.0, 1.0};
    }

    std::string key() const {
        std::string bytes(sizeof(Position), '\0');
        std::memcpy(bytes.data(), &setup_.position, sizeof(Position));
        return bytes;
    }

    void forget_history() {
        setup_.halfmove_clock = 0;
        history_.clear();
        arrive();
    }

    // Planes 0 to 5: White's K, Q, R, B, N, P; 6 to 11: Black's; 12: ones if Black is to move. Rank 8 is row 0.
    template <class Plane>
    void observe(Plane* planes) const {
        std::fill_n(planes, 12 * 64, Plane(0));
        show_men(Plane(1), planes);
    }

    // Four men and their moves are little beside the planes and the mask: the rest of that memory is not touched.
    template <class Plane>
    void apply_shown(Action action, Plane* planes, bool* mask) {
        show_men(Plane(0), planes);
        for_each_legal([&](Action legal) { mask[legal] = false; });
        apply(action);
        show_men(Plane(1), planes);
        for_each_legal([&](Action legal) { mask[legal] = true; });
    }

private:
    template <class Visit>
    void for_each_legal(Visit&& visit) const {
        if (ending_ == Ending::kNone) for_each_move(position(), moves_, [&](Move move) { visit(action_of(move)); });
    }

    // Writes `value` where a man stands, and the plane of the side to move.
    template <class Plane>
    void show_men(Plane value, Plane* planes) const {
        const Position& p = position();
        const auto put = [&](int player, int plane, int square) {
            planes[(6 * player + plane) * 64 + (square ^ 56)] = value;
        };
        put(p.strong, 0, p.strong_king);
        put(1 - p.strong, 0, p.weak_king);
        for (int i = 0; i < 2; ++i) {
            static constexpr std::array<int, 6> kPlaneOf = {0, 4, 3, 2, 1, 5};  // of each kind
            if (p.kinds[i] != kNoPiece) put(p.strong, kPlaneOf[p.kinds[i]], p.squares[i]);
        }
        std::fill_n(planes + 12 * 64, 64, static_cast<Plane>(p.to_move));
    }

    Move random_move(Rng& rng) const {
        return nth_move(position(), moves_, static_cast<int>(rng.below(static_cast<std::uint32_t>(moves_.count))));
    }

    void play(Move move) {
        if (is_irreversible(position(), move)) {
            setup_.halfmove_clock = 0;
            history_.clear();
        } else {
            ++setup_.halfmove_clock;
        }
        setup_.fullmove_number += position().to_move;
        setup_.position = after(position(), move);
        arrive();
    }

    void arrive() {
        moves_ = legal_moves(position());
        bool repeated = false;
        if (rules_->repetition()) {
            const auto code = position().code();
            history_.push_back(code);
            repeated = std::count(history_.begin(), history_.end(), code) >= rules_->repetition();
        }
        if (moves_.count == 0 && in_check(position())) {
            ending_ = Ending::kCheckmate;
        } else if (insufficient_material(position())) {
            ending_ = Ending::kInsufficientMaterial;
        } else if (moves_.count == 0) {
            ending_ = Ending::kStalemate;
        } else if (repeated) {
            ending_ = Ending::kRepetition;
        } else if (rules_->fifty_move_rule() && setup_.halfmove_clock >= 100) {
            ending_ = Ending::kFiftyMoves;
        } else {
            ending_ = Ending::kNone;
        }
    }

    const Rules* rules_;
    Setup setup_;
    Moves moves_;
    std::vector<std::uint64_t> history_;  // positions since the last irreversible move, if repetition counts
    Ending ending_ = Ending::kNone;
};

}  // namespace rookery::endgames
