// The learned ranking of captures: the mean of one or more small nets over the graph of pieces. In each block of a net
// every piece gathers what the others have to say, weighted by nothing but how they stand to it. One pass gives the value
// of every legal capture. Trained by src/rookery/games/solitaire_chess/dqn.py, which holds the same net in PyTorch; a test
// compares the two.
#pragma once

#include <cmath>
#include <map>
#include <span>

#include "games/solitaire_chess/piece_graph.hpp"

namespace rookery::solitaire_chess {

struct ScoredMove {
    Action action;
    float score;  // the net's belief, as log-odds, that the puzzle can be solved after this capture
};

class CaptureNet {
public:
    using Weights = std::map<std::string, std::vector<float>>;

    // Takes the net's parameters by name, matrices row by row as [out, in].
    CaptureNet(int width, int heads, int layers, const Weights& weights) : width_(width), heads_(heads) {
        if (width < 1 || width > 256 || heads < 1 || heads > kMaxHeads || width % heads || layers < 1 || layers > 16) {
            throw std::invalid_argument(
                "the net must be 1 to 256 wide, with 1 to 16 layers and 1 to 16 heads that "
                "divide its width");
        }
        node_ = table(weights, "node.weight", kNodes, width);
        for (int i = 0; i < layers; ++i) {
            const std::string at = "blocks." + std::to_string(i) + ".";
            blocks_.push_back({norm(weights, at + "norm1", width), linear(weights, at + "value", width, width),
                               linear(weights, at + "out", width, width),
                               table(weights, at + "edge.weight", kEdges, heads), norm(weights, at + "norm2", width),
                               linear(weights, at + "up", width, 2 * width),
                               linear(weights, at + "down", 2 * width, width)});
        }
        norm_ = norm(weights, "norm", width);
        mover_ = linear(weights, "mover", width, width);
        taken_ = linear(weights, "taken", width, width);
        edge_ = table(weights, "edge.weight", kEdges, width);
        score_ = linear(weights, "score", width, 1);
    }

    // Every legal capture with its score, in the order of their numbers.
    std::vector<ScoredMove> rank(const State& state, const PieceGraph& graph) const {
        const int n = graph.pieces, w = width_;
        std::vector<float> x(n * w);
        for (int i = 0; i < n; ++i) std::copy_n(&node_[graph.nodes[i] * w], w, &x[i * w]);
        for (const Block& block : blocks_) apply(block, graph, x);
        const std::vector<float> last = norm_(x, w), movers = mover_(last), taken = taken_(last);
        std::vector<ScoredMove> moves;
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                const int edge = graph.edges[i * n + j];
                if (!is_capture(edge)) continue;
                float score = score_.bias[0];
                for (int c = 0; c < w; ++c) {
                    const float sum = movers[i * w + c] + taken[j * w + c] + edge_[edge * w + c];
                    score += score_.weight[c] * std::max(sum, 0.0f);
                }
                moves.push_back({graph.cells[i] * state.rules().cells() + graph.cells[j], score});
            }
        }
        return moves;
    }

private:
    static constexpr int kMaxHeads = 16;

    struct Linear {
        int in, out;
        std::vector<float> weight;  // [in, out], so that the inner loop runs along the outputs
        std::vector<float> bias;

        std::vector<float> operator()(const std::vector<float>& x) const {
            const int n = static_cast<int>(x.size()) / in;
            std::vector<float> y(n * out);
            for (int i = 0; i < n; ++i) {
                float* row = &y[i * out];
                std::copy(bias.begin(), bias.end(), row);
                for (int k = 0; k < in; ++k) {
                    const float value = x[i * in + k];
                    const float* along = &weight[k * out];
                    for (int o = 0; o < out; ++o) row[o] += value * along[o];
                }
            }
            return y;
        }
    };

    struct Norm {
        std::vector<float> weight, bias;

        std::vector<float> operator()(const std::vector<float>& x, int width) const {
            std::vector<float> y(x.size());
            for (std::size_t at = 0; at < x.size(); at += width) {
                float mean = 0, variance = 0;
                for (int c = 0; c < width; ++c) mean += x[at + c];
                mean /= width;
                for (int c = 0; c < width; ++c) variance += (x[at + c] - mean) * (x[at + c] - mean);
                const float scale = 1 / std::sqrt(variance / width + 1e-5f);
                for (int c = 0; c < width; ++c) y[at + c] = (x[at + c] - mean) * scale * weight[c] + bias[c];
            }
            return y;
        }
    };

    struct Block {
        Norm norm1;
        Linear value, out;
        std::vector<float> edge;  // [edges, heads]
        Norm norm2;
        Linear up, down;
    };

    void apply(const Block& block, const PieceGraph& graph, std::vector<float>& x) const {
        const int n = graph.pieces, w = width_, size = w / heads_;
        const std::vector<float> values = block.value(block.norm1(x, w));
        std::vector<float> mixed(n * w);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                const float* weights = &block.edge[graph.edges[i * n + j] * heads_];
                for (int c = 0; c < w; ++c) mixed[i * w + c] += weights[c / size] * values[j * w + c];
            }
        }
        add(x, block.out(mixed));
        std::vector<float> hidden = block.up(block.norm2(x, w));
        for (float& value : hidden) value = std::max(value, 0.0f);
        add(x, block.down(hidden));
    }

    static void add(std::vector<float>& x, const std::vector<float>& y) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
    }

    static std::vector<float> table(const Weights& weights, const std::string& name, int rows, int columns) {
        const auto found = weights.find(name);
        if (found == weights.end() || found->second.size() != std::size_t(rows) * columns) {
            throw std::invalid_argument("the net needs " + std::to_string(rows) + " x " + std::to_string(columns) +
                                        " numbers called " + name);
        }
        return found->second;
    }

    static Linear linear(const Weights& weights, const std::string& name, int in, int out) {
        const std::vector<float> given = table(weights, name + ".weight", out, in);
        Linear layer{in, out, std::vector<float>(given.size()), table(weights, name + ".bias", out, 1)};
        for (int o = 0; o < out; ++o) {
            for (int i = 0; i < in; ++i) layer.weight[i * out + o] = given[o * in + i];
        }
        return layer;
    }

    static Norm norm(const Weights& weights, const std::string& name, int width) {
        return {table(weights, name + ".weight", width, 1), table(weights, name + ".bias", width, 1)};
    }

    int width_, heads_;
    std::vector<float> node_;  // [nodes, width]
    std::vector<Block> blocks_;
    Norm norm_;
    Linear mover_, taken_;
    std::vector<float> edge_;  // [edges, width]
    Linear score_;
};

class CaptureRanker {
public:
    CaptureRanker(int width, int heads, int layers, const std::vector<CaptureNet::Weights>& nets) {
        if (nets.empty() || nets.size() > 16) throw std::invalid_argument("a ranker is made of 1 to 16 nets");
        for (const CaptureNet::Weights& weights : nets) nets_.emplace_back(width, heads, layers, weights);
    }

    // Every legal capture with its score, in the order of their numbers.
    std::vector<ScoredMove> rank(const State& state) const {
        const PieceGraph graph(state);
        std::vector<ScoredMove> moves = nets_[0].rank(state, graph);
        for (std::size_t i = 1; i < nets_.size(); ++i) {
            const std::vector<ScoredMove> others = nets_[i].rank(state, graph);
            for (std::size_t k = 0; k < moves.size(); ++k) moves[k].score += others[k].score;
        }
        for (ScoredMove& move : moves) move.score /= static_cast<float>(nets_.size());
        return moves;
    }

private:
    std::vector<CaptureNet> nets_;
};

}  // namespace rookery::solitaire_chess
