// Checkers with few pieces, solved: the distance to the end of the game in every position, found backwards.
//
// A distance counts plies until the loser cannot move, the winner taking the shortest way and the loser the longest. An
// odd number means that the side to move wins, an even one that it loses; what never gets a number is drawn.
//
// Positions are looked at as the side to move sees them, Black after `seen_by_mover`, so one table serves both colours.
// They are numbered material by material: fewer pieces first, then fewer men, because captures and promotions lead
// there. Materials with as many pieces and men form a group and are solved together, level by level: level n settles
// the positions of distance n + 1 from those of distance n.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "games/checkers/rules.hpp"

namespace rookery::checkers {

class Database {
public:
    static constexpr int kMostPieces = 5;

    // A byte of the table: plies, or one of these.
    static constexpr std::uint8_t kDrawn = 254;
    static constexpr std::uint8_t kUnused = 255;  // pieces would stand on one square

    struct Material {
        int men, kings, other_men, other_kings;  // of the side to move, then of the other
        std::size_t first = 0, size = 0;  // its numbers

        int pieces() const { return men + kings + other_men + other_kings; }
        int all_men() const { return men + other_men; }
    };

    // The numbers of all positions of up to N pieces with both sides on the board; the table is still empty.
    explicit Database(int pieces) : pieces_(pieces) {
        if (pieces < 2 || pieces > kMostPieces) throw std::invalid_argument("the endgames have 2 to 5 pieces");
        for (int n = 2; n <= pieces; ++n) {
            for (int all_men = 0; all_men <= n; ++all_men) {
                for_each_material(n, all_men, [&](Material m) {
                    m.first = size_;
                    m.size =
                        choose(28, m.men) * choose(32, m.kings) * choose(28, m.other_men) * choose(32, m.other_kings);
                    size_ += m.size;
                    first_[m.men][m.kings][m.other_men][m.other_kings] = m.first;
                    materials_.push_back(m);
                });
            }
        }
    }

    std::vector<std::uint8_t> table;  // by number

    int pieces() const { return pieces_; }
    std::size_t size() const { return size_; }
    const std::vector<Material>& materials() const { return materials_; }

    bool covers(const Position& p) const { return std::popcount(p.pieces[0] | p.pieces[1]) <= pieces_; }

    // The number of a position that is covered and has pieces of both sides.
    std::size_t number(const Position& given) const {
        const Position p = seen_by_mover(given);
        const Squares men = p.own() & ~p.kings, kings = p.own() & p.kings;
        const Squares other_men = p.other() & ~p.kings, other_kings = p.other() & p.kings;
        const int b = std::popcount(kings), c = std::popcount(other_men), d = std::popcount(other_kings);
        // Men of the other side, who go up, stand on 4 to 31.
        return first_[std::popcount(men)][b][c][d] +
               ((rank(men) * choose(32, b) + rank(kings)) * choose(28, c) + rank(other_men >> 4)) * choose(32, d) +
               rank(other_kings);
    }

    // The position of a number of this material, Black to move; false if pieces would stand on one square.
    bool position(const Material& m, std::size_t number, Position& p) const {
        std::size_t rest = number - m.first;
        const auto take = [&rest](int squares, int k) {
            const std::size_t n = choose(squares, k), digit = rest % n;
            rest /= n;
            return subsets()[k][digit];
        };
        const Squares other_kings = take(32, m.other_kings), other_men = take(28, m.other_men) << 4;
        const Squares kings = take(32, m.kings), men = take(28, m.men);
        p = {{men | kings, other_men | other_kings}, kings | other_kings, kBlack};
        return std::popcount(men | kings | other_men | other_kings) == m.pieces();
    }

    const Material& material(std::size_t number) const {
        for (const Material& m : materials_) {
            if (number - m.first < m.size) return m;
        }
        throw std::out_of_range("there are fewer positions than that");
    }

    // The value of a position, which must be covered.
    std::uint8_t look_up(const Position& p) const {
        if (!p.own() || !p.other()) return find_starts(p).any();
        return table[number(p)];
    }

private:
    template <class Visit>
    static void for_each_material(int pieces, int all_men, Visit&& visit) {
        for (int men = 0; men <= all_men; ++men) {
            for (int kings = 0; kings <= pieces - all_men; ++kings) {
                const Material m{men, kings, all_men - men, pieces - all_men - kings};
                if (m.men + m.kings > 0 && m.other_men + m.other_kings > 0) visit(m);
            }
        }
    }

    static std::size_t choose(int n, int k) {
        static const auto table = [] {
            std::array<std::array<std::size_t, kMostPieces + 1>, 33> c{};
            for (int i = 0; i <= 32; ++i) {
                c[i][0] = 1;
                for (int j = 1; i > 0 && j <= kMostPieces; ++j) c[i][j] = c[i - 1][j - 1] + c[i - 1][j];
            }
            return c;
        }();
        return table[n][k];
    }

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

    int pieces_;
    std::size_t size_ = 0;
    std::vector<Material> materials_;
    std::size_t first_[kMostPieces + 1][kMostPieces + 1][kMostPieces + 1][kMostPieces + 1] = {};
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

namespace endgames {

class Solver {
public:
    Solver(Database& endgames, int threads, Control& control)
        : endgames_(endgames), threads_(threads), control_(control) {}

    void run() {
        endgames_.table.assign(endgames_.size(), Database::kUnused);
        const auto& all = endgames_.materials();
        for (auto begin = all.begin(); begin != all.end();) {
            auto end = begin;
            while (end != all.end() && end->pieces() == begin->pieces() && end->all_men() == begin->all_men()) ++end;
            solve_group({begin, end});
            begin = end;
        }
    }

private:
    using Group = std::vector<Database::Material>;

    // Workers may settle one position at the same time, with the same value.
    std::uint8_t read(std::size_t number) const {
        return std::atomic_ref(endgames_.table[number]).load(std::memory_order_relaxed);
    }
    void write(std::size_t number, int value) {
        std::atomic_ref(endgames_.table[number]).store(static_cast<std::uint8_t>(value), std::memory_order_relaxed);
    }

    void solve_group(const Group& group) {
        for (auto& list : waiting_) list.clear();
        last_level_ = 0;
        for_each_number(group, [&](const auto& material, std::size_t n, Found& found) { begin(material, n, found); });
        count(group);
        for (int level = 0; level <= last_level_ && !control_.stopped(); ++level) {
            if (level + 1 >= Database::kDrawn) throw std::runtime_error("a distance does not fit into a byte");
            hand_on(group, level);
        }
        count(group);
    }

    void count(const Group& group) {
        for (const auto& material : group) control_.add(static_cast<std::int64_t>(material.size));
    }

    // What one block of positions found out; joined under a lock.
    struct Found {
        int last_level = 0;
        std::vector<std::pair<std::uint8_t, std::size_t>> waiting;
    };

    // Where captures are to be made they lead to solved groups, so the position is solved at once. Every other one is
    // drawn until it is settled; a promotion is noted under the level at which it may settle it.
    void begin(const Database::Material& material, std::size_t number, Found& found) {
        Position p;
        if (!endgames_.position(material, number, p)) return;
        const Starts starts = find_starts(p);
        BestOf best;
        for_each_action(p, starts, [&](Action action) {
            const Position next = play(p, action);
            const bool promotes = std::popcount(next.kings) > std::popcount(p.kings);
            if (starts.captures) {
                best.add(endgames_.look_up(next));
            } else if (promotes) {
                const std::uint8_t value = endgames_.look_up(next);
                if (value != Database::kDrawn) {
                    found.waiting.emplace_back(value, number);
                    found.last_level = std::max<int>(found.last_level, value);
                }
            }
        });
        const std::uint8_t value = starts.any() && !starts.captures ? Database::kDrawn : best.value();
        if (value != Database::kDrawn) found.last_level = std::max<int>(found.last_level, value);
        endgames_.table[number] = value;
    }

    void hand_on(const Group& group, int level) {
        Found here;
        for (const std::size_t number : waiting_[level]) {
            Position p;
            endgames_.position(endgames_.material(number), number, p);
            settle(p, number, level, here);
        }
        last_level_ = std::max(last_level_, here.last_level);
        for_each_number(group, [&](const auto& material, std::size_t number, Found& found) {
            if (endgames_.table[number] != level) return;
            Position q;
            endgames_.position(material, number, q);
            for_each_quiet_predecessor(q, [&](const Position& p) {
                if (!find_starts(p).captures) settle(p, endgames_.number(p), level, found);
            });
        });
    }

    // The position has a step that leads to a position of this distance.
    void settle(const Position& p, std::size_t number, int level, Found& found) {
        if (read(number) != Database::kDrawn || (level % 2 == 1 && !all_lose(p, level))) return;
        write(number, level + 1);
        found.last_level = level + 1;
    }

    bool all_lose(const Position& p, int level) const {
        bool all = true;
        for_each_action(p, find_starts(p), [&](Action action) {
            if (!all) return;
            const Position next = play(p, action);
            const std::uint8_t value = read(endgames_.number(next));
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
    void for_each_number(const Group& group, Work&& work) {
        constexpr std::size_t kBlock = 1 << 14;
        for (const auto& material : group) {
            const auto blocks = static_cast<std::int64_t>((material.size + kBlock - 1) / kBlock);
            parallel_blocks(blocks, threads_, [&](std::int64_t block) {
                if (control_.stopped()) return;
                Found found;
                const std::size_t begin = material.first + static_cast<std::size_t>(block) * kBlock;
                const std::size_t end = std::min(material.first + material.size, begin + kBlock);
                for (std::size_t number = begin; number < end; ++number) work(material, number, found);
                std::lock_guard lock(mutex_);
                last_level_ = std::max(last_level_, found.last_level);
                for (const auto& [value, number] : found.waiting) waiting_[value].push_back(number);
            });
        }
    }

    Database& endgames_;
    int threads_;
    Control& control_;
    std::mutex mutex_;
    // By the value that a promotion leads to: the numbers of the positions before it.
    std::array<std::vector<std::size_t>, 256> waiting_;
    int last_level_ = 0;  // the last one that has something to hand on
};

}  // namespace endgames

// `control.done` counts every position twice, when it is begun and when it is solved; stopped early, the table is of no
// use. It does not depend on the number of threads.
inline std::shared_ptr<Database> solve_endgames(int pieces, int threads, Control& control) {
    auto made = std::make_shared<Database>(pieces);
    endgames::Solver(*made, threads, control).run();
    return made;
}

}  // namespace rookery::checkers
