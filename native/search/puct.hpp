// PUCT: tree search guided by a net's probabilities and values, as in AlphaZero.
//
// The net is not here. A tree walks down to positions it has not seen and hands them out; the caller looks at them, many
// trees' at once, and hands back probabilities and values. When a move is played its part of the tree is kept. At chance
// nodes a walk draws an outcome by its probability; at the root, chance is drawn as soon as it is to act.
//
// Ends of games are exact, and so is what follows from them: in games for two, every node has bounds on its value, and a
// node whose bounds meet is proven. A move that is proven to be no better than another is not walked any more.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/many_games.hpp"
#include "core/state.hpp"

namespace rookery {

struct PuctSettings {
    double exploration = 1.0;
    // Games of one player have scores, not results: a game above this score is worth +1, below -1, equal `tie`.
    double threshold = 0.0;
    double tie = 0.0;
    // A move not tried yet is worth the mean over the moves tried; without this, 0.
    bool untried_mean = true;
    // The share of noise in the probabilities at the root, and the parameter of the Dirichlet distribution it has.
    double noise = 0.0;
    double noise_alpha = 0.3;
    // Whether bounds are kept, in games for two.
    bool prove = true;
};

template <GameState S>
class Puct {
public:
    Puct(const S& root, const PuctSettings& settings, const Rng& rng = Rng())
        : settings_(settings), rng_(rng), root_(root), tree_(1) {
        settings_.prove = settings_.prove && root_.rules().players() == 2;
        enter_root();
    }

    const S& root() const { return root_; }
    std::int64_t simulations() const { return tree_[0].visits; }
    const ActionList& history() const { return history_; }

    // Whether there is nothing left to search: the game is over, the root is proven, or it has its simulations.
    bool searched(std::int64_t simulations) const {
        return root_.player() == kTerminal || tree_[0].visits >= simulations || tree_[0].proven();
    }

    // The best finished game seen, of one player: its score, and its actions from the first root on.
    double best_score() const { return best_score_; }
    const ActionList& best_game() const { return best_game_; }

    // Walks down up to `walks` times, until the root has `simulations` visits, and appends the new positions it met. Walks
    // under way count as lost, so that the next one goes elsewhere; one that meets a position still handed out is given
    // up. Ends of games need no net and are counted at once.
    void find_leaves(std::int64_t simulations, int walks, std::vector<S>& leaves) {
        if (!pending_.empty()) throw std::logic_error("the last leaves have not been expanded yet");
        if (root_.player() == kTerminal) return;
        for (int walk = 0; walk < walks; ++walk) {
            if (tree_[0].visits + static_cast<std::int64_t>(pending_.size()) >= simulations) return;
            if (tree_[0].proven()) return;
            S state = root_;
            std::vector<std::int32_t> path(1, 0);
            for (;;) {
                const std::int32_t at = path.back();
                if (tree_[at].children == 0) {
                    if (tree_[at].waiting) return;
                    tree_[at].player = static_cast<std::int8_t>(state.player());
                    if (tree_[at].player != kChance) break;
                    open_chance(at, state);
                }
                path.push_back(tree_[at].player == kChance ? draw(at) : pick(at));
                if (tree_[path.back()].proven()) break;
                state.apply(tree_[path.back()].action);
            }
            if (tree_[path.back()].proven()) {
                const Node& node = tree_[path.back()];
                const int mover = tree_[path[path.size() - 2]].player;
                if (mover == kChance) back_up(path, node.player, -node.low);
                if (mover != kChance) back_up(path, mover, node.low);
                continue;
            }
            Node& leaf = tree_[path.back()];
            if (leaf.player == kTerminal) {
                finish(path, state);
                continue;
            }
            leaf.waiting = true;
            for (const auto node : path) ++tree_[node].walking;
            pending_.push_back(std::move(path));
            leaves.push_back(std::move(state));
        }
    }

    // For the leaves of the last call, in order: `actions` are the legal ones, `priors` their probabilities, and `value`
    // is what the position is worth to the player to move, -1 .. 1. Actions with a probability below 0 are left out.
    std::size_t waiting() const { return pending_.size(); }
    void expand(std::size_t leaf, std::span<const Action> actions, std::span<const float> priors, double value) {
        const auto& path = pending_[leaf];
        const auto first = static_cast<std::int32_t>(tree_.size());
        for (std::size_t i = 0; i < actions.size(); ++i) {
            if (priors[i] < 0) continue;
            tree_.emplace_back();
            tree_.back().action = actions[i];
            tree_.back().prior = priors[i];
        }
        Node& node = tree_[path.back()];
        node.first_child = first;
        node.children = static_cast<std::int32_t>(tree_.size()) - first;
        node.waiting = false;
        for (const auto index : path) --tree_[index].walking;
        back_up(path, node.player, value);
        if (path.size() == 1) mix_noise();
    }
    void done_expanding() { pending_.clear(); }

    struct Move {
        Action action;
        std::int64_t visits;
        double value;
        float prior;
    };
    // A move that is proven to be worse than another counts as not visited; so does all but the wins beside a win.
    std::vector<Move> moves() const {
        std::vector<Move> found;
        const float best = best_low(tree_[0]);
        for (std::int32_t i = tree_[0].first_child; i < tree_[0].first_child + tree_[0].children; ++i) {
            const Node& child = tree_[i];
            const bool worse = settings_.prove && (child.high < best || (best >= 1 && child.low < best));
            found.push_back({child.action, worse ? 0 : child.visits, child.mean(), child.prior});
        }
        return found;
    }

    // Plays a move, and the chance after it; what was found below them stays.
    void apply(Action action) {
        if (!pending_.empty()) throw std::logic_error("the last leaves have not been expanded yet");
        descend(action);
        enter_root();
        if (tree_[0].children > 0) mix_noise();
    }

private:
    struct Node {
        Action action = -1;
        float prior = 0;
        std::int32_t first_child = 0, children = 0;
        std::int64_t visits = 0;
        double total = 0;  // of the values for the player who moves at the parent
        std::int32_t walking = 0;
        float low = -1, high = 1;  // bounds on the value for the player who moves at the parent
        std::int8_t player = 0;
        bool waiting = false;

        bool proven() const { return low == high; }
        double mean() const { return proven() ? low : visits ? total / static_cast<double>(visits) : 0.0; }
    };

    float best_low(const Node& node) const {
        float best = -1;
        for (std::int32_t i = node.first_child; i < node.first_child + node.children; ++i) {
            best = std::max(best, tree_[i].low);
        }
        return best;
    }

    // Takes the bounds of a node from its children, as `mover` at its parent sees them; returns whether they are tighter.
    bool tighten(std::int32_t index, int mover) {
        Node& node = tree_[index];
        if (node.children == 0 || node.player == kChance) return false;
        float low = -1, high = -1;
        for (std::int32_t i = node.first_child; i < node.first_child + node.children; ++i) {
            low = std::max(low, tree_[i].low);
            high = std::max(high, tree_[i].high);
        }
        if (mover != node.player) low = -low, high = -high, std::swap(low, high);
        if (node.low == low && node.high == high) return false;
        node.low = low, node.high = high;
        return true;
    }

    void tighten_upwards(const std::vector<std::int32_t>& path) {
        for (std::size_t i = path.size() - 1; i-- > 0;) {
            if (!tighten(path[i], tree_[path[i == 0 ? 0 : i - 1]].player)) return;
        }
    }

    // Makes the position after an action, or after an outcome of chance, the root.
    void descend(Action action) {
        std::vector<Node> kept(1);
        for (std::int32_t i = tree_[0].first_child; i < tree_[0].first_child + tree_[0].children; ++i) {
            if (tree_[i].action != action) continue;
            kept[0] = tree_[i];
            for (std::size_t n = 0; n < kept.size(); ++n) {
                const auto first = kept[n].first_child;
                const auto children = kept[n].children;
                if (children == 0) continue;
                kept[n].first_child = static_cast<std::int32_t>(kept.size());
                kept.insert(kept.end(), tree_.begin() + first, tree_.begin() + first + children);
            }
        }
        tree_ = std::move(kept);
        root_.apply(action);
        history_.push_back(action);
    }

    void enter_root() {
        while (root_.player() == kChance) descend(sample_chance(root_, rng_));
        tree_[0].player = static_cast<std::int8_t>(root_.player());
        tree_[0].low = -1, tree_[0].high = 1;
        if (settings_.prove) tighten(0, tree_[0].player);
    }

    // Gives a chance node a child for every outcome.
    void open_chance(std::int32_t index, const S& state) {
        outcomes_.clear();
        chance_outcomes(state, outcomes_);
        tree_[index].first_child = static_cast<std::int32_t>(tree_.size());
        tree_[index].children = static_cast<std::int32_t>(outcomes_.size());
        for (const auto& [outcome, probability] : outcomes_) {
            tree_.emplace_back();
            tree_.back().action = outcome;
            tree_.back().prior = static_cast<float>(probability);
        }
    }

    std::int32_t draw(std::int32_t index) {
        const std::int32_t first = tree_[index].first_child, last = first + tree_[index].children - 1;
        double point = rng_.uniform();
        for (std::int32_t i = first; i < last; ++i) {
            point -= tree_[i].prior;
            if (point < 0) return i;
        }
        return last;
    }

    void mix_noise() {
        const std::int32_t first = tree_[0].first_child, count = tree_[0].children;
        if (settings_.noise <= 0 || count < 2) return;
        std::vector<double> noise;
        double total = 0;
        for (std::int32_t i = 0; i < count; ++i) total += noise.emplace_back(rng_.gamma(settings_.noise_alpha));
        for (std::int32_t i = 0; i < count; ++i) {
            float& prior = tree_[first + i].prior;
            prior = static_cast<float>((1 - settings_.noise) * prior + settings_.noise * noise[i] / total);
        }
    }

    std::int32_t pick(std::int32_t index) const {
        const Node& node = tree_[index];
        double visits = 0, total = 0;
        for (std::int32_t i = node.first_child; i < node.first_child + node.children; ++i) {
            visits += static_cast<double>(tree_[i].visits + tree_[i].walking);
            total += tree_[i].total - tree_[i].walking;
        }
        const double untried = settings_.untried_mean && visits > 0 ? total / visits : 0.0;
        const double bonus = settings_.exploration * std::sqrt(std::max(1.0, visits));
        const float least = settings_.prove ? best_low(node) : -1;
        std::int32_t best = node.first_child;
        double best_score = -std::numeric_limits<double>::infinity();
        for (std::int32_t i = node.first_child; i < node.first_child + node.children; ++i) {
            const Node& child = tree_[i];
            if (child.high <= least && child.low < least) continue;
            const double n = static_cast<double>(child.visits + child.walking);
            const double mean = child.proven() ? child.low : n > 0 ? (child.total - child.walking) / n : untried;
            const double score = mean + bonus * child.prior / (1 + n);
            if (score > best_score) best = i, best_score = score;
        }
        return best;
    }

    void finish(const std::vector<std::int32_t>& path, const S& state) {
        const Returns result = state.returns();
        if (state.rules().players() == 1) {
            if (result[0] > best_score_) {
                best_score_ = result[0];
                best_game_ = history_;
                for (std::size_t i = 1; i < path.size(); ++i) best_game_.push_back(tree_[path[i]].action);
            }
            const double over = result[0] - settings_.threshold;
            back_up(path, 0, over > 0 ? 1 : over < 0 ? -1 : settings_.tie);
            return;
        }
        const double value = std::clamp(result[0], -1.0, 1.0);
        if (settings_.prove && path.size() > 1) {
            Node& leaf = tree_[path.back()];
            const int mover = tree_[path[path.size() - 2]].player;
            // A draw of chance is one of many, and proves nothing above it.
            if (mover != kChance) {
                leaf.low = leaf.high = static_cast<float>(mover == 0 ? value : -value);
                tighten_upwards(path);
            }
        }
        back_up(path, 0, value);
    }

    // Two players have opposite values; one player has one.
    void back_up(const std::vector<std::int32_t>& path, int player, double value) {
        for (std::size_t i = 0; i < path.size(); ++i) {
            const int mover = tree_[path[i == 0 ? 0 : i - 1]].player;
            ++tree_[path[i]].visits;
            tree_[path[i]].total += mover == player ? value : -value;
        }
    }

    PuctSettings settings_;
    Rng rng_;
    S root_;
    ChanceList outcomes_;
    ActionList history_;
    std::vector<Node> tree_;
    std::vector<std::vector<std::int32_t>> pending_;
    double best_score_ = -std::numeric_limits<double>::infinity();
    ActionList best_game_;
};

// Trees of many games, whose leaves go to the net together.
template <GameState S>
class PuctForest {
public:
    // Tree i has the random stream (seed, i).
    PuctForest(const S& start, std::int64_t games, const PuctSettings& settings, std::uint64_t seed = 0)
        : settings_(settings), seed_(seed) {
        for (std::int64_t i = 0; i < games; ++i) trees_.emplace_back(start, settings, Rng(seed, i));
    }

    // Lets a game begin somewhere else.
    void restart(std::int64_t tree, const S& start) { trees_.at(tree) = Puct<S>(start, settings_, Rng(seed_, tree)); }

    const std::vector<Puct<S>>& trees() const { return trees_; }

    NetInput find_leaves(std::int64_t simulations, int walks, int threads) {
        std::vector<std::vector<S>> found(trees_.size());
        parallel_blocks(static_cast<std::int64_t>(trees_.size()), threads,
                        [&](std::int64_t i) { trees_[i].find_leaves(simulations, walks, found[i]); });
        std::vector<S> leaves;
        for (auto& mine : found) std::move(mine.begin(), mine.end(), std::back_inserter(leaves));
        NetInput input = net_input<S>(trees_.front().root().rules(), static_cast<std::int64_t>(leaves.size()), threads,
                                      [&](std::int64_t i) -> const S& { return leaves[i]; });
        offsets_ = input.offsets;
        actions_ = input.actions;
        return input;
    }

    // A probability for every action of the last leaves, and a value for every leaf.
    void expand(std::span<const float> priors, std::span<const float> values, int threads = 1) {
        if (priors.size() != actions_.size() || values.size() + 1 != offsets_.size()) {
            throw std::invalid_argument("expected a probability for every action and a value for every leaf");
        }
        std::vector<std::size_t> first(trees_.size());  // the first leaf of each tree
        for (std::size_t i = 1; i < trees_.size(); ++i) first[i] = first[i - 1] + trees_[i - 1].waiting();
        parallel_blocks(static_cast<std::int64_t>(trees_.size()), threads, [&](std::int64_t number) {
            Puct<S>& tree = trees_[number];
            for (std::size_t i = 0; i < tree.waiting(); ++i) {
                const std::size_t leaf = first[number] + i;
                const auto begin = static_cast<std::size_t>(offsets_[leaf]);
                const auto size = static_cast<std::size_t>(offsets_[leaf + 1]) - begin;
                tree.expand(i, {actions_.data() + begin, size}, priors.subspan(begin, size), values[leaf]);
            }
            tree.done_expanding();
        });
        offsets_.assign(1, 0);
        actions_.clear();
    }

    void apply(std::int64_t tree, Action action) {
        if (!is_legal(trees_.at(tree).root(), action)) throw std::invalid_argument("the action is not legal");
        trees_[tree].apply(action);
    }

private:
    PuctSettings settings_;
    std::uint64_t seed_;
    std::vector<Puct<S>> trees_;
    std::vector<std::int64_t> offsets_{0};
    ActionList actions_;
};

}  // namespace rookery
