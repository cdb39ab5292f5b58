// N-tuple networks for any game on a grid, learned by temporal differences from positions after a move.
//
// Every cell of the grid has a small whole number. A tuple is a set of cells; what is on them is an index into its table
// of weights, and the value of a position is the sum of one weight per tuple and image of it under the symmetries of the
// game. `src/rookery/learn/ntuple.py` says what is learned and what the settings mean.
#pragma once

#ifdef __linux__
#include <sys/mman.h>
#endif
#if defined(__BMI2__) && defined(__SSSE3__)
#include <immintrin.h>
#endif

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <unordered_map>

#include "core/control.hpp"
#include "core/many_games.hpp"
#include "core/parallel.hpp"
#include "core/state.hpp"
#include "learn/q_learning.hpp"

namespace rookery {

// What is on the cells of a grid: small numbers, 0 for an empty cell. A state may offer `cells(std::uint8_t*)`, which
// writes them; else they are codes of the planes that are not 0 on a cell, among the planes that are looked at.
struct CellView {
    std::vector<int> planes;
    std::unordered_map<std::uint64_t, std::uint8_t> codes;  // by bits, one per plane that is looked at
    std::uint8_t most = 255;  // the greatest number; greater and unknown ones count as this

    template <class S>
    void read(const S& state, std::vector<float>& scratch, std::span<std::uint8_t> cells) const {
        if constexpr (requires { state.cells(cells.data()); }) {
            state.cells(cells.data());
            for (auto& cell : cells) cell = std::min(cell, most);
        } else {
            const Shape shape = state.rules().observation_shape();
            scratch.resize(volume(shape));
            state.observe(scratch.data());
            std::uint64_t last = 0;
            std::uint8_t code = 0;
            for (std::size_t i = 0; i < cells.size(); ++i) {
                std::uint64_t bits = 0;
                for (std::size_t p = 0; p < planes.size(); ++p) {
                    bits |= std::uint64_t(scratch[static_cast<std::size_t>(planes[p]) * cells.size() + i] != 0) << p;
                }
                if (bits != last) {
                    const auto found = codes.find(bits);
                    code = bits == 0 ? 0 : found == codes.end() ? most : found->second;
                    last = bits;
                }
                cells[i] = code;
            }
        }
    }
};

// The tables of weights. Threads may read and change them at the same time: a change of one may then be lost.
class TupleNet {
public:
    using Index = std::uint32_t;
    static constexpr std::size_t kMaxWeights = std::size_t(1) << 32;

    // Tuples are lists of ascending cells, symmetries are permutations of all cells. There are as many sets of tables as
    // sides. The bits are those of the number on a cell. A tuple with more contents than a table of 2^table_bits weights
    // shares them by hashing. `coherent` weights have a step size of their own each: |sum of errors| / sum of |errors|
    // (Beal and Smith, 1999).
    TupleNet(int cells, int bits, int sides, const std::vector<std::vector<int>>& tuples,
             const std::vector<std::vector<int>>& symmetries, bool coherent, double first_value, int table_bits)
        : cells_(cells), bits_(bits), stride_(coherent ? 3 : 1), first_value_(static_cast<float>(first_value)) {
        if (cells < 1 || bits < 1 || bits > 8 || sides < 1 || table_bits < 1 || table_bits > 32)
            throw std::invalid_argument("there must be cells with numbers");
        if (tuples.empty() || symmetries.empty()) throw std::invalid_argument("there must be a tuple and a symmetry");
        for (const auto& symmetry : symmetries) {
            const std::set<int> places(symmetry.begin(), symmetry.end());
            const auto all = static_cast<std::size_t>(cells);
            if (symmetry.size() != all || places.size() != all || *places.begin() != 0 ||
                *places.rbegin() != cells - 1) {
                throw std::invalid_argument("a symmetry must be a permutation of the cells");
            }
        }
        packed_ = cells <= 16 && bits <= 4;
        std::vector<std::size_t> first;
        for (const auto& tuple : tuples) {
            if (tuple.empty() || tuple.front() < 0 || tuple.back() >= cells ||
                std::adjacent_find(tuple.begin(), tuple.end(), std::greater_equal<>()) != tuple.end()) {
                throw std::invalid_argument("a tuple must be ascending cells of the grid");
            }
            if (tuple.size() * bits > 64) throw std::invalid_argument("a tuple must have at most 2^64 contents");
            first.push_back(side_);
            side_ += std::size_t(1) << std::min(static_cast<int>(tuple.size()) * bits, table_bits);
        }
        if (side_ * sides > kMaxWeights) throw std::invalid_argument("there must be at most 2^32 weights");
        weights_ = side_ * sides;
        std::set<std::pair<std::size_t, std::vector<int>>> met;  // images that are the same in each cell count once
        for (const auto& symmetry : symmetries) {
            Image image;
            for (int i = 0; i < 16; ++i) image.shuffle[i] = static_cast<std::uint8_t>(i < cells ? symmetry[i] : 0x80);
            for (std::size_t t = 0; t < tuples.size(); ++t) {
                std::vector<int> at;
                std::uint64_t mask = 0;
                for (const int cell : tuples[t]) {
                    at.push_back(symmetry[cell]);
                    if (packed_) mask |= ((std::uint64_t(1) << bits) - 1) << 4 * cell;
                }
                if (!met.emplace(t, at).second) continue;
                const bool hashed = static_cast<int>(at.size()) * bits > table_bits;
                lookups_.push_back({static_cast<Index>(first[t]), static_cast<std::uint32_t>(at.size()),
                                    static_cast<std::uint32_t>(places_.size()), hashed ? kMix : 1,
                                    hashed ? 64 - table_bits : 0});
                places_.insert(places_.end(), at.begin(), at.end());
                image.masks.push_back(mask);
            }
            turns_.push_back(image.shuffle);
            if (!image.masks.empty()) images_.push_back(image);
        }
        symmetries_ = symmetries;
        data_.reset(allocate(bytes()));
    }

    int cells() const { return cells_; }
    int bits() const { return bits_; }
    int sides() const { return static_cast<int>(weights_ / side_); }
    std::size_t lookups() const { return lookups_.size(); }
    std::size_t weights() const { return weights_; }
    std::size_t bytes() const { return weights_ * stride_ * sizeof(float); }
    bool coherent() const { return stride_ == 3; }
    float first_value() const { return first_value_; }

    // Where the weights of a position are: `lookups()` numbers.
    void find(const std::uint8_t* cells, int side, Index* out) const {
        const auto begin = static_cast<Index>(side * side_);
#if defined(__BMI2__) && defined(__SSSE3__)
        if (packed_) {
            alignas(16) std::uint8_t padded[16] = {};
            std::memcpy(padded, cells, static_cast<std::size_t>(cells_));
            const __m128i board = _mm_load_si128(reinterpret_cast<const __m128i*>(padded));
            const Lookup* lookup = lookups_.data();
            for (const Image& image : images_) {
                const std::uint64_t turned = nibbles(board, image.shuffle);
                for (const std::uint64_t mask : image.masks) {
                    *out++ = begin + (lookup++)->index(_pext_u64(turned, mask));
                }
            }
            return;
        }
#endif
        for (const Lookup& lookup : lookups_) {
            std::uint64_t content = 0;
            for (std::uint32_t i = 0; i < lookup.cells; ++i) {
                content |= static_cast<std::uint64_t>(cells[places_[lookup.places + i]]) << (bits_ * i);
            }
            *out++ = begin + lookup.index(content);
        }
    }

    void prefetch(const Index* at) const {
        for (std::size_t i = 0; i < lookups_.size(); ++i)
            __builtin_prefetch(data_.get() + std::size_t(at[i]) * stride_);
    }

    float value(const Index* at) const {
        float sum = first_value_;
        for (std::size_t i = 0; i < lookups_.size(); ++i) sum += load(data_[std::size_t(at[i]) * stride_]);
        return sum;
    }

    // Moves the value of a position by `rate` times the error, or less where weights are coherent. All weights are read
    // before any is written, so that one which is found several times changes once.
    void learn(const Index* at, float rate, float error, std::vector<float>& scratch) {
        const std::size_t count = lookups_.size();
        const float step = rate / static_cast<float>(count) * error, magnitude = std::abs(error);
        scratch.resize(3 * count);
        if (stride_ == 1) {
            for (std::size_t i = 0; i < count; ++i) scratch[i] = load(data_[at[i]]) + step;
            for (std::size_t i = 0; i < count; ++i) store(data_[at[i]], scratch[i]);
            return;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const float* weight = data_.get() + std::size_t(at[i]) * 3;
            const float sum = load(weight[1]), size = load(weight[2]);
            scratch[3 * i] = load(weight[0]) + step * (size > 0 ? std::abs(sum) / size : 1.0f);
            scratch[3 * i + 1] = sum + error;
            scratch[3 * i + 2] = size + magnitude;
        }
        for (std::size_t i = 0; i < count; ++i) {
            float* weight = data_.get() + std::size_t(at[i]) * 3;
            for (std::size_t k = 0; k < 3; ++k) store(weight[k], scratch[3 * i + k]);
        }
    }

    // Positions that have a value of their own, beside the tables. All others are worth what the tables say, and more by
    // a share, `optimism`. Nothing may be read while a position is added.
    std::size_t remembered() const { return positions_; }
    std::span<const std::uint64_t> keys() const { return keys_; }  // of all slots, kNone for empty ones
    std::span<const float> key_values() const { return key_values_; }
    void set_optimism(double optimism) { optimism_ = static_cast<float>(optimism); }

    // A number for the cells of a position that is the same for its images.
    std::uint64_t key(const std::uint8_t* cells) const {
        std::uint64_t least = kNone;
#if defined(__BMI2__) && defined(__SSSE3__)
        if (packed_) {
            alignas(16) std::uint8_t padded[16] = {};
            std::memcpy(padded, cells, static_cast<std::size_t>(cells_));
            const __m128i board = _mm_load_si128(reinterpret_cast<const __m128i*>(padded));
            for (const auto& turn : turns_) least = std::min(least, nibbles(board, turn));
            return std::min(least, kNone - 1);
        }
#endif
        for (const auto& symmetry : symmetries_) {
            std::uint64_t mixed = 0;
            for (int i = 0; i < cells_; ++i) {
                const std::uint64_t cell = cells[symmetry[static_cast<std::size_t>(i)]];
                mixed = packed_ ? mixed | cell << 4 * i : (std::rotl(mixed, 5) ^ cell) * kMix;
            }
            least = std::min(least, mixed);
        }
        return std::min(least, kNone - 1);
    }

    // The value of a remembered position, or null.
    const float* recall(std::uint64_t key) const {
        if (keys_.empty()) return nullptr;
        const std::size_t slot = slot_of(key);
        return keys_[slot] == key ? &key_values_[slot] : nullptr;
    }

    // What a position is worth that is not remembered, by the value that the tables give it.
    float hoped(float value) const { return value + optimism_ * std::abs(value); }

    void remember(std::uint64_t key, float value) {
        if (2 * (positions_ + 1) > keys_.size()) grow();
        const std::size_t slot = slot_of(key);
        positions_ += keys_[slot] == kNone;
        keys_[slot] = key;
        key_values_[slot] = value;
    }

    static constexpr std::uint64_t kNone = ~std::uint64_t(0);

    std::span<float> data() { return {data_.get(), weights_ * stride_}; }
    std::span<const float> data() const { return {data_.get(), weights_ * stride_}; }
    std::size_t stride() const { return stride_; }

private:
    struct Lookup {
        Index first;  // of its table
        std::uint32_t cells, places;
        std::uint64_t factor;  // 1, and a shift of 0, where each content has a weight of its own
        int shift;

        Index index(std::uint64_t content) const { return first + static_cast<Index>(content * factor >> shift); }
    };
    static constexpr std::uint64_t kMix = 0x9e37'79b9'7f4a'7c15;
    using Turn = std::array<std::uint8_t, 16>;  // the cell that each place takes its number from
    struct Image {
        Turn shuffle;
        std::vector<std::uint64_t> masks;
    };

#if defined(__BMI2__) && defined(__SSSE3__)
    // The numbers on the turned cells, four bits each.
    static std::uint64_t nibbles(__m128i board, const Turn& turn) {
        const __m128i turned = _mm_shuffle_epi8(board, _mm_loadu_si128(reinterpret_cast<const __m128i*>(turn.data())));
        const __m128i pairs = _mm_maddubs_epi16(turned, _mm_set1_epi16(0x1001));
        return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs)));
    }
#endif

    // Where a key is, or the empty slot where it belongs.
    std::size_t slot_of(std::uint64_t key) const {
        const std::size_t mask = keys_.size() - 1;
        std::size_t slot = (key * kMix >> 20) & mask;
        while (keys_[slot] != key && keys_[slot] != kNone) slot = (slot + 1) & mask;
        return slot;
    }

    void grow() {
        const auto keys = std::move(keys_);
        const auto values = std::move(key_values_);
        const std::size_t size = std::max<std::size_t>(1024, 2 * keys.size());
        keys_.assign(size, kNone);
        key_values_.assign(size, 0.0f);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i] == kNone) continue;
            const std::size_t slot = slot_of(keys[i]);
            keys_[slot] = keys[i];
            key_values_[slot] = values[i];
        }
    }
    // Zeros, which take memory when they are first touched, in large pages where there are some.
    static float* allocate(std::size_t bytes);

    static float load(const float& x) {
        return std::atomic_ref<float>(const_cast<float&>(x)).load(std::memory_order_relaxed);
    }
    static void store(float& x, float value) { std::atomic_ref<float>(x).store(value, std::memory_order_relaxed); }

    int cells_, bits_;
    std::size_t stride_;
    float first_value_;
    bool packed_ = false;
    std::size_t side_ = 0, weights_ = 0;  // weights of a side, and of all
    std::vector<Lookup> lookups_;
    std::vector<int> places_;
    std::vector<Image> images_;
    std::vector<Turn> turns_;  // one per symmetry
    std::vector<std::vector<int>> symmetries_;
    std::vector<std::uint64_t> keys_;
    std::vector<float> key_values_;
    std::size_t positions_ = 0;
    float optimism_ = 0.0f;
    std::unique_ptr<float[], void (*)(float*)> data_{nullptr, [](float* data) { std::free(data); }};
};

inline float* TupleNet::allocate(std::size_t bytes) {
    auto* data = static_cast<float*>(std::calloc(1, bytes));
    if (!data) throw std::bad_alloc();
#ifdef __linux__
    constexpr std::uintptr_t kPage = std::uintptr_t(1) << 21;
    const auto begin = (reinterpret_cast<std::uintptr_t>(data) + kPage - 1) / kPage * kPage;
    const auto end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / kPage * kPage;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
    return data;
}

struct TupleSettings {
    double alpha, discount, trace;  // the last is lambda
    int trace_length;  // positions that an error reaches, the last one included
    double first_epsilon, last_epsilon;  // share of random moves in the first game and in the last
    bool every_outcome;  // learn from every outcome of chance, or from the one that is drawn?

    double epsilon(std::int64_t game, std::int64_t games) const {
        if (games < 2) return first_epsilon;
        return first_epsilon +
               (last_epsilon - first_epsilon) * static_cast<double>(game) / static_cast<double>(games - 1);
    }
};

struct TupleTraining {
    std::int64_t games = 0, moves = 0;
    double returns = 0, squares = 0;  // of player 0: the sums over all games
    double best = -std::numeric_limits<double>::infinity();  // and the greatest
    std::array<std::int64_t, 3> results = {0, 0, 0};  // games in which they were above, at and below 0

    void add(const TupleTraining& other) {
        games += other.games;
        moves += other.moves;
        returns += other.returns;
        squares += other.squares;
        best = std::max(best, other.best);
        for (std::size_t i = 0; i < 3; ++i) results[i] += other.results[i];
    }
};

// What the moves of a position are worth, and learning from the one that is played. Each thread has its own.
template <GameState S>
class TupleLearner {
public:
    TupleLearner(TupleNet& net, const CellView& view, const TupleSettings& settings)
        : net_(net), view_(view), settings_(settings), cells_(static_cast<std::size_t>(net.cells())) {}

    // The value of every legal action for the player to move: what it earns, and what the position after it is worth.
    std::span<const double> values(const S& state) {
        const int player = state.player();
        const std::size_t width = net_.lookups();
        actions_.clear();
        after_.clear();
        state.legal_actions(actions_);
        values_.resize(actions_.size());
        found_.resize(actions_.size() * width);
        earned_.resize(actions_.size());
        keys_.resize(actions_.size());
        known_.assign(actions_.size(), nullptr);
        const bool by_position = explores_ || net_.remembered() > 0;  // do positions have values of their own?
        const bool learns = settings_.alpha > 0 && !explores_;
        for (std::size_t i = 0; i < actions_.size(); ++i) {
            after_.push_back(state);
            earned_[i] = apply_for_rewards(after_[i], actions_[i]);
            values_[i] = earned_[i][player == 1];
            if (after_[i].player() == kTerminal) continue;
            view_.read(after_[i], planes_, cells_);
            if (by_position) {
                keys_[i] = net_.key(cells_.data());
                known_[i] = net_.recall(keys_[i]);
                if (known_[i] && !learns) continue;
            }
            net_.find(cells_.data(), player, found_.data() + i * width);
            net_.prefetch(found_.data() + i * width);
        }
        for (std::size_t i = 0; i < actions_.size(); ++i) {
            if (after_[i].player() == kTerminal) continue;
            const auto by_tables = [&] { return net_.value(found_.data() + i * width); };
            values_[i] += known_[i] ? *known_[i] : by_position ? net_.hoped(by_tables()) : by_tables();
        }
        return values_;
    }

    // The same, looking ahead: a position after a move is worth what comes after it, `depth` moves deep.
    std::span<const double> values(const S& state, int depth) {
        values(state);
        if (depth == 0) return values_;
        if (!deeper_) deeper_ = std::make_unique<TupleLearner>(net_, view_, settings_);
        for (std::size_t i = 0; i < values_.size(); ++i) {
            values_[i] = earned_[i][state.player() == 1] + deeper_->expected(after_[i], state.player(), depth);
        }
        return values_;
    }

    // Plays a game and learns from it, unless the learning rate is 0; returns what player 0 earned.
    double play(S state, double epsilon, Rng& rng, std::int64_t& moves) {
        traced_ = 0;
        Returns total{}, earned{};  // in all, and by chance since the last move
        bool due = false;  // has the value of the last position still to be learned?
        const auto pass_chance = [&] {
            earned = {};
            while (state.player() == kChance) {
                const Returns more = apply_for_rewards(state, sample_chance(state, rng));
                for (std::size_t p = 0; p < 2; ++p) earned[p] += more[p], total[p] += more[p];
            }
        };
        pass_chance();
        while (state.player() != kTerminal) {
            const int player = state.player();
            values(state);
            const int n = static_cast<int>(actions_.size());
            const auto best = static_cast<std::size_t>(choose_greatest(values_.data(), n, rng));
            if (due) {
                const double next = settings_.discount * values_[best];
                learn(earned[last() == 1] + (player == last() ? next : -next));
            }
            std::size_t chosen = best;
            if (epsilon > 0 && rng.uniform() < epsilon) {
                chosen = rng.below(static_cast<std::uint32_t>(n));
                if (values_[chosen] < values_[best]) traced_ = 0;  // what follows says nothing about moves before it
            }
            for (std::size_t p = 0; p < 2; ++p) total[p] += earned_[chosen][p];
            state = std::move(after_[chosen]);
            ++moves;
            if (state.player() == kTerminal) return total[0];
            remember(found_.data() + chosen * net_.lookups(), player);
            due = !(settings_.every_outcome && state.player() == kChance);
            if (!due && settings_.alpha > 0) learn(expected(state, player, 1));
            pass_chance();
        }
        if (due) learn(earned[last() == 1]);
        return total[0];
    }

    // A position after a move that was met, with what tells it from others.
    struct Met {
        S state;
        std::uint64_t key;
        float value;  // as long as it is not remembered
        int ply;
    };

    // Plays a game by the values, for one player, and adds the positions after all of its legal moves to `met` that are
    // not remembered; returns what the player earned. Values do not change meanwhile, so that a game may go in circles:
    // it is broken off after kCircle moves that met nothing new.
    double explore(S state, Rng& rng, std::vector<Met>& met, std::int64_t& moves) {
        constexpr int kCircle = 1000;
        double total = 0;
        explores_ = true;
        for (int ply = 0, last = 0; ply < last + kCircle; ++ply) {
            while (state.player() == kChance) total += apply_for_rewards(state, sample_chance(state, rng))[0];
            if (state.player() == kTerminal) return total;
            values(state);
            for (std::size_t i = 0; i < actions_.size(); ++i) {
                if (after_[i].player() == kTerminal || net_.recall(keys_[i])) continue;
                met.push_back({after_[i], keys_[i], static_cast<float>(values_[i] - earned_[i][0]), ply});
                last = ply;
            }
            const auto chosen =
                static_cast<std::size_t>(choose_greatest(values_.data(), static_cast<int>(actions_.size()), rng));
            total += earned_[chosen][0];
            state = std::move(after_[chosen]);
            ++moves;
        }
        return total;
    }

    // The value that a position after a move has by all that may come next.
    double backed_up(const S& state) {
        explores_ = true;
        return expected(state, 0, 1);
    }

private:
    // What a position is worth to the player who moved last, by the values of all moves that may come next.
    double expected(const S& state, int mover, int depth) {
        if (state.player() == kTerminal) return 0.0;
        if (state.player() != kChance) {
            const auto next = values(state, depth - 1);
            const double best = settings_.discount * *std::max_element(next.begin(), next.end());
            return state.player() == mover ? best : -best;
        }
        ChanceList outcomes;
        chance_outcomes(state, outcomes);
        double sum = 0;
        for (const auto& [outcome, probability] : outcomes) {
            S after = state;
            const double earned = apply_for_rewards(after, outcome)[mover == 1];
            sum += probability * (earned + expected(after, mover, depth));
        }
        return sum;
    }

    void remember(const TupleNet::Index* found, int player) {
        const auto width = net_.lookups(), most = static_cast<std::size_t>(settings_.trace_length);
        trace_.resize(most * width);
        movers_.resize(most);
        head_ = (head_ + 1) % most;
        std::copy(found, found + width, trace_.begin() + static_cast<std::ptrdiff_t>(head_ * width));
        movers_[head_] = player;
        traced_ = std::min(traced_ + 1, most);
    }

    // Who made the last move.
    int last() const { return movers_[head_]; }

    // `target` is what the last position turned out to be worth to whoever moved there.
    void learn(double target) {
        if (settings_.alpha == 0) return;
        const auto width = net_.lookups(), most = static_cast<std::size_t>(settings_.trace_length);
        const float error = static_cast<float>(target) - net_.value(trace_.data() + head_ * width);
        float decayed = error;
        for (std::size_t k = 0; k < traced_; ++k) {
            const std::size_t at = (head_ + most - k) % most;
            net_.learn(trace_.data() + at * width, static_cast<float>(settings_.alpha),
                       movers_[at] == movers_[head_] ? decayed : -decayed, changed_);
            decayed *= static_cast<float>(settings_.discount * settings_.trace);
        }
    }

    TupleNet& net_;
    const CellView& view_;
    const TupleSettings settings_;
    ActionList actions_;
    std::vector<S> after_;
    std::vector<double> values_;
    std::vector<TupleNet::Index> found_, trace_;
    std::vector<std::uint64_t> keys_;  // of the positions after all actions, if they are looked up
    std::vector<const float*> known_;  // the values of those that are remembered, or null
    bool explores_ = false;
    std::vector<Returns> earned_;  // by every action
    std::vector<int> movers_;
    std::size_t head_ = 0, traced_ = 0;
    std::vector<std::uint8_t> cells_;
    std::vector<float> planes_, changed_;
    std::unique_ptr<TupleLearner> deeper_;  // looks ahead
};

// Positions after a move that are remembered one by one, for one player. Games find them; a sweep gives each of them,
// the latest in a game first, the value that follows from all outcomes of chance and the best next moves. Nothing depends
// on the number of threads.
template <GameState S>
class TupleSweeper {
public:
    TupleSweeper(TupleNet& net, const CellView& view, const TupleSettings& settings, std::size_t most, int threads)
        : net_(net), view_(view), settings_(settings), most_(most), threads_(threads) {}

    // Plays games first .. end-1 from `start` and remembers what they meet. Game i has the random stream (seed, i).
    TupleTraining explore(const S& start, std::int64_t first, std::int64_t end, std::uint64_t seed, Control& control) {
        struct Game {
            std::vector<typename TupleLearner<S>::Met> met;
            double returns = 0;
            std::int64_t moves = 0;
        };
        std::vector<Game> games(static_cast<std::size_t>(end - first));
        parallel_blocks(end - first, threads_, [&](std::int64_t i) {
            if (control.stopped()) return;
            Rng rng(seed, static_cast<std::uint64_t>(first + i));
            Game& game = games[static_cast<std::size_t>(i)];
            game.returns = TupleLearner<S>(net_, view_, settings_).explore(start, rng, game.met, game.moves);
        });
        TupleTraining total;
        for (Game& game : games) {
            total.add({1,
                       game.moves,
                       game.returns,
                       game.returns * game.returns,
                       game.returns,
                       {game.returns > 0, game.returns == 0, game.returns < 0}});
            for (auto& met : game.met) {
                if (net_.remembered() >= most_ || net_.recall(met.key)) continue;
                const auto ply = static_cast<std::size_t>(met.ply);
                if (plies_.size() <= ply) plies_.resize(ply + 1);
                net_.remember(met.key, met.value);
                plies_[ply].push_back({std::move(met.state), met.key});
            }
        }
        return total;
    }

    // Gives every remembered position its value anew.
    void sweep(Control& control) {
        std::vector<float> values;
        for (std::size_t ply = plies_.size(); ply-- > 0;) {
            const auto& positions = plies_[ply];
            const auto count = static_cast<std::int64_t>(positions.size());
            constexpr std::int64_t kBlock = 256;
            values.resize(positions.size());
            parallel_blocks((count + kBlock - 1) / kBlock, threads_, [&](std::int64_t block) {
                TupleLearner<S> learner(net_, view_, settings_);
                for (std::int64_t i = kBlock * block; i < std::min(count, kBlock * (block + 1)); ++i) {
                    const auto at = static_cast<std::size_t>(i);
                    values[at] = static_cast<float>(learner.backed_up(positions[at].state));
                }
            });
            for (std::size_t i = 0; i < positions.size(); ++i) net_.remember(positions[i].key, values[i]);
            if (control.stopped()) return;
        }
    }

private:
    struct Position {
        S state;
        std::uint64_t key;
    };

    TupleNet& net_;
    const CellView& view_;
    const TupleSettings settings_;
    std::size_t most_;
    int threads_;
    std::vector<std::vector<Position>> plies_;  // by the move of a game after which they were first met
};

// Plays games first .. end-1 of `games` and learns from them, `threads` at the same time. Game i begins in
// starts[(i - first) % starts.size()] and has the random stream (seed, i): on one thread, training in parts is the same as
// training at once. After `seconds`, unless they are 0, or when stopped, no game begins any more. `control.done` counts
// games.
template <GameState S>
TupleTraining learn_tuples(TupleNet& net, const CellView& view, const TupleSettings& settings,
                           std::span<const S> starts, std::int64_t first, std::int64_t end, std::int64_t games,
                           std::uint64_t seed, int threads, double seconds, Control& control) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const int workers = usable_threads(threads);
    std::vector<TupleTraining> parts(static_cast<std::size_t>(workers));
    std::atomic<std::int64_t> next{first};
    parallel_blocks(workers, workers, [&](std::int64_t worker) {
        TupleLearner<S> learner(net, view, settings);
        TupleTraining part;
        while (!control.stopped()) {
            if (seconds > 0 && std::chrono::duration<double>(Clock::now() - begin).count() > seconds) break;
            const std::int64_t game = next++;
            if (game >= end) break;
            Rng rng(seed, static_cast<std::uint64_t>(game));
            const S& start = starts[static_cast<std::size_t>(game - first) % starts.size()];
            const double returns = learner.play(start, settings.epsilon(game, games), rng, part.moves);
            ++part.games;
            part.returns += returns;
            part.squares += returns * returns;
            part.best = std::max(part.best, returns);
            ++part.results[returns > 0 ? 0 : returns < 0 ? 2 : 1];
            control.add(1);
        }
        parts[static_cast<std::size_t>(worker)] = part;
    });
    TupleTraining total;
    for (const auto& part : parts) total.add(part);
    return total;
}

}  // namespace rookery
