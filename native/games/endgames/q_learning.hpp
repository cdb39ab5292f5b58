// Q-learning for chess endgames, as in Boar (2022): one table entry per position and move, and the least-best-move backup.
//
// A learner plays the side with the pieces, the side with the lone king, or both learn against each other; an engine
// (tables, Stockfish) plays the side nobody learns. `src/rookery/games/endgames/q_learning.py` says what the settings mean.
#pragma once

#include <cmath>
#include <optional>
#include <span>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "games/endgames/retrograde.hpp"
#include "games/endgames/rules.hpp"

namespace rookery::endgames {

using endgames::bit;
using endgames::Ending;
using endgames::Moves;
using endgames::Position;
using endgames::Squares;

// What an engine says about a position.
struct Answer {
    Action best = -1;
    bool mate = false;  // is `score` a number of moves until the lone king is mated?
    int score = 0;  // else hundredths of a pawn, positive for the side with the pieces
};

class Engine {
public:
    virtual ~Engine() = default;
    virtual Answer ask(const Position& position) = 0;  // from any thread
};

// The exact tables as an engine: mates soonest, resists longest, and in a drawn position plays the drawing move after
// which the smallest share of the replies still draws. Of equal moves it always plays the first.
class PerfectEngine : public Engine {
public:
    explicit PerfectEngine(std::shared_ptr<const endgames::DistanceTable> table) : table_(std::move(table)) {}

    Answer ask(const Position& position) override {
        Answer answer;
        std::int16_t best = 0;
        double most_difficult = 0;
        for_each_move(position, legal_moves(position), [&](Move move) {
            const Position next = after(position, move);
            const std::int16_t distance = endgames::distance_before(table_->distance(next));
            const bool better = answer.best < 0 || endgames::is_better(distance, best);
            const double difficulty = distance == endgames::kDrawDistance ? losing_replies(next) : 0;
            if (!better && (distance != best || difficulty <= most_difficult)) return;
            answer.best = action_of(move);
            best = distance;
            most_difficult = difficulty;
        });
        answer.mate = best != endgames::kDrawDistance;
        answer.score = answer.mate ? (std::abs(best) + 1) / 2 : 0;
        return answer;
    }

private:
    // The share of replies that lose.
    double losing_replies(const Position& position) const {
        int lost = 0, all = 0;
        for_each_move(position, legal_moves(position), [&](Move reply) {
            const std::int16_t distance = table_->distance(after(position, reply));
            lost += distance != endgames::kDrawDistance && distance > 0;
            ++all;
        });
        return all ? static_cast<double>(lost) / all : 0;
    }

    std::shared_ptr<const endgames::DistanceTable> table_;
};

// The squares that the lone king could walk to if nothing else moved, its own included: a flood fill over squares that
// are neither attacked nor occupied.
inline int king_area(const Position& p) {
    const Squares closed =
        endgames::kKingMoves[p.strong_king] | attacks(p, 0) | attacks(p, 1) | bit(p.strong_king) | p.pieces();
    const Squares not_a = 0xfefefefefefefefeULL, not_h = 0x7f7f7f7f7f7f7f7fULL;
    Squares area = bit(p.weak_king), before = 0;
    while (area != before) {
        before = area;
        const Squares row = area | ((area << 1) & not_a) | ((area >> 1) & not_h);
        area |= (row | row << 8 | row >> 8) & ~closed;
    }
    return popcount(area);
}

inline int king_distance(const Position& p) {
    return std::max(std::abs(p.strong_king % 8 - p.weak_king % 8), std::abs(p.strong_king / 8 - p.weak_king / 8));
}

// Equation 2.4.
inline double heuristic_reward(const Position& p) {
    const double closeness = (7 + 63) - (king_distance(p) + king_area(p));
    return closeness * closeness / 10;
}

// Equation 2.3 as its prose has it: the 10 multiplies the 1 as well, so that any mate is better than none.
inline double stockfish_reward(const Answer& answer) {
    if (!answer.mate) {
        const double advantage = answer.score / 20000.0 * 10;
        return std::copysign(advantage * advantage, answer.score);
    }
    const double nearness = std::max(0, 20 - std::abs(answer.score)) / 10.0;
    const double reward = 10 * (1 + nearness * nearness);
    return std::copysign(reward * reward, answer.score);
}

struct Settings {
    double alpha, gamma, epsilon;
    double decay;  // epsilon is divided by decay to the power of the wins so far
    double win, draw;  // for the side with the pieces
    bool engine_reward;  // equation 2.3, else 2.4
    bool potential;  // shaping by a potential instead of the paper's relative rewards
    double steps_per_square;  // of the potential
    double explored;  // share of the matches, from the first, that explore
};

// Values of the moves of the positions met so far. A row has them in the order of `for_each_move`.
class QTable {
public:
    struct Row {
        std::uint64_t position = 0;  // Position::code(), 0 where the slot is free
        std::uint32_t begin = 0;
        std::uint16_t count = 0;
        bool learned = false;  // has a value been changed?
        double best = 0;
    };

    const Row* find(const Position& position) const {
        const Row& row = rows_[slot(position.code())];
        return row.position ? &row : nullptr;
    }

    // The row of a position; a new one starts with the values given by `first_value(move)`.
    template <class FirstValue>
    const Row& make(const Position& position, FirstValue&& first_value) {
        if (2 * (size_ + 1) > rows_.size()) grow();
        Row& row = rows_[slot(position.code())];
        if (!row.position) {
            row.position = position.code();
            row.begin = static_cast<std::uint32_t>(values_.size());
            for_each_move(position, legal_moves(position), [&](Move m) { values_.push_back(first_value(m)); });
            row.count = static_cast<std::uint16_t>(values_.size() - row.begin);
            update_best(row);
            ++size_;
        }
        return row;
    }

    std::span<const double> values(const Row& row) const { return {values_.data() + row.begin, row.count}; }

    // Moves one value towards a target.
    void learn(const Position& position, int move, double target, double alpha) {
        Row& row = rows_[slot(position.code())];
        double& value = values_[row.begin + move];
        value += alpha * (target - value);
        row.learned = true;
        update_best(row);
    }

    template <class Visit>
    void for_each_learned(Visit&& visit) const {
        for (const Row& row : rows_) {
            if (row.learned) visit(std::bit_cast<Position>(row.position), values(row));
        }
    }

private:
    void update_best(Row& row) {
        row.best = *std::max_element(values_.begin() + row.begin, values_.begin() + row.begin + row.count);
    }

    std::size_t slot(std::uint64_t code) const {
        const std::size_t mask = rows_.size() - 1;
        std::size_t i = (code * 0x9e3779b97f4a7c15ULL >> 20) & mask;
        while (rows_[i].position && rows_[i].position != code) i = (i + 1) & mask;
        return i;
    }

    void grow() {
        std::vector<Row> old(rows_.size() * 2);
        old.swap(rows_);
        for (const Row& row : old) {
            if (row.position) rows_[slot(row.position)] = row;
        }
    }

    std::vector<Row> rows_ = std::vector<Row>(1024);
    std::vector<double> values_;
    std::size_t size_ = 0;
};

class Learner {
public:
    Learner(const Settings& settings, bool strong, Engine* engine)
        : settings_(settings), strong_(strong), engine_(engine) {}

    const QTable& table() const { return table_; }

    void begin_match(const Position& start, bool explores) {
        explores_ = explores;
        pending_ = false;
        if (!settings_.potential) previous_ = reward(start);
    }

    // Epsilon-greedy; ties are broken at random. `moves` is the number of the move in this match, from 1.
    Action choose(const Position& p, int moves, Rng& rng) {
        learn_from_going_on();
        const Moves legal = legal_moves(p);
        const QTable::Row& row = table_.make(p, [&](Move move) { return first_value(p, move); });
        int chosen;
        if (rng.uniform() < settings_.epsilon / std::pow(settings_.decay, wins_) && explores_) {
            chosen = static_cast<int>(rng.below(static_cast<std::uint32_t>(legal.count)));
        } else {
            const auto values = table_.values(row);
            const auto ties = static_cast<std::uint32_t>(std::count(values.begin(), values.end(), row.best));
            int skip = ties > 1 ? static_cast<int>(rng.below(ties)) : 0;
            for (chosen = 0; values[chosen] != row.best || skip-- > 0;) ++chosen;
        }
        const Move move = nth_move(p, legal, chosen);
        pending_ = true;
        from_ = p;
        chosen_ = chosen;
        after_ = after(p, move);
        moves_ = moves;
        return action_of(move);
    }

    // What the table alone would play: the first of the best moves.
    Action greedy(const Position& p) const {
        const Moves legal = legal_moves(p);
        const QTable::Row* row = table_.find(p);
        if (!row) return action_of(nth_move(p, legal, 0));
        const auto values = table_.values(*row);
        const auto first = std::find(values.begin(), values.end(), row->best) - values.begin();
        return action_of(nth_move(p, legal, static_cast<int>(first)));
    }

    // The match is over, by this side's move or by the reply to it. Repetition and the fifty-move rule belong to the
    // match, not to the position: under a potential the learner looks on as if the game went on.
    void end_match(Ending ending) {
        const bool by_history = ending == Ending::kRepetition || ending == Ending::kFiftyMoves;
        if (settings_.potential && by_history) {
            learn_from_going_on();
        } else if (pending_) {
            table_.learn(from_, chosen_, outcome(ending, moves_), settings_.alpha);
        }
        pending_ = false;
        wins_ += strong_ == (ending == Ending::kCheckmate);
    }

private:
    void learn_from_going_on() {
        if (!pending_) return;
        const double future = settings_.gamma * least_best_move();
        if (settings_.potential) {
            table_.learn(from_, chosen_, future, settings_.alpha);
        } else {
            const double now = reward(after_);
            table_.learn(from_, chosen_, now - previous_ + future, settings_.alpha);
            previous_ = now;
        }
        pending_ = false;
    }

    // Equation 2.2: the worth of our best move after the opponent's best reply. A reply that ends the game counts what
    // it brings.
    double least_best_move() {
        double least = std::numeric_limits<double>::infinity();
        for_each_move(after_, legal_moves(after_), [&](Move reply) {
            const Position p = after(after_, reply);
            double value;
            if (insufficient_material(p)) {
                value = outcome(Ending::kInsufficientMaterial, moves_);
            } else if (!strong_ && legal_moves(p).count == 0) {
                value = outcome(in_check(p) ? Ending::kCheckmate : Ending::kStalemate, moves_);
            } else {
                value = best_value(p);
            }
            least = std::min(least, value);
        });
        return least;
    }

    // The paper divides a win by the number of moves it took; under a potential the discount alone asks for speed.
    // A draw is the lone king's win, and being mated late is better for it than being mated soon.
    double outcome(Ending ending, int moves) const {
        const double share = settings_.potential ? 1 : 1.0 / moves;
        if (strong_) return ending == Ending::kCheckmate ? settings_.win * share : settings_.draw;
        return ending == Ending::kCheckmate ? -settings_.win * share : -settings_.draw * share;
    }

    double reward(const Position& p) const {
        const double value = settings_.engine_reward ? stockfish_reward(engine_->ask(p)) : heuristic_reward(p);
        return strong_ ? value : -value;
    }

    double best_value(const Position& p) {
        if (settings_.potential) return table_.make(p, [&](Move move) { return first_value(p, move); }).best;
        const QTable::Row* row = table_.find(p);
        return row ? row->best : 0;
    }

    // Nothing is known of a move at first, so 0; or what the potential says about the position it leads to: a guess at
    // the discounted win from the paper's two quantities.
    double first_value(const Position& p, Move move) const {
        if (!settings_.potential) return 0;
        const Position next = after(p, move);
        const double steps = settings_.steps_per_square * (king_area(next) + king_distance(next));
        const double value = settings_.win * std::pow(settings_.gamma, steps);
        return strong_ ? value : -value;
    }

    Settings settings_;
    bool strong_;
    Engine* engine_;
    QTable table_;
    bool explores_ = true;
    int wins_ = 0;
    double previous_ = 0;  // the reward of the position after this side's last move
    bool pending_ = false;  // is there a move that has not been learned from?
    Position from_, after_;
    int chosen_ = 0, moves_ = 0;
};

struct Match {
    Ending ending = Ending::kNone;  // kNone: stopped from outside
    int moves = 0;  // of the side with the pieces
};

// One match: `choose(position, moves)` for every turn.
template <class Choose>
Match play_match(endgames::State state, const Control& control, Choose&& choose) {
    int moves = 0;
    while (state.player() != kTerminal) {
        if (control.stopped()) return {};
        const bool strong = state.position().strong_to_move();
        moves += strong;
        state.apply(choose(state.position(), std::max(moves, 1)));
    }
    return {state.ending(), moves};
}

struct Run {
    std::vector<Match> matches;
    Match validation;  // the learned tables alone, without exploration
    QTable strong, weak;
};

// One run: fresh tables, `matches` matches from one start. Whoever does not learn plays the engine's moves.
inline Run train(const endgames::State& start, const Settings& settings, bool strong_learns, bool weak_learns,
                 Engine& engine, int matches, Rng rng, Control& control) {
    Learner strong(settings, true, &engine), weak(settings, false, &engine);
    Run run;
    for (int i = 0; i < matches && !control.stopped(); ++i) {
        const bool explores = i < settings.explored * matches;
        if (strong_learns) strong.begin_match(start.position(), explores);
        if (weak_learns) weak.begin_match(start.position(), explores);
        const Match match = play_match(start, control, [&](const Position& p, int moves) {
            if (p.strong_to_move() ? strong_learns : weak_learns) {
                return (p.strong_to_move() ? strong : weak).choose(p, moves, rng);
            }
            return engine.ask(p).best;
        });
        if (match.ending == Ending::kNone) break;
        if (strong_learns) strong.end_match(match.ending);
        if (weak_learns) weak.end_match(match.ending);
        run.matches.push_back(match);
        control.add(1);
    }
    run.validation = play_match(start, control, [&](const Position& p, int) {
        if (p.strong_to_move() ? strong_learns : weak_learns) return (p.strong_to_move() ? strong : weak).greedy(p);
        return engine.ask(p).best;
    });
    run.strong = strong.table();
    run.weak = weak.table();
    return run;
}

}  // namespace rookery::endgames
