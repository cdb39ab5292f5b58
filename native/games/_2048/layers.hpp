// Small boards of 2048 solved exactly.
//
// A move keeps the sum of the tiles and a new tile raises it, so that positions lie in layers by their sum, and no
// position can come back. All layers are listed in rising order, then their values are computed in falling order: what
// perfect play still earns. Images of a board in mirrors and turned round are one position, and only positions in which
// a move is due are kept, with 12 bytes each: a board of nine cells is known by eight of them and its sum.
#pragma once

#include <bit>
#include <functional>
#include <optional>
#include <span>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "core/workers.hpp"
#include "games/_2048/rules.hpp"

namespace rookery::_2048 {

inline constexpr int kMaxLayeredCells = 9;

class Layers {
public:
    // A position of a layer: the exponents of its first eight cells, scattered by a multiplication that can be undone,
    // so that keys are spread evenly and lie near their place in a sorted list.
    using Key = std::uint32_t;
    // What solving takes; the keys are there twice while the layers are put together.
    static constexpr std::int64_t kPositionBytes = 2 * sizeof(Key) + sizeof(double);

    // How many positions there are.
    struct Counts {
        std::int64_t ends = 0;  // positions in which nothing moves
        std::int64_t chances = 0;  // positions in which a tile is due, besides those that are kept
        std::int64_t moves = 0;  // and new tiles, over all positions
    };

    // What was solved before. Layer i has the keys from first[i] to first[i + 1], rising.
    Layers(const Rules& rules, int first_sum, std::vector<std::uint64_t> first, std::vector<Key> keys,
           std::vector<double> values, const Counts& counts)
        : rules_(rules), first_sum_(first_sum), first_(std::move(first)), keys_(std::move(keys)),
          values_(std::move(values)), counts_(counts) {
        check_size();
        bool good = keys_.size() == values_.size() && !first_.empty() && first_.front() == 0 &&
                    first_.back() == keys_.size() && std::is_sorted(first_.begin(), first_.end());
        for (std::size_t i = 0; good && i < size(); ++i) {
            const auto layer = layer_keys(i);
            good = std::adjacent_find(layer.begin(), layer.end(), std::greater_equal<>()) == layer.end();
        }
        if (!good) throw std::invalid_argument("the layers do not fit together");
    }

    // Solves what can be reached from a state; `control.done` counts positions. Throws std::invalid_argument when more
    // than `most_positions` are met or they need more than `most_bytes`. Stopped early, what is there is of no use.
    Layers(const State& start, std::int64_t most_positions, std::int64_t most_bytes, int threads, Control& control)
        : rules_(start.rules()), first_sum_(half_sum(start.board())) {
        check_size();
        Workers workers(usable_threads(threads));
        list(start, most_positions, most_bytes, workers, control);
        evaluate(workers, control);
    }

    const Rules& rules() const { return rules_; }
    int first_sum() const { return first_sum_; }  // half the sum of the tiles in the first layer
    const std::vector<std::uint64_t>& first() const { return first_; }
    const std::vector<Key>& keys() const { return keys_; }
    const std::vector<double>& values() const { return values_; }
    const Counts& counts() const { return counts_; }

    // What perfect play still earns in any state; nothing if that was not solved.
    std::optional<double> value(const State& state) const {
        if (state.due() == 0) return find(state.board());
        if (state.due() == 1) return after_chance(state.board(), [&](Board board) { return find(board); });
        return after_chance(state.board(),
                            [&](Board one) { return after_chance(one, [&](Board two) { return find(two); }); });
    }

private:
    void check_size() const {
        if (rules_.cells() > kMaxLayeredCells) {
            throw std::invalid_argument("boards of up to " + std::to_string(kMaxLayeredCells) + " cells can be solved");
        }
    }

    std::size_t size() const { return first_.size() - 1; }
    std::span<const Key> layer_keys(std::size_t layer) const {
        return {keys_.data() + first_[layer], keys_.data() + first_[layer + 1]};
    }

    static constexpr int kShards = 16;  // lists of keys by their highest bits
    static constexpr Key kScatter = 0x9e3779b1, kGather = 0xe8b2f51;

    using Shards = std::array<std::vector<Key>, kShards>;

    // Half the sum of the tiles: a tile 2^e counts 2^(e - 1).
    static int half_sum(Board board) {
        int sum = 0;
        for (; board; board >>= 4) sum += 1 << (board & 15) >> 1;
        return sum;
    }

    Key key(Board board) const {
        const int row_bits = 4 * rules_.columns();
        std::uint64_t code = 0;
        for (int row = 0; row < rules_.rows(); ++row) {
            code |= (board >> (16 * row) & ((1u << row_bits) - 1)) << (row_bits * row);
        }
        return static_cast<Key>(code) * kScatter;
    }
    Key canonical_key(Board board) const { return key(rules_.canonical(board)); }

    Board board(Key key, int sum) const {
        const int row_bits = 4 * rules_.columns();
        std::uint64_t code = key * kGather;
        if (rules_.cells() == 9) {
            const int rest = sum - half_sum(code);
            if (rest > 0) code |= std::uint64_t(1 + std::countr_zero(static_cast<unsigned>(rest))) << 32;
        }
        Board board = 0;
        for (int row = 0; row < rules_.rows(); ++row) {
            board |= (code >> (row_bits * row) & ((1u << row_bits) - 1)) << (16 * row);
        }
        return board;
    }

    // The mean over the new tiles of what `worth` says of the board with each; anything unknown makes it unknown.
    template <class Worth>
    std::optional<double> after_chance(Board board, Worth&& worth) const {
        const Board empty = rules_.empty(board);
        double twos = 0, fours = 0;
        for (Board left = empty; left; left &= left - 1) {
            const Board cell = left & -left;
            const std::optional<double> two = worth(board | cell), four = worth(board | cell << 1);
            if (!two || !four) return std::nullopt;
            twos += *two;
            fours += *four;
        }
        return ((1 - kShareOfFours) * twos + kShareOfFours * fours) / popcount(empty);
    }

    std::optional<double> find(Board board) const {
        const int number = half_sum(board) - first_sum_;
        if (number < 0 || number >= static_cast<int>(size())) return std::nullopt;
        const auto layer = layer_keys(number);
        const Key wanted = canonical_key(board);
        const auto found = std::lower_bound(layer.begin(), layer.end(), wanted);
        if (found == layer.end() || *found != wanted) return std::nullopt;
        return values_[first_[number] + (found - layer.begin())];
    }

    // Listing

    static void put(Shards& shards, Key key) { shards[key >> 28].push_back(key); }

    // The different keys in lists, rising. They are put where they belong in a table with gaps, in order, so that it
    // only needs to be read.
    static std::vector<Key> sorted(const std::vector<Shards>& lists, Workers& workers) {
        Shards found;
        workers.run(kShards, [&](std::int64_t shard) {
            std::size_t count = 0;
            for (const Shards& part : lists) count += part[shard].size();
            std::vector<Key> table(3 * count);  // 0 is no key: of all images the least has a tile in the first cells
            for (const Shards& part : lists) {
                for (Key key : part[shard]) {
                    std::size_t at = static_cast<std::size_t>((std::uint64_t(key & 0x0fff'ffff) * (2 * count)) >> 28);
                    while (table[at] != 0 && table[at] < key) ++at;
                    if (table[at] == key) continue;
                    while (key != 0) std::swap(key, table[at++]);
                }
            }
            std::erase(table, Key(0));
            found[shard] = std::move(table);
        });
        std::vector<Key> all;
        std::size_t count = 0;
        for (const auto& keys : found) count += keys.size();
        all.reserve(count);
        for (const auto& keys : found) all.insert(all.end(), keys.begin(), keys.end());
        return all;
    }

    // Calls work(part, first, last) for parts of a list, in parallel.
    static constexpr std::int64_t kPart = 2048;
    static std::int64_t parts(std::size_t count) { return (static_cast<std::int64_t>(count) + kPart - 1) / kPart; }
    template <class Work>
    static void in_parts(std::size_t count, Workers& workers, Work&& work) {
        workers.run(parts(count), [&](std::int64_t part) {
            const auto first = static_cast<std::size_t>(part * kPart);
            work(part, first, std::min(count, first + kPart));
        });
    }

    void list(const State& start, std::int64_t most_positions, std::int64_t most_bytes, Workers& workers,
              Control& control) {
        std::array<std::vector<Shards>, 2> found;  // positions of this layer and the next
        std::array<std::vector<Shards>, 3> waiting;  // of this and the next two: boards for a tile, at the start
        if (start.due() == 0) {
            put(found[0].emplace_back(), canonical_key(start.board()));
        } else if (start.due() == 1) {
            put(waiting[0].emplace_back(), canonical_key(start.board()));
        } else {
            for (int tile = 1; tile <= 2; ++tile) {
                Shards& boards = waiting[tile].emplace_back();
                for (int cell = 0; cell < rules_.cells(); ++cell) {
                    put(boards, canonical_key(Board(tile) << rules_.shift(cell)));
                }
            }
        }
        std::vector<std::vector<Key>> layers;
        std::int64_t positions = 0;
        std::atomic<std::int64_t> ends = 0, moves = 0;
        const auto any = [](const auto& lists) {
            return std::any_of(lists.begin(), lists.end(), [](const auto& list) { return !list.empty(); });
        };
        for (int sum = first_sum_; (any(found) || any(waiting)) && !control.stopped(); ++sum) {
            const std::vector<Key>& layer = layers.emplace_back(sorted(found[0], workers));
            positions += static_cast<std::int64_t>(layer.size());
            control.add(static_cast<std::int64_t>(layer.size()));
            if (positions > most_positions) {
                throw std::invalid_argument("more than " + std::to_string(most_positions) +
                                            " positions can be reached");
            }
            if (positions * kPositionBytes > most_bytes) {
                throw std::invalid_argument("the positions that can be reached need more than " +
                                            std::to_string(most_bytes / 1'000'000) + " MB of memory");
            }
            std::vector<Shards> after(parts(layer.size()));
            in_parts(layer.size(), workers, [&](std::int64_t part, std::size_t first, std::size_t last) {
                std::int64_t ended = 0, moved = 0;
                for (std::size_t i = first; i < last; ++i) {
                    const Board before = board(layer[i], sum);
                    const auto directions = static_cast<unsigned>(rules_.moves(before));
                    ended += directions == 0;
                    moved += std::popcount(directions);
                    for (Action direction = 0; direction < kDirections; ++direction) {
                        std::uint32_t reward;
                        if (directions >> direction & 1) {
                            put(after[part], canonical_key(rules_.slid(before, direction, reward)));
                        }
                    }
                }
                ends += ended;
                moves += moved;
            });
            for (auto& shards : waiting[0]) after.push_back(std::move(shards));
            const std::vector<Key> chances = sorted(after, workers);
            counts_.chances += static_cast<std::int64_t>(chances.size());
            std::vector<Shards> twos(parts(chances.size())), fours(parts(chances.size()));
            in_parts(chances.size(), workers, [&](std::int64_t part, std::size_t first, std::size_t last) {
                std::int64_t outcomes = 0;
                for (std::size_t i = first; i < last; ++i) {
                    const Board before = board(chances[i], sum);
                    for (Board left = rules_.empty(before); left; left &= left - 1) {
                        const Board cell = left & -left;
                        put(twos[part], canonical_key(before | cell));
                        put(fours[part], canonical_key(before | cell << 1));
                        outcomes += 2;
                    }
                }
                moves += outcomes;
            });
            found[0] = std::move(found[1]);
            found[1] = std::move(fours);
            for (auto& shards : twos) found[0].push_back(std::move(shards));
            waiting[0] = std::move(waiting[1]);
            waiting[1] = std::move(waiting[2]);
            waiting[2].clear();
        }
        counts_.ends = ends;
        counts_.moves = moves;
        first_ = {0};
        keys_.reserve(static_cast<std::size_t>(positions));
        for (std::vector<Key>& layer : layers) {
            keys_.insert(keys_.end(), layer.begin(), layer.end());
            first_.push_back(keys_.size());
            layer = {};
        }
    }

    // Evaluating

    // Finds the values of a layer: first[b] is the first of the keys that begin with the bits b.
    class Index {
    public:
        Index() = default;
        Index(std::span<const Key> keys, const double* values) : keys_(keys), values_(values) {
            const int bits = static_cast<int>(std::bit_width(keys.size() / 2)) + 1;
            shift_ = 32 - bits;
            first_.resize(std::size_t(1) << bits);
            std::uint32_t i = 0;
            for (std::size_t bucket = 0; bucket < first_.size(); ++bucket) {
                while (i < keys.size() && keys[i] >> shift_ < bucket) ++i;
                first_[bucket] = i;
            }
        }
        // The key must be there.
        double operator[](Key key) const {
            std::uint32_t i = first_[key >> shift_];
            while (keys_[i] != key) ++i;
            return values_[i];
        }

    private:
        std::span<const Key> keys_;
        const double* values_ = nullptr;
        std::vector<std::uint32_t> first_;
        int shift_ = 0;
    };

    void evaluate(Workers& workers, Control& control) {
        Index next, after_next;
        values_.resize(keys_.size());
        for (std::size_t number = size(); number-- > 0 && !control.stopped();) {
            const auto layer = layer_keys(number);
            double* const values = values_.data() + first_[number];
            const int sum = first_sum_ + static_cast<int>(number);
            in_parts(layer.size(), workers, [&](std::int64_t, std::size_t first, std::size_t last) {
                for (std::size_t i = first; i < last; ++i) {
                    const Board before = board(layer[i], sum);
                    const int directions = rules_.moves(before);
                    double best = 0;
                    for (Action direction = 0; direction < kDirections; ++direction) {
                        if (!(directions >> direction & 1)) continue;
                        std::uint32_t reward;
                        const Board after = rules_.slid(before, direction, reward), empty = rules_.empty(after);
                        double twos = 0, fours = 0;
                        for (Board left = empty; left; left &= left - 1) {
                            const Board cell = left & -left;
                            twos += next[canonical_key(after | cell)];
                            fours += after_next[canonical_key(after | cell << 1)];
                        }
                        const double chance = ((1 - kShareOfFours) * twos + kShareOfFours * fours) / popcount(empty);
                        best = std::max(best, reward + chance);
                    }
                    values[i] = best;
                }
            });
            after_next = std::move(next);
            next = Index(layer, values);
        }
    }

    Rules rules_;
    int first_sum_;
    std::vector<std::uint64_t> first_;
    std::vector<Key> keys_;
    std::vector<double> values_;
    Counts counts_;
};

}  // namespace rookery::_2048
