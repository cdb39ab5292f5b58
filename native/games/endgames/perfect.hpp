// Q-learning that ends in perfection: random starts from all positions, and the least-best-move backup.
//
// The learner has the pieces and is to move. From a start drawn from all positions it tries every move once and sets
//     Q(start, move) = 1 if the move mates, 0 if it draws, else
//                      discount * min over replies of (max over moves of Q after the reply; 0 if it took a piece).
// That is the usual update with a learning rate of 1 and a reward for mate alone. Begun at 0 the table only grows, and
// what it grows to is discount^(moves to mate - 1).
//
// Starts come in rounds. Within a round every backup reads the values as they were when it began, so that it does not
// matter in which order, or on how many threads, the starts are done.
#pragma once

#include <atomic>
#include <vector>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "games/endgames/retrograde.hpp"

namespace rookery::endgames {

// The value of every position of one endgame with the strong side to move, by its number. That and the rules give the
// value of every move of both sides.
class PositionValues {
public:
    // Captures must leave a draw: all single pieces do, and so do two minor pieces.
    PositionValues(Kinds kinds, float discount) : index_(kinds), discount_(discount) {
        if (kinds[0] == kPawn || kinds[1] == kPawn || (kinds[1] != kNoPiece && kinds[0] > kBishop)) {
            throw std::invalid_argument("the learner knows one piece or two minor pieces, without pawns");
        }
        if (!(discount > 0 && discount < 1)) throw std::invalid_argument("the discount must be between 0 and 1");
    }

    PositionValues(Kinds kinds, float discount, std::vector<float> best) : PositionValues(kinds, discount) {
        if (best.size() != index_.size()) throw std::invalid_argument("the table of values has another size");
        best_ = std::move(best);
    }

    const std::vector<float>& best() const { return best_; }
    bool covers(const Position& p) const { return index_.covers(p); }

    // Calls visit(action, value) for every legal action of a position, valued for the side to move.
    template <class Visit>
    void values(const Position& p, Visit&& visit) const {
        for_each_move(p, legal_moves(p), [&](Move move) {
            const Position next = after(p, move);
            if (p.strong_to_move()) {
                visit(action_of(move), least_best_move(next, best_));
            } else {
                visit(action_of(move), index_.covers(next) ? -best_[index_.of(next)] : 0.0f);
            }
        });
    }

protected:
    float least_best_move(Position next, const std::vector<float>& best) const {
        Squares replies = legal_moves(next).targets[0];
        if (!replies) return in_check(next) ? 1.0f : 0.0f;
        if (replies & next.pieces()) return 0.0f;
        float least = 1.0f;
        next.to_move ^= 1;
        for (; replies; replies &= replies - 1) {
            next.weak_king = static_cast<std::uint8_t>(lowest_bit(replies));
            least = std::min(least, best[index_.of(next)]);
        }
        return discount_ * least;
    }

    EndgameIndex index_;
    float discount_;
    std::vector<float> best_;  // [number]: the value of the best move
};

class PerfectLearner : public PositionValues {
public:
    PerfectLearner(Kinds kinds, float discount) : PositionValues(kinds, discount) {
        for (std::size_t number = 0; number < index_.size(); ++number) {
            const auto p = index_.legal(number, 0);
            const int moves = p ? legal_moves(*p).count : 0;
            if (moves == 0) continue;
            starts_.push_back({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(pairs_)});
            pairs_ += moves;
        }
        starts_.push_back({0, static_cast<std::uint32_t>(pairs_)});
        q_.resize(pairs_);
        best_.resize(index_.size());
    }

    std::size_t positions() const { return starts_.size() - 1; }
    const std::vector<float>& q() const { return q_; }
    std::uint32_t rounds() const { return rounds_; }  // done so far

    // Makes this learner go on where another was.
    void restore(std::vector<float> q, std::vector<float> best, std::uint32_t rounds) {
        if (q.size() != q_.size() || best.size() != best_.size()) {
            throw std::invalid_argument("the table of values has another size");
        }
        q_ = std::move(q);
        best_ = std::move(best);
        rounds_ = rounds;
    }

    // One round. What is drawn depends on the seed and on how many rounds were done. `control.done` counts starts. A
    // round that is stopped does not count and leaves `best` as it was: doing it again is the same as doing it once.
    void round(std::int64_t starts, std::uint64_t seed, int threads, Control& control) {
        std::vector<float> before = best_;
        constexpr std::int64_t kBlock = 1 << 10;
        const std::int64_t blocks = (starts + kBlock - 1) / kBlock;
        parallel_blocks(blocks, threads, [&](std::int64_t block) {
            if (control.stopped()) return;
            Rng rng(seed, static_cast<std::uint64_t>(rounds_) << 32 | static_cast<std::uint64_t>(block));
            const std::int64_t draws = std::min(kBlock, starts - block * kBlock);
            for (std::int64_t i = 0; i < draws; ++i) {
                try_every_move(starts_[rng.below(static_cast<std::uint32_t>(positions()))], before);
            }
            control.add(draws);
        });
        if (control.stopped()) {
            best_ = std::move(before);
        } else {
            ++rounds_;
        }
    }

    struct Verdict {
        std::int64_t won = 0;      // positions that the strong side wins, every placement on the board counted
        std::int64_t optimal = 0;  // those in which every move of greatest Q mates as fast as possible
        std::int64_t exact = 0;    // those of greatest Q equal to discount^(moves to mate - 1)
        std::int64_t drawn = 0;
        std::int64_t drawn_exact = 0;  // those in which no Q is above 0
    };

    // Compares what was learned with the truth.
    Verdict judge(const DistanceTable& table, int threads) const {
        if (table.index.kinds() != index_.kinds()) throw std::invalid_argument("the table is of another endgame");
        std::array<float, 256> exact_value{};  // by plies; the same multiplications as the backups make
        for (int plies = 1; plies < kDrawn; plies += 2) {
            exact_value[plies] = plies == 1 ? 1.0f : discount_ * exact_value[plies - 2];
        }
        constexpr std::size_t kBlock = 1 << 13;
        std::vector<Verdict> verdicts((positions() + kBlock - 1) / kBlock);
        parallel_blocks(static_cast<std::int64_t>(verdicts.size()), threads, [&](std::int64_t block) {
            Verdict& verdict = verdicts[block];
            const std::size_t begin = static_cast<std::size_t>(block) * kBlock;
            for (std::size_t i = begin; i < std::min(positions(), begin + kBlock); ++i) {
                const std::size_t number = starts_[i].number;
                const Position p = index_.at(number, 0);
                const int images = index_.images(p);
                const std::uint8_t plies = table.plies[0][number];
                if (plies == kDrawn) {
                    verdict.drawn += images;
                    verdict.drawn_exact += best_[number] == 0 ? images : 0;
                    continue;
                }
                verdict.won += images;
                verdict.exact += best_[number] == exact_value[plies] ? images : 0;
                verdict.optimal += plays_optimally(i, p, plies, table) ? images : 0;
            }
        });
        Verdict sum;
        for (const Verdict& v : verdicts) {
            sum.won += v.won, sum.optimal += v.optimal, sum.exact += v.exact;
            sum.drawn += v.drawn, sum.drawn_exact += v.drawn_exact;
        }
        return sum;
    }

private:
    struct Start {
        std::uint32_t number;
        std::uint32_t first;  // place in q_ of its first move; the moves are in the order of for_each_move
    };

    // Two threads may draw the same start; they write the same values.
    void try_every_move(const Start& start, const std::vector<float>& best) {
        const Position p = index_.at(start.number, 0);
        float greatest = 0;
        std::uint32_t pair = start.first;
        for_each_move(p, legal_moves(p), [&](Move move) {
            const float value = least_best_move(after(p, move), best);
            std::atomic_ref(q_[pair++]).store(value, std::memory_order_relaxed);
            greatest = std::max(greatest, value);
        });
        std::atomic_ref(best_[start.number]).store(greatest, std::memory_order_relaxed);
    }

    bool plays_optimally(std::size_t i, const Position& p, int plies, const DistanceTable& table) const {
        const Moves moves = legal_moves(p);
        for (std::uint32_t pair = starts_[i].first; pair < starts_[i + 1].first; ++pair) {
            if (q_[pair] != best_[starts_[i].number]) continue;
            const Move move = nth_move(p, moves, static_cast<int>(pair - starts_[i].first));
            if (table.look_up(after(p, move)) != plies - 1) return false;
        }
        return true;
    }

    std::size_t pairs_ = 0;
    std::uint32_t rounds_ = 0;
    std::vector<Start> starts_;  // every legal position with a move; one more at the end
    std::vector<float> q_;       // [pair of position and move]; `best_` has the greatest of each position
};

}  // namespace rookery::endgames
