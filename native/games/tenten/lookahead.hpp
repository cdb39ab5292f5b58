// Playing 1010! with an evaluation of boards: one placement, the next piece too, or a whole hand.
//
// An evaluation E offers rules(), for_each_placement(board, piece, places, f(Placement)), and for looking ahead
// survival(value): the value as a chance to stay alive, which can be averaged over pieces.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "games/tenten/value.hpp"

namespace rookery::tenten {

// The learned value with its weights.
struct TupleValue {
    const TupleFeatures* features;
    const float* weights;
    double discount;

    const Rules& rules() const { return features->rules(); }
    template <class F>
    void for_each_placement(Board board, int piece, Board places, F&& f) const {
        features->for_each_placement(weights, board, piece, places, f);
    }
    double survival(float value) const { return 1 - discount / (1 + std::exp(static_cast<double>(value))); }
};

// All placements, the best first; equal values in the order of their cells.
template <class E>
std::vector<Placement> ranked_placements(const E& evaluation, Board board, int piece) {
    std::vector<Placement> all;
    evaluation.for_each_placement(board, piece, evaluation.rules().placements(board, piece),
                                  [&](const Placement& p) { all.push_back(p); });
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
    return all;
}

template <class E>
bool best_placement(const E& evaluation, Board board, int piece, Placement& best) {
    best.value = -INFINITY;
    bool found = false;
    evaluation.for_each_placement(board, piece, evaluation.rules().placements(board, piece), [&](const Placement& p) {
        if (!found || p.value > best.value) best = p, found = true;
    });
    return found;
}

// The mean over the next piece of the chance to stay alive after its best placement.
template <class E>
double expected_survival(const E& evaluation, Board board) {
    double sum = 0;
    Placement best;
    for (std::size_t piece = 0; piece < evaluation.rules().pieces().size(); ++piece) {
        if (!best_placement(evaluation, board, static_cast<int>(piece), best)) continue;
        sum += evaluation.rules().probabilities()[piece] * evaluation.survival(best.value);
    }
    return sum;
}

// Looks at every next piece behind the `width` most promising placements, as far as their values are not more than
// `margin` below the best; their values become expected survivals and they come first, the best first. The rest keeps
// the order of the evaluation.
template <class E>
std::vector<Placement> look_ahead(const E& evaluation, Board board, int piece, int width, float margin) {
    auto all = ranked_placements(evaluation, board, piece);
    std::size_t seen = 0;
    const auto most = std::min<std::size_t>(all.size(), static_cast<std::size_t>(width));
    while (seen < most && all[seen].value >= all[0].value - margin) ++seen;
    for (std::size_t i = 0; i < seen; ++i) all[i].value = static_cast<float>(expected_survival(evaluation, all[i].board));
    std::stable_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(seen),
                     [](const auto& a, const auto& b) { return a.value > b.value; });
    return all;
}

struct HandMove {
    int slot, cell;
};
struct HandPlan {
    std::vector<HandMove> moves;  // as many as the search could place
    Board board = 0;
    float value = 0;  // of the last board
};

// The best order and placement of a hand by beam search: after each piece the `beam` best different boards go on, for
// every set of pieces placed so far. A beam of 0 keeps all.
template <class E>
HandPlan plan_hand(const E& evaluation, Board board, std::span<const std::int8_t> hand, int beam) {
    struct Node {
        Board board;
        float value;
        std::int32_t parent;  // in the nodes of all levels
        std::int8_t slot, placed;
        std::int16_t cell;
    };
    std::vector<Node> nodes = {{board, 0, -1, -1, 0, -1}};
    std::vector<std::int32_t> level = {0};
    int left = static_cast<int>(std::count_if(hand.begin(), hand.end(), [](auto piece) { return piece >= 0; }));
    for (; left > 0; --left) {
        std::vector<Node> next;
        for (const std::int32_t from : level) {
            const Node node = nodes[from];
            for (std::size_t slot = 0; slot < hand.size(); ++slot) {
                if (hand[slot] < 0 || node.placed >> slot & 1) continue;
                evaluation.for_each_placement(
                    node.board, hand[slot], evaluation.rules().placements(node.board, hand[slot]),
                    [&](const Placement& p) {
                        next.push_back({p.board, p.value, from, static_cast<std::int8_t>(slot),
                                        static_cast<std::int8_t>(node.placed | 1 << slot),
                                        static_cast<std::int16_t>(p.cell)});
                    });
            }
        }
        if (next.empty()) break;
        std::stable_sort(next.begin(), next.end(), [](const Node& a, const Node& b) {
            return a.placed != b.placed ? a.placed < b.placed : a.value > b.value;
        });
        level.clear();
        std::set<Board> kept;
        int placed = -1;
        for (const Node& node : next) {
            if (node.placed != placed) placed = node.placed, kept.clear();
            if (beam > 0 && static_cast<int>(kept.size()) >= beam) continue;
            if (!kept.insert(node.board).second) continue;
            level.push_back(static_cast<std::int32_t>(nodes.size()));
            nodes.push_back(node);
        }
    }
    HandPlan plan{{}, board, 0};
    if (nodes.size() == 1) return plan;
    auto best = *std::max_element(level.begin(), level.end(),
                                  [&](auto a, auto b) { return nodes[a].value < nodes[b].value; });
    plan.board = nodes[best].board;
    plan.value = nodes[best].value;
    for (; nodes[best].parent >= 0; best = nodes[best].parent) plan.moves.push_back({nodes[best].slot, nodes[best].cell});
    std::reverse(plan.moves.begin(), plan.moves.end());
    return plan;
}

// The placement to make, after a look at the next piece where `width` asks for it and the evaluation can.
template <class E>
bool decide(const E& evaluation, int width, float margin, Board board, int piece, Placement& best) {
    if constexpr (requires { evaluation.survival(0.0f); }) {
        if (width > 0) {
            const auto all = look_ahead(evaluation, board, piece, width, margin);
            if (!all.empty()) best = all[0];
            return !all.empty();
        }
    }
    return best_placement(evaluation, board, piece, best);
}

// How a player of whole games decides.
struct PlayStyle {
    int width = 0;        // placements behind which the next piece is looked at; 0: none
    float margin = 0;     // and how far below the best they may lie
    int narrow = 8;       // beam for hands
    int wide = 200;       // beam where the narrow one leads to a value below `comfort` or to the end
    float comfort = 0;
};

struct GameRecord {
    std::int64_t rounds = 0, hands = 0, score = 0;
    bool ended = false;  // false: stopped at the limit of rounds
    int fatal = -1;      // the piece that did not fit; -1: stopped at the limit, or a hand of several pieces
};

template <class E>
GameRecord play_game(const E& evaluation, const PlayStyle& style, Rng& rng, std::int64_t max_rounds, Control& control) {
    const Rules& rules = evaluation.rules();
    GameRecord record;
    Board board = 0;
    const auto count = [&](int piece, int lines) {
        record.score += rules.pieces()[piece].size + line_score(lines);
        ++record.rounds;
    };
    std::array<std::int8_t, kMaxHand> hand;
    while (record.rounds < max_rounds && !control.stopped()) {
        if (rules.hand() == 1) {
            const int piece = rules.draw(rng);
            Placement best{};
            record.ended = !decide(evaluation, style.width, style.margin, board, piece, best);
            if (record.ended) {
                record.fatal = piece;
                break;
            }
            board = best.board;
            count(piece, best.lines);
            ++record.hands;
            continue;
        }
        for (int slot = 0; slot < rules.hand(); ++slot) hand[slot] = static_cast<std::int8_t>(rules.draw(rng));
        const std::span<const std::int8_t> pieces(hand.data(), static_cast<std::size_t>(rules.hand()));
        auto plan = plan_hand(evaluation, board, pieces, style.narrow);
        const bool whole = static_cast<int>(plan.moves.size()) == rules.hand();
        if (!whole || plan.value < style.comfort) {
            auto second = plan_hand(evaluation, board, pieces, whole ? style.wide : 0);
            if (second.moves.size() > plan.moves.size() || second.value > plan.value) plan = std::move(second);
        }
        for (const auto& move : plan.moves) {
            const Piece& piece = rules.pieces()[hand[move.slot]];
            int lines = 0;
            board = rules.clear_lines(board | piece.cells << move.cell, lines);
            count(hand[move.slot], lines);
        }
        record.ended = static_cast<int>(plan.moves.size()) < rules.hand();
        if (record.ended) break;
        ++record.hands;
    }
    return record;
}

// One stream of pieces per game, so that two players can be compared on the same pieces and the number of threads does
// not matter. `control.done` counts games.
template <class E>
std::vector<GameRecord> play_games(const E& evaluation, const PlayStyle& style, std::int64_t games, std::uint64_t seed,
                                   std::int64_t max_rounds, int threads, Control& control) {
    std::vector<GameRecord> records(games);
    parallel_blocks(games, threads, [&](std::int64_t game) {
        Rng rng(seed, static_cast<std::uint64_t>(game));
        records[game] = play_game(evaluation, style, rng, max_rounds, control);
        control.add(1);
    });
    return records;
}

}  // namespace rookery::tenten
