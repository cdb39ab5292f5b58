// Checkers with few pieces, solved: the distance to the end of the game in every position, found backwards.
//
// A distance counts plies until the loser cannot move, the winner taking the shortest way and the loser the longest. An
// odd number means that the side to move wins, an even one that it loses; what never gets a number is drawn.
//
// Positions are looked at as the side to move sees them, Black after `seen_by_mover`, so one table serves both colours.
// They are numbered material by material: fewer pieces first, then fewer men, because captures and promotions lead
// there. A material and the same one seen by the other side form a group: quiet moves lead from one to the other. A group
// is solved level by level: level n settles the positions of distance n + 1 from those of distance n.
//
// Materials of few pieces lie in memory, a byte per position. Those of more pieces are packed in files (`packed.hpp`),
// without the positions in which a capture must be made: their values follow from those after the captures.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "games/checkers/packed.hpp"
#include "games/checkers/rules.hpp"

namespace rookery::checkers {

class Database {
public:
    static constexpr int kMostPieces = 6;

    // A byte of the table: plies, or one of these.
    static constexpr std::uint8_t kDrawn = 254;
    static constexpr std::uint8_t kUnused = 255;  // pieces would stand on one square

    struct Material {
        int men, kings, other_men, other_kings;  // of the side to move, then of the other
        std::size_t first = 0, size = 0;  // its numbers

        int pieces() const { return men + kings + other_men + other_kings; }
        int all_men() const { return men + other_men; }
    };

    // Wins, draws and losses of the side to move, and the longest distance.
    struct Counts {
        std::uint64_t wins = 0, draws = 0, losses = 0, longest = 0;
    };

    // The materials that are solved together, by their places in `materials`; one of them if both are the same.
    using Group = std::vector<std::size_t>;

    // The numbers of all positions of up to `pieces` pieces with both sides on the board. Those of up to `whole` pieces
    // lie in the table, which is still empty; files for all others are to be attached.
    Database(int pieces, int whole) : pieces_(pieces), whole_(whole) {
        if (pieces < 2 || pieces > kMostPieces) throw std::invalid_argument("the endgames have 2 to 6 pieces");
        if (whole < 2 || whole > pieces) throw std::invalid_argument("the table has 2 pieces or more");
        for (int n = 2; n <= pieces; ++n) {
            for (int all_men = 0; all_men <= n; ++all_men) {
                for_each_material(n, all_men, [&](Material m) {
                    m.first = size_;
                    m.size =
                        choose(28, m.men) * choose(32, m.kings) * choose(28, m.other_men) * choose(32, m.other_kings);
                    size_ += m.size;
                    place_[m.men][m.kings][m.other_men][m.other_kings] = static_cast<std::uint8_t>(materials_.size());
                    materials_.push_back(m);
                });
            }
            if (n <= whole) table_size_ = size_;
        }
        for (std::size_t i = 0; i < materials_.size(); ++i) {
            const Material& m = materials_[i];
            const std::size_t other = place_[m.other_men][m.other_kings][m.men][m.kings];
            if (other >= i) groups_.push_back(other == i ? Group{i} : Group{i, other});
        }
        packed_.resize(materials_.size());
    }

    Database(const Database&) = delete;

    Bytes table;  // by number, up to `table_size`

    int pieces() const { return pieces_; }
    int whole() const { return whole_; }
    std::size_t size() const { return size_; }
    std::size_t table_size() const { return table_size_; }
    const std::vector<Material>& materials() const { return materials_; }
    const std::vector<Group>& groups() const { return groups_; }

    bool covers(const Position& p) const { return std::popcount(p.pieces[0] | p.pieces[1]) <= pieces_; }

    // The place in `materials` of the material of a position seen by the mover, which has pieces of both sides.
    std::size_t place(const Position& p) const {
        const Squares men = p.own() & ~p.kings, kings = p.own() & p.kings;
        const Squares other_men = p.other() & ~p.kings, other_kings = p.other() & p.kings;
        return place_[std::popcount(men)][std::popcount(kings)][std::popcount(other_men)][std::popcount(other_kings)];
    }

    // The number of a position seen by the mover among those of its material.
    static std::size_t number_within(const Position& p) {
        const Squares men = p.own() & ~p.kings, kings = p.own() & p.kings;
        const Squares other_men = p.other() & ~p.kings, other_kings = p.other() & p.kings;
        const int b = std::popcount(kings), c = std::popcount(other_men), d = std::popcount(other_kings);
        // Men of the other side, who go up, stand on 4 to 31.
        return ((rank(men) * choose(32, b) + rank(kings)) * choose(28, c) + rank(other_men >> 4)) * choose(32, d) +
               rank(other_kings);
    }

    // The number of a position that is covered and has pieces of both sides.
    std::size_t number(const Position& given) const {
        const Position p = seen_by_mover(given);
        return materials_[place(p)].first + number_within(p);
    }

    // The position of a number among those of this material, Black to move; false if pieces would stand on one square.
    static bool position(const Material& m, std::size_t number, Position& p) {
        const auto take = [&number](int squares, int k) {
            const std::size_t n = choose(squares, k), digit = number % n;
            number /= n;
            return subsets()[k][digit];
        };
        const Squares other_kings = take(32, m.other_kings), other_men = take(28, m.other_men) << 4;
        const Squares kings = take(32, m.kings), men = take(28, m.men);
        p = {{men | kings, other_men | other_kings}, kings | other_kings, kBlack};
        return std::popcount(men | kings | other_men | other_kings) == m.pieces();
    }

    // Calls visit(number, position) for all positions of a material with numbers, within it, from `begin` to `end` - 1.
    template <class Visit>
    static void for_each_position(const Material& m, std::size_t begin, std::size_t end, Visit&& visit) {
        const std::array<int, 4> counts = {m.other_kings, m.other_men, m.kings, m.men};
        std::array<std::size_t, 4> digits, sizes;
        for (std::size_t i = 0, rest = begin; i < 4; ++i) {
            sizes[i] = choose(i % 2 ? 28 : 32, counts[i]);
            digits[i] = rest % sizes[i];
            rest /= sizes[i];
        }
        const auto& sets = subsets();
        for (std::size_t number = begin; number < end; ++number) {
            const Squares other_kings = sets[counts[0]][digits[0]], other_men = sets[counts[1]][digits[1]] << 4;
            const Squares kings = sets[counts[2]][digits[2]], men = sets[counts[3]][digits[3]];
            if (!((men & (kings | other_men | other_kings)) | (kings & (other_men | other_kings)) |
                  (other_men & other_kings)))
                visit(number, Position{{men | kings, other_men | other_kings}, kings | other_kings, kBlack});
            for (std::size_t i = 0; i < 4 && ++digits[i] == sizes[i]; ++i) digits[i] = 0;
        }
    }

    const Material& material(std::size_t number) const {
        for (const Material& m : materials_) {
            if (number - m.first < m.size) return m;
        }
        throw std::out_of_range("there are fewer positions than that");
    }

    // The value of a position, which must be covered; std::invalid_argument if a file is damaged.
    std::uint8_t look_up(const Position& p) const;

    Counts counts(std::size_t place) const {
        const Material& m = materials_.at(place);
        if (m.first + m.size <= table.size()) return count(std::span(table).subspan(m.first, m.size));
        if (!packed_[place]) throw std::invalid_argument("the material is not solved");
        Counts found;
        std::memcpy(&found, packed_[place]->extra().data(), sizeof found);
        return found;
    }

    // Reads the values of a material from a file; std::invalid_argument says what is wrong with it.
    void attach(std::size_t place, const std::string& path) {
        const Material& m = materials_.at(place);
        auto packed = std::make_unique<Packed>(path);
        const Bytes name = name_of(m);
        const auto extra = packed->extra();
        if (packed->size() != m.size || extra.size() != sizeof(Counts) + name.size() ||
            !std::equal(name.begin(), name.end(), extra.begin() + sizeof(Counts)))
            throw std::invalid_argument("it holds something else");
        packed_[place] = std::move(packed);
    }

    // Looks at the checksums of all blocks of a material's file; std::invalid_argument if one is wrong.
    void verify(std::size_t place) const {
        if (!packed_.at(place)) throw std::invalid_argument("there is no file for the material");
        for (std::size_t block = 0; block < packed_[place]->blocks(); ++block)
            static_cast<void>((*packed_[place])[block * Packed::kBlock]);
    }

    // The content of a file for a material with these values.
    Bytes pack(std::size_t place, Bytes values, int threads) const {
        const Material& m = materials_.at(place);
        const Counts counts = count(values);
        // What is not asked for continues the run before it, at the beginning of a line the one after it.
        const auto lines = static_cast<std::int64_t>((m.size + Packed::kLine - 1) / Packed::kLine);
        constexpr std::int64_t kChunk = 1 << 10;
        parallel_blocks((lines + kChunk - 1) / kChunk, threads, [&](std::int64_t chunk) {
            for (std::int64_t line = chunk * kChunk; line < std::min(lines, (chunk + 1) * kChunk); ++line) {
                const std::size_t begin = static_cast<std::size_t>(line) * Packed::kLine;
                const std::size_t end = std::min(m.size, begin + Packed::kLine);
                std::size_t filled = begin;
                std::uint8_t value = kDrawn;
                for_each_position(m, begin, end, [&](std::size_t number, const Position& p) {
                    if (find_starts(p).captures) return;
                    const std::uint8_t now = values[number];
                    std::fill(values.begin() + filled, values.begin() + number, filled == begin ? now : value);
                    value = now;
                    filled = number + 1;
                });
                std::fill(values.begin() + filled, values.begin() + end, value);
            }
        });
        Bytes extra(sizeof counts);
        std::memcpy(extra.data(), &counts, sizeof counts);
        const Bytes name = name_of(m);
        extra.insert(extra.end(), name.begin(), name.end());
        return Packed::pack(extra, values, threads);
    }

    // Brings the values of all materials that the table of another database has into it.
    void unpack_into(Database& other, int threads, Control& control) const;

private:
    friend class Solver;

    template <class Visit>
    static void for_each_material(int pieces, int all_men, Visit&& visit) {
        for (int men = 0; men <= all_men; ++men) {
            for (int kings = 0; kings <= pieces - all_men; ++kings) {
                const Material m{men, kings, all_men - men, pieces - all_men - kings};
                if (m.men + m.kings > 0 && m.other_men + m.other_kings > 0) visit(m);
            }
        }
    }

    static Counts count(std::span<const std::uint8_t> values) {
        std::array<std::uint64_t, 256> seen{};
        for (const std::uint8_t value : values) ++seen[value];
        Counts found;
        found.draws = seen[kDrawn];
        for (int plies = 0; plies < kDrawn; ++plies) {
            (plies % 2 ? found.wins : found.losses) += seen[plies];
            if (seen[plies]) found.longest = plies;
        }
        return found;
    }

    static Bytes name_of(const Material& m) {
        Bytes name;
        for (const int n : {m.men, m.kings, m.other_men, m.other_kings}) name.push_back(static_cast<std::uint8_t>(n));
        return name;
    }

    static constexpr auto kChoose = [] {
        std::array<std::array<std::uint32_t, kMostPieces + 1>, 33> c{};
        for (int i = 0; i <= 32; ++i) {
            c[i][0] = 1;
            for (int j = 1; i > 0 && j <= kMostPieces; ++j) c[i][j] = c[i - 1][j - 1] + c[i - 1][j];
        }
        return c;
    }();
    static std::size_t choose(int n, int k) { return kChoose[n][k]; }

    // Sets of k squares are numbered so that those among the first n squares come before all others.
    static std::size_t rank(Squares squares) {
        std::size_t r = 0;
        for (int k = 1; squares; squares &= squares - 1, ++k) r += choose(std::countr_zero(squares), k);
        return r;
    }

    // The sets of k squares by rank.
    static const std::array<std::vector<Squares>, kMostPieces>& subsets() {
        static const auto lists = [] {
            std::array<std::vector<Squares>, kMostPieces> sets;
            for (int k = 0; k < kMostPieces; ++k) {
                sets[k].resize(choose(32, k));
                // The next number with as many bits (Gosper).
                std::uint64_t s = (std::uint64_t(1) << k) - 1;
                for (std::size_t i = 0; i < sets[k].size(); ++i) {
                    sets[k][i] = static_cast<Squares>(s);
                    if (!s) break;
                    const std::uint64_t low = s & -s, ripple = s + low;
                    s = ripple | ((s ^ ripple) >> 2) / low;
                }
            }
            return sets;
        }();
        return lists;
    }

    int pieces_, whole_;
    std::size_t size_ = 0, table_size_ = 0;
    std::vector<Material> materials_;
    std::vector<Group> groups_;
    std::uint8_t place_[kMostPieces + 1][kMostPieces + 1][kMostPieces + 1][kMostPieces + 1] = {};
    std::vector<std::unique_ptr<const Packed>> packed_;  // by place
};

// The byte of a position from the bytes of all the positions that its moves lead to.
class BestOf {
public:
    void add(std::uint8_t next) {
        if (next == Database::kDrawn) {
            drawn_ = true;
        } else if (next % 2 == 0) {
            win_ = std::min<int>(win_, next + 1);
        } else {
            loss_ = std::max<int>(loss_, next + 1);
        }
    }

    std::uint8_t value() const {
        return static_cast<std::uint8_t>(win_ < Database::kDrawn ? win_ : drawn_ ? int(Database::kDrawn) : loss_);
    }

private:
    int win_ = Database::kDrawn, loss_ = 0;  // without a move the game is lost now
    bool drawn_ = false;
};

inline std::uint8_t Database::look_up(const Position& given) const {
    if (!given.own() || !given.other()) return find_starts(given).any();
    const Position p = seen_by_mover(given);
    const std::size_t at = place(p);
    const std::size_t number = materials_[at].first + number_within(p);
    if (number < table_size_) return table[number];
    const Starts starts = find_starts(p);
    if (starts.captures) {
        BestOf best;
        for_each_action(p, starts, [&](Action action) { best.add(look_up(play(p, action))); });
        return best.value();
    }
    if (!packed_[at]) throw std::invalid_argument("the material is not solved");
    return (*packed_[at])[number - materials_[at].first];
}

inline void Database::unpack_into(Database& other, int threads, Control& control) const {
    if (other.table_size_ > size_) throw std::invalid_argument("fewer pieces are solved");
    std::copy_n(table.begin(), std::min(table.size(), other.table.size()), other.table.begin());
    for (std::size_t at = 0; at < materials_.size(); ++at) {
        const Material& m = materials_[at];
        if (!packed_[at] || m.first >= other.table_size_) continue;
        parallel_blocks(static_cast<std::int64_t>(packed_[at]->blocks()), threads, [&](std::int64_t block) {
            if (control.stopped()) return;
            const std::size_t begin = static_cast<std::size_t>(block) * Packed::kBlock;
            const std::size_t end = std::min(m.size, begin + Packed::kBlock);
            std::array<std::uint8_t, Packed::kBlock> values;
            packed_[at]->unpack(block, values.data());
            std::uint8_t* const out = other.table.data() + m.first;
            std::fill(out + begin, out + end, kUnused);
            for_each_position(m, begin, end, [&](std::size_t number, const Position& p) {
                out[number] = find_starts(p).captures ? look_up(p) : values[number - begin];
            });
        });
    }
}

// Solves one group; everything that its captures and promotions lead to must be in the database.
class Solver {
public:
    Solver(const Database& endgames, const Database::Group& group, int threads, Control& control)
        : endgames_(endgames), group_(group), threads_(threads), control_(control) {
        for (const std::size_t place : group) {
            offsets_.push_back(values_.size());
            values_.resize(values_.size() + endgames.materials()[place].size, Database::kUnused);
        }
    }

    // The values by material of the group and number; of no use if the control stops it. They do not depend on the
    // number of threads. `control.done` counts every number twice, when it is begun and when it is solved.
    std::vector<Bytes> run() {
        for_each_part([&](std::size_t part, std::size_t begin, std::size_t end, Found& found) {
            Database::for_each_position(material(part), begin, end, [&](std::size_t number, const Position& p) {
                start(p, offsets_[part] + number, found);
            });
        });
        control_.add(static_cast<std::int64_t>(values_.size()));
        for (int level = 0; level <= last_level_ && !control_.stopped(); ++level) {
            if (level + 1 >= Database::kDrawn) throw std::runtime_error("a distance does not fit into a byte");
            hand_on(level);
        }
        control_.add(static_cast<std::int64_t>(values_.size()));
        std::vector<Bytes> found;
        for (std::size_t part = group_.size(); part-- > 0;) {
            found.emplace(found.begin(), values_.begin() + static_cast<std::ptrdiff_t>(offsets_[part]), values_.end());
            values_.resize(offsets_[part]);
        }
        return found;
    }

private:
    // What one block of positions found out; joined under a lock.
    struct Found {
        int last_level = 0;
        std::vector<std::pair<std::uint8_t, std::uint32_t>> waiting;
    };

    const Database::Material& material(std::size_t part) const { return endgames_.materials()[group_[part]]; }

    // Workers may settle one position at the same time, with the same value.
    std::uint8_t read(std::size_t index) const {
        return std::atomic_ref(const_cast<std::uint8_t&>(values_[index])).load(std::memory_order_relaxed);
    }
    void write(std::size_t index, int value) {
        std::atomic_ref(values_[index]).store(static_cast<std::uint8_t>(value), std::memory_order_relaxed);
    }

    // The index of a position of the group.
    std::size_t index(const Position& given) const {
        const Position p = seen_by_mover(given);
        return offsets_[endgames_.place(p) == group_[0] ? 0 : 1] + Database::number_within(p);
    }

    // Where captures are to be made they lead to solved groups, so the position is solved at once. Every other one is
    // drawn until it is settled; a promotion is noted under the level at which it may settle it.
    void start(const Position& p, std::size_t index, Found& found) {
        const Starts starts = find_starts(p);
        BestOf best;
        for_each_action(p, starts, [&](Action action) {
            if (starts.captures) {
                best.add(endgames_.look_up(play(p, action)));
            } else if (promotes(p, action)) {
                const std::uint8_t value = endgames_.look_up(play(p, action));
                if (value != Database::kDrawn) {
                    found.waiting.emplace_back(value, static_cast<std::uint32_t>(index));
                    found.last_level = std::max<int>(found.last_level, value);
                }
            }
        });
        const std::uint8_t value = starts.any() && !starts.captures ? Database::kDrawn : best.value();
        if (value != Database::kDrawn) found.last_level = std::max<int>(found.last_level, value);
        values_[index] = value;
    }

    static bool promotes(const Position& p, Action action) {
        return !(p.kings & track(action).start) && (track(action).end & kKingRow[p.side]);
    }

    void hand_on(int level) {
        Found here;
        for (const std::uint32_t index : waiting_[level]) {
            const std::size_t part = index >= offsets_.back() ? offsets_.size() - 1 : 0;
            Position p;
            Database::position(material(part), index - offsets_[part], p);
            settle(p, index, level, here);
        }
        waiting_[level] = {};
        last_level_ = std::max(last_level_, here.last_level);
        for_each_part([&](std::size_t part, std::size_t begin, std::size_t end, Found& found) {
            // Workers write other levels only, so what is looked for does not change.
            const std::uint8_t* const values = values_.data() + offsets_[part];
            for (const std::uint8_t* at = values + begin;; ++at) {
                at = static_cast<const std::uint8_t*>(
                    std::memchr(at, level, static_cast<std::size_t>(values + end - at)));
                if (!at) break;
                Position q;
                Database::position(material(part), static_cast<std::size_t>(at - values), q);
                for_each_quiet_predecessor(q, [&](const Position& p) {
                    if (!find_starts(p).captures) settle(p, index(p), level, found);
                });
            }
        });
    }

    // The position has a step that leads to a position of this distance.
    void settle(const Position& p, std::size_t index, int level, Found& found) {
        if (read(index) != Database::kDrawn || (level % 2 == 1 && !all_lose(p, level))) return;
        write(index, level + 1);
        found.last_level = level + 1;
    }

    bool all_lose(const Position& p, int level) const {
        bool all = true;
        for_each_action(p, find_starts(p), [&](Action action) {
            if (!all) return;
            const Position next = play(p, action);
            const std::uint8_t value = promotes(p, action) ? endgames_.look_up(next) : read(index(next));
            all = value % 2 == 1 && value <= level;
        });
        return all;
    }

    // Positions from which a step of the other side that promotes nobody leads to q, should steps be legal there.
    template <class Visit>
    static void for_each_quiet_predecessor(const Position& q, Visit&& visit) {
        const int mover = 1 - static_cast<int>(q.side);
        for (Squares rest = q.pieces[mover]; rest; rest &= rest - 1) {
            const int square = std::countr_zero(rest);
            const Squares piece = Squares(1) << square;
            const bool king = q.kings & piece;
            // A man of player p steps in the directions 2p and 2p + 1, and comes from the opposite ones.
            const int first = king ? 0 : 2 - 2 * mover, last = king ? 3 : first + 1;
            for (int direction = first; direction <= last; ++direction) {
                const Squares from = kNeighbours[square][direction].next & q.empty();
                if (!from) continue;
                Position p = q;
                p.side = static_cast<std::uint32_t>(mover);
                p.pieces[mover] ^= piece | from;
                if (king) p.kings ^= piece | from;
                visit(p);
            }
        }
    }

    template <class Work>
    void for_each_part(Work&& work) {
        constexpr std::size_t kBlock = 1 << 16;
        for (std::size_t part = 0; part < group_.size(); ++part) {
            const std::size_t size = material(part).size;
            parallel_blocks(static_cast<std::int64_t>((size + kBlock - 1) / kBlock), threads_, [&](std::int64_t block) {
                if (control_.stopped()) return;
                Found found;
                const std::size_t begin = static_cast<std::size_t>(block) * kBlock;
                work(part, begin, std::min(size, begin + kBlock), found);
                std::lock_guard lock(mutex_);
                last_level_ = std::max(last_level_, found.last_level);
                for (const auto& [value, index] : found.waiting) waiting_[value].push_back(index);
            });
        }
    }

    const Database& endgames_;
    const Database::Group& group_;
    int threads_;
    Control& control_;
    std::vector<std::size_t> offsets_;  // where the values of a material begin
    Bytes values_;
    std::mutex mutex_;
    // By the value that a promotion leads to: the indices of the positions before it.
    std::array<std::vector<std::uint32_t>, 256> waiting_;
    int last_level_ = 0;  // the last one that has something to hand on
};

// All positions of up to so many pieces in a table; stopped early, it is of no use.
inline std::shared_ptr<Database> solve_endgames(int pieces, int threads, Control& control) {
    auto made = std::make_shared<Database>(pieces, pieces);
    made->table.assign(made->table_size(), Database::kUnused);
    for (const auto& group : made->groups()) {
        if (control.stopped()) break;
        const auto values = Solver(*made, group, threads, control).run();
        for (std::size_t i = 0; i < group.size(); ++i) {
            const auto begin = static_cast<std::ptrdiff_t>(made->materials()[group[i]].first);
            std::copy(values[i].begin(), values[i].end(), made->table.begin() + begin);
        }
    }
    return made;
}

}  // namespace rookery::checkers
