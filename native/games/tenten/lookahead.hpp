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

// The mean over the next piece of the chance to stay alive after its best placement. With `width`, the best is chosen
// among that many by a look at the piece after it. Without, a result below `least` need not be exact, only below it.
template <class E>
double expected_survival(const E& evaluation, Board board, int width = 0, double least = 0) {
    double sum = 0, left = 1;
    Placement best;
    for (std::size_t piece = 0; piece < evaluation.rules().pieces().size(); ++piece) {
        const double chance = evaluation.rules().probabilities()[piece];
        if (width == 0) {
            left -= chance;
            if (best_placement(evaluation, board, static_cast<int>(piece), best)) {
                sum += chance * evaluation.survival(best.value);
            }
            if (sum + left < least) return sum + left;
            continue;
        }
        const auto all = ranked_placements(evaluation, board, static_cast<int>(piece));
        double most = 0;
        for (std::size_t i = 0; i < all.size() && i < static_cast<std::size_t>(width); ++i) {
            most = std::max(most, expected_survival(evaluation, all[i].board));
        }
        sum += chance * most;
    }
    return sum;
}

// How many of the ranked placements are compared by looking ahead.
inline std::size_t compared(const std::vector<Placement>& ranked, int width, float margin) {
    std::size_t count = 0;
    const auto most = std::min<std::size_t>(ranked.size(), static_cast<std::size_t>(width));
    while (count < most && ranked[count].value >= ranked[0].value - margin) ++count;
    return count;
}

// Looks at every next piece behind the `width` most promising placements, as far as their values are not more than
// `margin` below the best; their values become expected survivals and they come first, the best first. The rest keeps
// the order of the evaluation. If even the best of them survives with less than `safe`, the first four are compared by
// a look at the next two pieces. With `only_best` only the first is certain: the work on others stops early.
template <class E>
std::vector<Placement> look_ahead(const E& evaluation, Board board, int piece, int width, float margin, double safe = 0,
                                  bool only_best = false) {
    auto all = ranked_placements(evaluation, board, piece);
    const std::size_t seen = compared(all, width, margin);
    double least = 0;
    only_best = only_best && safe == 0;
    for (std::size_t i = 0; i < seen; ++i) {
        const double survival = expected_survival(evaluation, all[i].board, 0, least);
        if (only_best) least = std::max(least, survival);
        all[i].value = static_cast<float>(survival);
    }
    const auto sort_first = [&](std::size_t count) {
        std::stable_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count),
                         [](const auto& a, const auto& b) { return a.value > b.value; });
    };
    sort_first(seen);
    if (seen > 1 && all[0].value < safe) {
        const std::size_t first = std::min<std::size_t>(seen, 4);
        for (std::size_t i = 0; i < first; ++i) {
            all[i].value = static_cast<float>(expected_survival(evaluation, all[i].board, 3));
        }
        sort_first(first);
    }
    return all;
}

constexpr std::size_t kPlans = 6;  // plans of a hand that are compared by the hands to come

struct HandMove {
    int slot, cell;
};
struct HandPlan {
    std::vector<HandMove> moves;  // as many as the search could place
    Board board = 0;
    float value = 0;  // of the last board
};

// The best orders and placements of a hand by beam search, best first, at most `most` that lead to different boards: after
// each piece the `beam` best different boards go on, for every set of pieces placed so far. A beam of 0 keeps all.
template <class E>
std::vector<HandPlan> plan_hands(const E& evaluation, Board board, std::span<const std::int8_t> hand, int beam,
                                 std::size_t most) {
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
    std::vector<HandPlan> plans;
    if (nodes.size() == 1) return {{{}, board, 0}};
    std::stable_sort(level.begin(), level.end(), [&](auto a, auto b) { return nodes[a].value > nodes[b].value; });
    for (std::size_t i = 0; i < level.size() && i < most; ++i) {
        auto at = level[i];
        HandPlan plan{{}, nodes[at].board, nodes[at].value};
        for (; nodes[at].parent >= 0; at = nodes[at].parent) plan.moves.push_back({nodes[at].slot, nodes[at].cell});
        std::reverse(plan.moves.begin(), plan.moves.end());
        plans.push_back(std::move(plan));
    }
    return plans;
}

template <class E>
HandPlan plan_hand(const E& evaluation, Board board, std::span<const std::int8_t> hand, int beam) {
    return plan_hands(evaluation, board, hand, beam, 1)[0];
}

// Of plans that place the whole hand, the one after which the hands to come are survived best: the mean over `hands` of
// the chance to stay alive after a plan for it.
template <class E>
std::size_t safest(const E& evaluation, const std::vector<HandPlan>& plans,
                   const std::vector<std::array<std::int8_t, kMaxHand>>& hands, int beam) {
    std::size_t best = 0;
    double most = -1;
    const auto size = static_cast<std::size_t>(evaluation.rules().hand());
    for (std::size_t i = 0; i < plans.size(); ++i) {
        double sum = 0;
        for (const auto& hand : hands) {
            const auto plan = plan_hand(evaluation, plans[i].board, std::span(hand.data(), size), beam);
            if (plan.moves.size() == size) sum += evaluation.survival(plan.value);
        }
        if (sum > most) best = i, most = sum;
    }
    return best;
}

// How a player of whole games decides.
struct PlayStyle {
    int width = 0;        // placements behind which the next piece is looked at; 0: none
    float margin = 0;     // and how far below the best they may lie
    int narrow = 8;       // beam for hands
    int wide = 200;       // beam where the narrow one leads to a value below `comfort` or to the end
    float comfort = 0;
    double safe = 0;     // look at two pieces where the chance to stay alive is lower than this
    float worry = -1e9;  // look at hands to come where the value of the best plan is lower than this
    int hands = 48;      // how many of them
};

// The placement to make, after a look at the next piece where `width` asks for it and the evaluation can.
template <class E>
bool decide(const E& evaluation, const PlayStyle& style, Board board, int piece, Placement& best) {
    if constexpr (requires { evaluation.survival(0.0f); }) {
        if (style.width > 0) {
            const auto all = look_ahead(evaluation, board, piece, style.width, style.margin, style.safe, true);
            if (!all.empty()) best = all[0];
            return !all.empty();
        }
    }
    return best_placement(evaluation, board, piece, best);
}

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
    std::vector<std::array<std::int8_t, kMaxHand>> imagined;
    Rng guess(rng.words()[0], 1);  // so that the pieces to come do not depend on how they are thought about
    while (record.rounds < max_rounds && !control.stopped()) {
        if (rules.hand() == 1) {
            const int piece = rules.draw(rng);
            Placement best{};
            record.ended = !decide(evaluation, style, board, piece, best);
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
            auto others = plan_hands(evaluation, board, pieces, whole ? style.wide : 0, kPlans);
            if (others[0].moves.size() > plan.moves.size() || others[0].value > plan.value) plan = others[0];
            if constexpr (requires { evaluation.survival(0.0f); }) {
                if (plan.value < style.worry && others.size() > 1 &&
                    static_cast<int>(plan.moves.size()) == rules.hand()) {
                    imagined.resize(static_cast<std::size_t>(style.hands));
                    for (auto& other : imagined) {
                        for (int slot = 0; slot < rules.hand(); ++slot)
                            other[slot] = static_cast<std::int8_t>(rules.draw(guess));
                    }
                    plan = others[safest(evaluation, others, imagined, style.narrow)];
                }
            }
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
