// Numbers for the positions of one endgame, dense enough to use as places in an array.
//
// Positions that are alike get one number: the strong side is made White, and the board is turned and mirrored so that
// the lone king stands in the triangle a1-d1-d4 (8 symmetries; with a pawn only left and right can be exchanged, so it
// stands on the files a to d). The side to move is not part of the number: use two arrays, or one of twice the size.
//
//     const EndgameIndex index({kRook, kNoPiece});
//     values[index.of(position)]   // any legal position of the material, either colour strong
//     index.legal(number, 0)       // the position that stands for all with this number, White strong and to move
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "games/endgames/rules.hpp"

namespace rookery::endgames {

using Kinds = std::array<Kind, 2>;

// Letters such as "R" or "BN".
inline Kinds read_kinds(std::string_view pieces) {
    Kinds kinds{kNoPiece, kNoPiece};
    if (pieces.empty() || pieces.size() > 2) throw std::invalid_argument("a side may have one or two pieces");
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const auto kind = kLetters.find(pieces[i], 1);
        if (kind == std::string_view::npos) throw std::invalid_argument("a piece must be one of Q, R, B, N and P");
        kinds[i] = Kind(kind);
    }
    if (kinds[0] < kinds[1]) std::swap(kinds[0], kinds[1]);
    return kinds;
}

// The same position with White as the strong side.
inline Position white_strong(Position p) {
    if (p.strong == 0) return p;
    p.strong = 0;
    p.to_move ^= 1;
    p.strong_king ^= 56;
    p.weak_king ^= 56;
    for (auto& square : p.squares) {
        if (square != kNoSquare) square ^= 56;
    }
    sort_pieces(p);
    return p;
}

namespace folding {

// A symmetry of the board: bit 0 exchanges left and right, bit 1 then top and bottom, bit 2 then files and ranks.
inline constexpr int kTranspose = 4;

inline constexpr std::array<std::array<std::uint8_t, 64>, 8> kMoved = [] {
    std::array<std::array<std::uint8_t, 64>, 8> table{};
    for (int symmetry = 0; symmetry < 8; ++symmetry) {
        for (int square = 0; square < 64; ++square) {
            const int s = square ^ (symmetry & 1 ? 7 : 0) ^ (symmetry & 2 ? 56 : 0);
            table[symmetry][square] = static_cast<std::uint8_t>(symmetry & kTranspose ? s / 8 + s % 8 * 8 : s);
        }
    }
    return table;
}();

inline constexpr int moved(int symmetry, int square) { return kMoved[symmetry][square]; }

struct Fold {
    std::int16_t pair = -1;      // number of the two kings' placement after folding; -1 if they touch
    std::uint8_t symmetry = 0;   // that brings them there
    bool on_diagonal = false;    // transposing leaves both kings where they are
};

struct Folding {
    std::array<std::array<Fold, 64>, 64> folds{};  // [strong king][weak king]
    std::array<std::array<std::uint8_t, 2>, 1806> kings{};  // strong, weak king of every pair
    int pairs = 0;
};

inline Folding make_folding(bool pawns) {
    Folding folding;
    const auto fold = [pawns](int strong_king, int weak_king) {
        Fold f;
        f.symmetry = weak_king % 8 > 3;
        if (pawns) return f;
        f.symmetry |= weak_king / 8 > 3 ? 2 : 0;
        const auto above_diagonal = [&](int square) {
            const int s = moved(f.symmetry, square);
            return s / 8 - s % 8;
        };
        const int weak = above_diagonal(weak_king), strong = above_diagonal(strong_king);
        if (weak > 0 || (weak == 0 && strong > 0)) f.symmetry |= kTranspose;
        f.on_diagonal = weak == 0 && strong == 0;
        return f;
    };
    std::array<std::array<int, 64>, 64> pair_of{};
    for (int pass = 0; pass < 2; ++pass) {  // first the pairs that stay where they are get numbers, then the others
        for (int strong = 0; strong < 64; ++strong) {
            for (int weak = 0; weak < 64; ++weak) {
                if (strong == weak || kKingMoves[strong] & bit(weak)) continue;
                Fold f = fold(strong, weak);
                if (pass == 0 && f.symmetry == 0) {
                    folding.kings[folding.pairs] = {static_cast<std::uint8_t>(strong), static_cast<std::uint8_t>(weak)};
                    pair_of[strong][weak] = folding.pairs++;
                } else if (pass == 1) {
                    f.pair = static_cast<std::int16_t>(pair_of[moved(f.symmetry, strong)][moved(f.symmetry, weak)]);
                    folding.folds[strong][weak] = f;
                }
            }
        }
    }
    return folding;
}

inline const Folding& folding(bool pawns) {
    static const Folding with = make_folding(true), without = make_folding(false);
    return pawns ? with : without;
}

// Two bishops of different colours: 32 squares each.
inline constexpr int light_square(int i) { return 2 * i + (i / 4 % 2 == 0); }
inline constexpr int dark_square(int i) { return 2 * i + (i / 4 % 2 == 1); }

}  // namespace folding

class EndgameIndex {
public:
    explicit EndgameIndex(Kinds kinds)
        : kinds_(kinds), folding_(&folding::folding(kinds[0] == kPawn || kinds[1] == kPawn)),
          bishops_(kinds == Kinds{kBishop, kBishop}) {
        if (kinds[0] < kinds[1] || kinds[0] == kNoPiece || kinds[0] > kPawn) {
            throw std::invalid_argument("an endgame has one or two pieces, the higher kind first");
        }
        per_pair_ = bishops_ ? 32 * 32 : places(0) * (kinds[1] == kNoPiece ? 1 : places(1));
    }

    Kinds kinds() const { return kinds_; }
    std::size_t size() const { return static_cast<std::size_t>(folding_->pairs) * per_pair_; }
    bool pawns() const { return kinds_[0] == kPawn || kinds_[1] == kPawn; }

    // Has the position these pieces? Two bishops must stand on different colours: on one they cannot mate.
    bool covers(const Position& p) const {
        return p.kinds == kinds_ && !(bishops_ && popcount(p.pieces() & kLightSquares) != 1);
    }

    // The number of a legal position that the index covers.
    std::size_t of(const Position& given) const {
        const Position p = white_strong(given);
        const auto& fold = folding_->folds[p.strong_king][p.weak_king];
        int pieces = number_pieces(p, fold.symmetry);
        if (fold.on_diagonal) pieces = std::min(pieces, number_pieces(p, fold.symmetry ^ folding::kTranspose));
        return static_cast<std::size_t>(fold.pair) * per_pair_ + pieces;
    }

    // The position of a number, White strong and the given player to move: not always a legal one, see `legal`.
    Position at(std::size_t number, int to_move) const {
        Position p;
        p.kinds = kinds_;
        p.to_move = static_cast<std::uint8_t>(to_move);
        const auto& kings = folding_->kings[number / per_pair_];
        p.strong_king = kings[0];
        p.weak_king = kings[1];
        const int pieces = static_cast<int>(number % per_pair_);
        const auto put = [&](int i, int square) { p.squares[i] = static_cast<std::uint8_t>(square); };
        if (bishops_) {
            put(0, folding::light_square(pieces / 32));
            put(1, folding::dark_square(pieces % 32));
        } else if (kinds_[1] == kNoPiece) {
            put(0, pieces + first_place(0));
        } else {
            put(0, pieces / places(1) + first_place(0));
            put(1, pieces % places(1) + first_place(1));
        }
        sort_pieces(p);
        return p;
    }

    // The position of a number if there is a legal one that has this number.
    std::optional<Position> legal(std::size_t number, int to_move) const {
        const Position p = at(number, to_move);
        if (fault(p) || of(p) != number) return std::nullopt;
        return p;
    }

    // How many positions, White strong, share the number of p.
    int images(const Position& p) const {
        if (pawns()) return 2;
        const auto& fold = folding_->folds[p.strong_king][p.weak_king];
        const bool itself = fold.on_diagonal &&
                            number_pieces(p, fold.symmetry) == number_pieces(p, fold.symmetry ^ folding::kTranspose);
        return itself ? 4 : 8;
    }

private:
    int places(int i) const { return kinds_[i] == kPawn ? 48 : 64; }
    int first_place(int i) const { return kinds_[i] == kPawn ? 8 : 0; }

    int number_pieces(const Position& p, int symmetry) const {
        const int a = folding::moved(symmetry, p.squares[0]);
        if (kinds_[1] == kNoPiece) return a - first_place(0);
        const int b = folding::moved(symmetry, p.squares[1]);
        if (bishops_) {
            // Without a branch, which would be a coin toss.
            const int light = -static_cast<int>(kLightSquares >> a & 1), other = (a ^ b) / 2 & ~light;
            return (a / 2 ^ other) * 32 + (b / 2 ^ other);
        }
        const int first = kinds_[0] == kinds_[1] ? std::min(a, b) : a;
        return (first - first_place(0)) * places(1) + (a ^ b ^ first) - first_place(1);
    }

    Kinds kinds_;
    const folding::Folding* folding_;
    bool bishops_;
    int per_pair_ = 0;
};

}  // namespace rookery::endgames
