// Makes Solitaire Chess puzzles. Those in which only one piece can be the last one, on one square, are found among random
// boards: few qualify, but to see that a board does not takes microseconds. Where any solvable board will do, it is made
// by playing backwards from the last piece, which works for any number of pieces.
#pragma once

#include <optional>
#include <span>

#include "core/parallel.hpp"
#include "games/solitaire_chess/capture_search.hpp"
#include "games/solitaire_chess/capture_tree.hpp"

namespace rookery::solitaire_chess {

// Which piece can be the last one, and in how many ways. Much quicker than the whole tree where there are several such
// pieces, which is the rule: then it stops.
struct Outcome {
    static constexpr int kNoFinal = 0, kManyFinals = -1;

    int final = kNoFinal;  // 1 + kind * cells + cell if there is just one
    std::uint32_t solutions = 0;  // sequences of captures; of no meaning if there are many finals
};

class OnlyFinal {
public:
    Outcome find(const State& state) {
        if (const auto known = seen_.find(state.board()); known != seen_.end()) return known->second;
        Outcome outcome;
        if (state.pieces() == 1) {
            const int cell = lowest_bit(state.occupied());
            outcome = {1 + kind_of(state.board()[cell]) * state.rules().cells() + cell, 1};
        }
        for (Bitboard movers = state.occupied(); movers && outcome.final != Outcome::kManyFinals;
             movers &= movers - 1) {
            const int from = lowest_bit(movers);
            for (Bitboard to = state.targets(from); to && outcome.final != Outcome::kManyFinals; to &= to - 1) {
                State next = state;
                next.apply(from * state.rules().cells() + lowest_bit(to));
                const Outcome below = find(next);
                if (below.final == Outcome::kNoFinal) continue;
                const bool same = outcome.final == Outcome::kNoFinal || outcome.final == below.final;
                outcome = {same ? below.final : Outcome::kManyFinals, outcome.solutions + below.solutions};
            }
        }
        return seen_[state.board()] = outcome;
    }

private:
    std::unordered_map<Board, Outcome, BoardHash> seen_;
};

// The first `count` of the pool become a random draw from it without replacement, those before `fixed` being given.
inline void shuffle_first(std::vector<int>& pool, int fixed, int count, Rng& rng) {
    for (int i = fixed; i < count; ++i) {
        std::swap(pool[i], pool[i + rng.below(static_cast<std::uint32_t>(pool.size() - i))]);
    }
}

// The pieces, kinds of them, on random cells.
inline State scatter(const Rules& rules, std::span<const int> pieces, Rng& rng) {
    Board board{};
    for (const int kind : pieces) {
        int cell;
        do cell = static_cast<int>(rng.below(rules.cells()));
        while (board[cell] != 0);
        board[cell] = make_piece(kind, 0);
    }
    return State(rules, board);
}

// A board of `least` to `most` pieces, each number equally likely, drawn from `pool` (kinds, repeated as often as they are
// in the box) on random cells. If it must be solvable, boards are drawn until one is; null if none of `draws` is.
inline std::optional<State> random_board(const Rules& rules, std::vector<int> pool, int least, int most, bool solvable,
                                         std::int64_t draws, Rng& rng) {
    for (const int kind : pool) {
        if (kind < 0 || kind >= kKinds) throw std::invalid_argument("kinds of pieces are 0 to 5");
    }
    if (least < 1 || least > most || most > rules.cells() || most > static_cast<int>(pool.size())) {
        throw std::invalid_argument(
            "a board has at least one piece, and no more than there are cells or pieces to draw");
    }
    Control control;
    for (; draws > 0; --draws) {
        const int count = least + static_cast<int>(rng.below(most - least + 1));
        shuffle_first(pool, 0, count, rng);
        const State state = scatter(rules, std::span(pool).first(count), rng);
        if (!solvable || (!plainly_dead(state) && FirstSolution(control).find(state))) return state;
    }
    return std::nullopt;
}

// What to make: the number of pieces, drawn from `pool` (kinds, repeated as often as they are in the box).
struct PuzzleWish {
    int pieces;
    std::vector<int> pool;
    bool with_king, without_king;  // at most one of the two; neither leaves it to chance
    std::uint32_t max_solutions;  // at most, with one possible last piece and square; 0: any puzzle
};

class PuzzleMaker {
public:
    PuzzleMaker(const Rules& rules, PuzzleWish wish) : rules_(rules), wish_(std::move(wish)) {
        const auto kings = std::count(wish_.pool.begin(), wish_.pool.end(), int(kKing));
        const int usable = static_cast<int>(wish_.pool.size() - (wish_.without_king ? kings : 0));
        for (const int kind : wish_.pool) {
            if (kind < 0 || kind >= kKinds) throw std::invalid_argument("kinds of pieces are 0 to 5");
        }
        if (wish_.pieces < 2 || wish_.pieces > usable || wish_.pieces >= rules.cells()) {
            throw std::invalid_argument(
                "a puzzle has at least 2 pieces, and no more than there are to draw from or "
                "than leave a cell free");
        }
        if (kings > 1 || (wish_.with_king && (wish_.without_king || kings == 0))) {
            throw std::invalid_argument("a puzzle has one king at most, and must have one to draw");
        }
    }

    // An exception if `control` stopped it or if such a puzzle seems not to exist.
    State make(Rng& rng, const Control& control) const {
        for (std::int64_t attempt = 0; attempt < kMaxAttempts; ++attempt) {
            if (control.stopped()) throw std::runtime_error("stopped before all puzzles were made");
            const std::vector<int> pieces = draw_pieces(rng);
            if (wish_.max_solutions == 0) {
                if (const auto state = play_backwards(rng, pieces)) return *state;
                continue;
            }
            const State state = scatter(rules_, pieces, rng);
            const Outcome outcome = OnlyFinal().find(state);
            if (outcome.final > 0 && outcome.solutions <= wish_.max_solutions) return state;
        }
        throw std::runtime_error("no such puzzle was found in " + std::to_string(kMaxAttempts) + " attempts");
    }

private:
    static constexpr std::int64_t kMaxAttempts = 1'000'000;

    std::vector<int> draw_pieces(Rng& rng) const {
        std::vector<int> pool = wish_.pool;
        if (wish_.without_king) std::erase(pool, int(kKing));
        int fixed = 0;
        if (wish_.with_king) std::swap(pool[fixed++], *std::find(pool.begin(), pool.end(), int(kKing)));
        shuffle_first(pool, fixed, wish_.pieces, rng);
        pool.resize(wish_.pieces);
        // A king that is never captured is the last piece, the one that going backwards begins with.
        const auto king = std::find(pool.begin(), pool.end(), int(kKing));
        if (rules_.king_last() && king != pool.end()) std::swap(pool[0], *king);
        return pool;
    }

    std::optional<State> play_backwards(Rng& rng, const std::vector<int>& pieces) const {
        const int cells = rules_.cells();
        std::vector<int> kinds(cells, kNoPiece), moved(cells, 0);
        kinds[rng.below(cells)] = pieces[0];
        for (int n = 1; n < wish_.pieces; ++n) {
            Bitboard occupied = 0;
            for (int cell = 0; cell < cells; ++cell) occupied |= Bitboard(kinds[cell] != kNoPiece) << cell;
            std::vector<std::pair<int, int>> ways;  // from, to
            for (int to = 0; to < cells; ++to) {
                if (kinds[to] == kNoPiece || (rules_.max_captures() > 0 && moved[to] == rules_.max_captures()))
                    continue;
                for (int from = 0; from < cells; ++from) {
                    const Bitboard origin = Bitboard(1) << from;
                    if (occupied & origin) continue;
                    if (rules_.attacks(kinds[to], from, occupied | origin) >> to & 1) ways.emplace_back(from, to);
                }
            }
            if (ways.empty()) return std::nullopt;
            const auto [from, to] = ways[rng.below(static_cast<std::uint32_t>(ways.size()))];
            kinds[from] = kinds[to];
            moved[from] = moved[to] + 1;
            kinds[to] = pieces[n];
            moved[to] = 0;
        }
        return State(rules_, kinds, std::vector<int>(cells, 0));
    }

    const Rules& rules_;
    PuzzleWish wish_;
};

// Each puzzle is drawn from a stream of its own. `control.done` counts them.
inline std::vector<Board> make_puzzles(const PuzzleMaker& maker, std::int64_t count, std::uint64_t seed, int threads,
                                       Control& control) {
    std::vector<Board> boards(count);
    parallel_blocks(count, threads, [&](std::int64_t i) {
        Rng rng(seed, i);
        boards[i] = maker.make(rng, control).board();
        control.add(1);
    });
    return boards;
}

}  // namespace rookery::solitaire_chess
