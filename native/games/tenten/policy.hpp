// Policies of 1010! given by tables of values over raw boards: evaluated exactly, and played in bulk.
//
// A policy places a piece where the table is greatest; among values within `tolerance` of the greatest, relative to it,
// it takes the first in the order of cells. Given several tables it follows one of them, drawn anew for every piece.
#pragma once

#include <cmath>
#include <span>

#include "core/rng.hpp"
#include "games/tenten/value_iteration.hpp"

namespace rookery::tenten {

template <class T>
struct TablePolicy {
    std::vector<const T*> tables;
    double tolerance = 0;

    // The raw board after the piece, or the board itself where it does not fit.
    SmallBoard successor(const SmallRules::Piece& piece, SmallBoard board, const T* table) const {
        const SmallBoard fits = SmallRules::placements(piece, board);
        if (!fits) return board;
        T greatest = std::numeric_limits<T>::lowest();
        for (SmallBoard rest = fits; rest; rest &= rest - 1) {
            greatest = std::max(greatest, table[board | piece.masks[std::countr_zero(rest)]]);
        }
        const T enough = greatest - static_cast<T>(tolerance) * std::abs(greatest);
        for (SmallBoard rest = fits;; rest &= rest - 1) {
            const SmallBoard next = board | piece.masks[std::countr_zero(rest)];
            if (table[next] >= enough) return next;
        }
    }
};

// Where the policy leads: for every board, piece and table the raw board after it, or the board itself where the piece
// does not fit; [boards, pieces, tables]. Boards with full lines keep 0.
template <class T>
std::vector<SmallBoard> successors(const Rules& game, const TablePolicy<T>& policy, Control& control) {
    const SmallRules rules(game);
    std::vector<SmallBoard> found(rules.boards() * rules.pieces().size() * policy.tables.size());
    auto out = found.begin();
    for (std::uint64_t board = 0; board < rules.boards() && !control.stopped(); ++board) {
        for (const auto& piece : rules.pieces()) {
            for (const T* table : policy.tables) {
                const auto small = static_cast<SmallBoard>(board);
                *out++ = rules.has_line(small) ? 0 : policy.successor(piece, small, table);
            }
        }
    }
    return found;
}

// One sweep of policy evaluation in place, as `sweep`: the best placement replaced by the policy's.
inline Change evaluation_sweep(const Rules& game, std::span<const SmallBoard> successors, double* values,
                               const Rewards& rewards, double scale, int threads, Control& control) {
    const SmallRules rules(game);
    const std::size_t step = successors.size() / rules.boards(), tables = step / rules.pieces().size();
    const double share = 1.0 / (rules.total_weight() * static_cast<double>(tables));
    return descend(rules, threads, control, [&](std::uint64_t first, std::uint64_t end) {
        Change change;
        for (std::uint64_t next = end; next > first; --next) {
            const auto board = static_cast<SmallBoard>(next - 1);
            if (rules.has_line(board)) {
                int lines = 0;
                const SmallBoard cleared = rules.clear(board, lines);
                const double value = scale * rewards.lines[lines] + values[cleared];
                change.add(value - values[board]);
                values[board] = value;
                continue;
            }
            double sum = 0;
            const SmallBoard* after = &successors[board * step];
            for (const auto& piece : rules.pieces()) {
                for (std::size_t table = 0; table < tables; ++table, ++after) {
                    if (*after != board) sum += piece.weight * (scale * rewards.cells * piece.size + values[*after]);
                }
            }
            values[board] = scale * rewards.constant + share * sum;
        }
        return change;
    });
}

// Whether play from the empty board can go on for ever whatever is drawn: under a policy, or, with no successors given,
// under the best. The answer is found by removing boards from which some sequence of pieces kills.
inline bool endless(const Rules& game, std::span<const SmallBoard> successors, int threads, Control& control) {
    const SmallRules rules(game);
    const std::size_t step = successors.size() / rules.boards();
    std::vector<std::uint8_t> safe(rules.boards(), 1);
    const auto survives = [&](SmallBoard board) {
        for (std::size_t i = 0; i < step; ++i) {
            const SmallBoard after = successors[board * step + i];
            if (after == board || !safe[after]) return false;
        }
        if (step) return true;
        for (const auto& piece : rules.pieces()) {
            SmallBoard fits = SmallRules::placements(piece, board);
            while (fits && !safe[board | piece.masks[std::countr_zero(fits)]]) fits &= fits - 1;
            if (!fits) return false;
        }
        return true;
    };
    for (bool changed = true; changed && safe[0] && !control.stopped();) {
        const Change change = descend(rules, threads, control, [&](std::uint64_t first, std::uint64_t end) {
            Change removed;
            for (std::uint64_t next = end; next > first; --next) {
                const auto board = static_cast<SmallBoard>(next - 1);
                if (!safe[board]) continue;
                int lines = 0;
                const SmallBoard cleared = rules.clear(board, lines);
                safe[board] = lines ? safe[cleared] : survives(board);
                if (!safe[board]) removed.add(1);
            }
            return removed;
        });
        changed = change.highest == 1;
    }
    return safe[0];
}

// Game i is played from the empty board with the random stream (seed, i) until a piece does not fit or `max_rounds`
// pieces are placed. `control.done` counts games; stopped early, the games not finished have -1 rounds.
template <class T>
void play_policy(const Rules& game, const TablePolicy<T>& policy, std::uint64_t seed, std::int64_t max_rounds,
                 int threads, std::span<std::int64_t> rounds, std::span<std::int64_t> scores, Control& control) {
    const SmallRules rules(game);
    std::fill(rounds.begin(), rounds.end(), -1);
    parallel_blocks(static_cast<std::int64_t>(rounds.size()), threads, [&](std::int64_t i) {
        Rng rng(seed, static_cast<std::uint64_t>(i));
        SmallBoard board = 0;
        std::int64_t placed = 0, score = 0;
        for (; placed < max_rounds; ++placed) {
            if ((placed & 4095) == 0 && control.stopped()) return;
            const auto& piece = rules.pieces()[game.draw(rng)];
            const std::size_t which = policy.tables.size() > 1 ? rng.below(policy.tables.size()) : 0;
            const SmallBoard after = policy.successor(piece, board, policy.tables[which]);
            if (after == board) break;
            int lines = 0;
            board = rules.clear(after, lines);
            score += piece.size + line_score(lines);
        }
        rounds[i] = placed;
        scores[i] = score;
        control.add(1);
    });
}

}  // namespace rookery::tenten
