// The strong search for checkers: iterative deepening with limits of depth, nodes and time.
//
// Principal variation search with a transposition table, killer and history ordering, late-move reductions, ProbCut and
// cuts by the evaluation near the horizon, forced captures extended, and captures searched to their end. Positions that repeat, in the tree or in the game before it, are draws, as are those beyond the
// counters of the rules. Solved endgames give exact scores with distances, so that won ones come nearer to their end.
//
// A call starts with an empty table unless told otherwise, so what it finds depends on the game and the limits alone; a
// limit of time makes it depend on the machine as well, and so do several threads. They search the same position with a
// common table, each with killers, history and a cache of its own, and what counts is what the first one finds.
#pragma once

#include <sys/mman.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "games/checkers/search.hpp"

namespace rookery::checkers {

// CPU time of this thread.
inline double thread_seconds() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Memory for large tables: in pages of 2 MB where the system has them, so that fewer addresses need translation.
template <class T>
struct LargePages {
    using value_type = T;
    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}

    T* allocate(std::size_t count) {
        const std::size_t page = count * sizeof(T) < kPage ? alignof(T) : kPage;
        const std::size_t size = (count * sizeof(T) + page - 1) / page * page;
        void* memory = std::aligned_alloc(page, size);
        if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
        if (page == kPage) madvise(memory, size, MADV_HUGEPAGE);
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }
    friend bool operator==(const LargePages&, const LargePages&) { return true; }

private:
    static constexpr std::size_t kPage = std::size_t(1) << 21;
};

// Another evaluation that remembers values it gave: a search asks for most of them more than once. Not for several threads.
class Cached : public Evaluation {
public:
    explicit Cached(const Evaluation& evaluation) : evaluation_(evaluation), entries_(std::size_t(1) << kLogEntries) {}

    Score operator()(const Position& p) const override {
        const std::uint64_t key = hash(p);
        std::uint64_t& entry = entries_[key >> (64 - kLogEntries)];
        if ((entry ^ key << kValueBits) >> kValueBits)
            entry = key << kValueBits | (static_cast<std::uint32_t>(evaluation_(p)) & ((1 << kValueBits) - 1));
        return static_cast<Score>(static_cast<std::int64_t>(entry << (64 - kValueBits)) >> (64 - kValueBits));
    }

private:
    // The bits of a key that are neither stored nor the index are eight; half a megabyte stays in the processor's cache.
    static constexpr int kLogEntries = 16, kValueBits = 24;
    static_assert(kMaxEvaluation < 1 << (kValueBits - 1));

    const Evaluation& evaluation_;
    mutable std::vector<std::uint64_t> entries_;
};

struct Limits {
    int depth = 99;  // at most Engine::kMaxDepth
    std::uint64_t nodes = std::numeric_limits<std::uint64_t>::max();  // of all threads
    double seconds = std::numeric_limits<double>::infinity();  // CPU time of the first thread
    bool keep = false;  // the table of the calls before, if they had the same side to move at the root
    // A draw counts as this much less than an even game for the side to move at the root, and positions with many pieces,
    // in which more can still go wrong, as a little more.
    Score contempt = 0;
    // Nodes and seconds are roughly the average per move: endgames get less of them, and a search stops early where the
    // best move stays the same, and continues where it changes.
    bool paced = false;

    bool any() const {
        return nodes != std::numeric_limits<std::uint64_t>::max() || seconds != std::numeric_limits<double>::infinity();
    }
};

// The transposition table. Threads may share it: a slot is two words that are read and written by themselves, and one
// that two threads wrote to at once no longer fits its key.
class Table {
public:
    enum Bound : std::uint8_t { kNone, kAtLeast, kAtMost, kExact };

    struct Entry {
        std::int16_t score = 0;
        std::int16_t value = kUnknown;  // the evaluation of the position
        std::uint16_t action : 14 = 0, bound : 2 = kNone;
        std::uint8_t depth = 0;
        std::uint8_t search = 0;  // which call wrote it
    };
    static_assert(sizeof(Entry) == 8);
    static constexpr std::int16_t kUnknown = std::numeric_limits<std::int16_t>::min();

    explicit Table(int log_entries) : clusters_(std::size_t(1) << (log_entries - 2)) {}

    // A new call, which sees entries of earlier ones if it keeps them, and may add at most as many as the limits allow.
    void begin(int player, const Limits& limits) {
        if (call_ == 255) {
            for (auto& cluster : clusters_) {
                for (Slot& slot : cluster) slot.put(0, Entry{});
            }
            call_ = 0;
        }
        ++call_;
        if (!limits.keep || limits.contempt != contempt_ || (contempt_ && player != player_) || oldest_ > call_)
            oldest_ = call_;
        // No more of the table than the search can fill, so that a short one stays in the processor's cache.
        const double most = std::min(static_cast<double>(limits.nodes), kNodesPerSecond * limits.seconds);
        mask_ = clusters_.size() - 1;
        if (most < static_cast<double>(clusters_.size()))
            mask_ = std::min(mask_, std::bit_ceil(static_cast<std::size_t>(most) / 2 + 1) - 1);
        contempt_ = limits.contempt;
        player_ = player;
    }

    void prefetch(std::uint64_t key) const { __builtin_prefetch(&clusters_[key & mask_]); }

    bool find(std::uint64_t key, Entry& found) const {
        for (const Slot& slot : clusters_[key & mask_]) {
            if (slot.get(found) == key && found.search >= oldest_) return true;
        }
        return false;
    }

    void store(std::uint64_t key, Entry made) {
        Cluster& cluster = clusters_[key & mask_];
        Slot* replaced = &cluster[0];
        int least = 1 << 20;
        for (Slot& slot : cluster) {
            Entry entry;
            // What this call does not see counts as empty, so that it finds what it would find with a new table.
            const bool same = slot.get(entry) == key;
            const int worth = entry.search < oldest_ ? -500 : same ? -1000 : entry.depth - 4 * (call_ - entry.search);
            if (worth < least) {
                least = worth;
                replaced = &slot;
            }
        }
        made.search = call_;
        replaced->put(key, made);
    }

private:
    static constexpr double kNodesPerSecond = 1e7;  // about

    class Slot {
    public:
        // Fills in the entry; returns its key.
        std::uint64_t get(Entry& entry) const {
            const std::uint64_t data = data_.load(std::memory_order_relaxed);
            entry = std::bit_cast<Entry>(data);
            return check_.load(std::memory_order_relaxed) ^ data;
        }
        void put(std::uint64_t key, const Entry& entry) {
            const auto data = std::bit_cast<std::uint64_t>(entry);
            check_.store(key ^ data, std::memory_order_relaxed);
            data_.store(data, std::memory_order_relaxed);
        }

    private:
        std::atomic<std::uint64_t> check_{0}, data_{0};
    };
    struct alignas(64) Cluster : std::array<Slot, 4> {};  // a cache line

    std::vector<Cluster, LargePages<Cluster>> clusters_;
    std::size_t mask_ = 0;  // a cluster's number has these bits of a key
    std::uint8_t call_ = 0, oldest_ = 1;  // this call, and the first one whose entries count
    Score contempt_ = 0;
    int player_ = 0;
};

// What one thread of the engine does.
class Searcher {
public:
    static constexpr int kMaxPly = 200;
    static constexpr int kMaxDepth = 99;

    // A win n plies from the root scores kWin - n; no evaluation comes near.
    static constexpr Score kWin = 30'000;
    static constexpr Score kLeastWin = kWin - 1'000;
    static constexpr Score kMostUndecided = 20'000;

    // A paced search may take up to twice its share of the nodes and seconds. Games are decided with many pieces on the
    // board, but most of their moves come later.
    static constexpr double kMostPaced = 2;
    static constexpr double paced_share(int pieces) { return pieces <= 8 ? 0.3 : 1.9; }
    // What a piece on the board is worth, in shares of the contempt.
    static constexpr double kLively = 0.05;

    struct Result {
        Score score = 0;
        int depth = 0;  // of the last complete search
        std::vector<Action> line;  // both sides' best play, the move first
    };

    Searcher(const Evaluation& evaluation, const Database* endgames, Table& table, bool selective)
        : evaluation_(evaluation), endgames_(endgames), table_(table), selective_(selective) {}

    std::uint64_t nodes = 0;

    // The best move, from a search that starts at a depth; `done` stops it. `order` ranks moves of equal score: the first
    // one wins.
    Result best(const State& root, const Limits& limits, Control& control, const std::atomic<bool>& done,
                int first_depth, std::span<const Action> order) {
        begin(root, limits, control, done);
        ActionList actions;
        root.legal_actions(actions);
        std::vector<Action> moves(actions.begin(), actions.end());
        if (!order.empty()) {
            std::stable_sort(moves.begin(), moves.end(), [&](Action a, Action b) {
                return std::find(order.begin(), order.end(), a) < std::find(order.begin(), order.end(), b);
            });
        }
        Result result;
        result.line = {moves.front()};
        int same = 0;  // complete searches since the best move changed
        for (int depth = first_depth; depth <= std::min(limits.depth, kMaxDepth); ++depth) {
            const Action before = result.line[0];
            Score window = 30;
            Score alpha = -kWin, beta = kWin;
            if (depth >= 4) {
                alpha = std::max(result.score - window, -kWin);
                beta = std::min(result.score + window, kWin);
            }
            for (;;) {
                const Score score = search_root(moves, depth, alpha, beta);
                if (stopped_) break;
                if (score <= alpha && alpha > -kWin) {
                    alpha = window > 500 ? -kWin : std::max(score - window, -kWin);
                } else if (score >= beta && beta < kWin) {
                    beta = window > 500 ? kWin : std::min(score + window, kWin);
                } else {
                    result.score = score;
                    result.depth = depth;
                    break;
                }
                window *= 3;
            }
            // A search that was cut short has still looked at the best move first, so what it found is better.
            if (!root_line_.empty()) result.line = root_line_;
            if (stopped_) break;
            if (moves.size() == 1 && limits.any()) break;
            same = result.line[0] == before ? same + 1 : 0;
            if (limits.paced && used() > 1.2 - 0.18 * std::min(same, 4)) break;
            // A win or loss that the search reaches does not change any more.
            if (std::abs(result.score) > kLeastWin && kWin - std::abs(result.score) <= depth) break;
        }
        return result;
    }

private:
    struct Ranked {
        Action action;
        std::int32_t rank;
    };
    struct Ply {
        std::array<Ranked, 256> moves;
        std::array<Action, 2> killers{-1, -1};
        Action last = -1;  // the move that led here
        std::array<Action, kMaxPly + 1> line;
        int line_length = 0;
    };
    // A position of the game since its last capture or move of a man, or of the line that is being searched.
    struct Past {
        std::uint64_t key;
        int reversible, quiet, fortieth;  // plies since the last move that cannot be undone, capture, and either
    };

    void begin(const State& root, const Limits& limits, Control& control, const std::atomic<bool>& done) {
        control_ = &control;
        done_ = &done;
        limits_ = limits;
        const Position& p = root.position();
        const double share = limits.paced ? paced_share(std::popcount(p.pieces[0] | p.pieces[1])) : 1;
        if (limits.nodes != Limits{}.nodes)
            limits_.nodes = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share * limits.nodes));
        limits_.seconds *= share;
        const double most = limits.paced ? kMostPaced : 1;
        most_nodes_ = limits.nodes == Limits{}.nodes ? limits.nodes : static_cast<std::uint64_t>(most * limits_.nodes);
        root_ = &root;
        nodes = 0;
        stopped_ = false;
        deadline_ = thread_seconds() + most * limits_.seconds;
        contempt_ = limits.contempt;
        for (int pieces = 0; pieces < static_cast<int>(lively_.size()); ++pieces)
            lively_[pieces] = static_cast<Score>(std::lround(kLively * pieces * contempt_));
        if (plies_.empty()) plies_.resize(kMaxPly + 2);
        std::fill(history_.begin(), history_.end(), 0);
        std::fill(follow_.begin(), follow_.end(), 0);
        for (auto& ply : plies_) ply.killers = {-1, -1};
        past_.clear();
        for (const Position& p : root.earlier()) past_.push_back({hash(p), 0, 0, 0});
        past_.push_back({hash(root.position()), static_cast<int>(root.earlier().size()), root.quiet_plies(),
                         root.reversible_plies()});
        now_ = past_.size() - 1;
        past_.resize(past_.size() + kMaxPly + 2);
    }

    Score search_root(std::vector<Action>& moves, int depth, Score alpha, Score beta) {
        const Position& p = root_->position();
        root_line_.clear();
        Score best = -kWin;
        for (std::size_t i = 0; i < moves.size(); ++i) {
            Score score;
            if (i == 0) {
                score = -child(p, moves[i], depth - 1, -beta, -alpha, 0);
            } else {
                int less = 0;
                if (selective_ && depth >= 4 && i >= 4 && moves[i] < kFirstCapture) less = 1;
                score = -child(p, moves[i], depth - 1 - less, -alpha - 1, -alpha, 0);
                if (score > alpha && less) score = -child(p, moves[i], depth - 1, -alpha - 1, -alpha, 0);
                if (score > alpha && score < beta) score = -child(p, moves[i], depth - 1, -beta, -alpha, 0);
            }
            if (stopped_) break;
            if (score > best) {
                best = score;
                if (score > alpha || i == 0) {
                    const Ply& next = plies_[1];
                    root_line_.assign(1, moves[i]);
                    if (score > alpha)
                        root_line_.insert(root_line_.end(), next.line.begin(), next.line.begin() + next.line_length);
                    std::rotate(moves.begin(), moves.begin() + i, moves.begin() + i + 1);
                }
                alpha = std::max(alpha, score);
                if (alpha >= beta) break;
            }
        }
        return best;
    }

    // The score of a move for the side that answers it. `ply` is that of the position before.
    Score child(const Position& p, Action action, int depth, Score alpha, Score beta, int ply) {
        const Position next = play(p, action);
        const bool capture = action >= kFirstCapture;
        const bool reversible = !capture && (p.kings & track(action).start);
        const Past& before = past_[now_];
        // At the horizon only captures follow, which need no key.
        const std::uint64_t key = depth > 0 || reversible ? hash(next) : 0;
        if (depth > 0) table_.prefetch(key);
        past_[++now_] = {key, reversible ? before.reversible + 1 : 0, capture ? 0 : before.quiet + 1,
                         reversible ? before.fortieth + 1 : 0};
        plies_[ply + 1].last = action;
        const Score score = search(next, depth, alpha, beta, ply + 1);
        --now_;
        return score;
    }

    // The share of the nodes or seconds that are taken on average.
    double used() const {
        double share = 0;
        if (limits_.nodes != Limits{}.nodes) share = static_cast<double>(nodes) / static_cast<double>(limits_.nodes);
        if (limits_.seconds != Limits{}.seconds)
            share = std::max(share, kMostPaced - (deadline_ - thread_seconds()) / limits_.seconds);
        return share;
    }

    bool out_of_limits() {
        if (nodes >= most_nodes_) return true;
        if (nodes % 256 == 0) {
            if (control_->stopped() || done_->load(std::memory_order_relaxed)) return true;
            if (deadline_ < std::numeric_limits<double>::infinity() && thread_seconds() >= deadline_) return true;
        }
        return false;
    }

    Score search(const Position& p, int depth, Score alpha, Score beta, int ply) {
        Ply& here = plies_[ply];
        here.line_length = 0;
        if (stopped_ || out_of_limits()) {
            stopped_ = true;
            return 0;
        }
        ++nodes;
        const Starts starts = find_starts(p);
        if (!starts.any()) return ply - kWin;
        if (drawn()) return draw(ply);
        if (endgames_ && endgames_->covers(p)) return solved(p, ply);
        if (ply >= kMaxPly) return evaluate(p, ply);
        if (depth <= 0 && !starts.captures) return evaluate(p, ply);

        // No win from here can be nearer than this.
        alpha = std::max(alpha, ply - kWin);
        beta = std::min(beta, kWin - ply - 1);
        if (alpha >= beta) return alpha;
        const bool wide = beta - alpha > 1;

        const std::uint64_t key = past_[now_].key;
        Action first = -1;
        Score value = Table::kUnknown;
        if (depth > 0) {
            if (Table::Entry entry; table_.find(key, entry)) {
                first = entry.action;
                value = entry.value;
                if (!wide && (selective_ ? entry.depth >= depth : entry.depth == depth)) {
                    const Score score = from_table(entry.score, ply);
                    if (entry.bound == Table::kExact || (entry.bound == Table::kAtLeast && score >= beta) ||
                        (entry.bound == Table::kAtMost && score <= alpha)) {
                        return score;
                    }
                }
            }
            if (selective_ && !starts.captures) {
                if (value == Table::kUnknown) value = evaluate(p, ply);
                if (!wide && std::abs(beta) < kMostUndecided) {
                    if (depth <= 3 && value - 30 * depth >= beta) return value;
                    if (depth >= 4 && value >= beta) {
                        // ProbCut: what is well above the window in a shallow search will be above it in a deep one.
                        const Score more = beta + 40;
                        const Score score = search(p, std::max(1, depth * 2 / 5), more - 1, more, ply);
                        if (stopped_) return 0;
                        if (score >= more) return score;
                        here.line_length = 0;
                    }
                }
                if (first < 0 && depth >= 4) --depth;
            }
        }

        int count = 0;
        auto* const history = &history_[p.side * kFirstCapture];
        auto* const follow =
            here.last >= 0 && here.last < kFirstCapture ? &follow_[here.last * kFirstCapture] : nullptr;
        for_each_action(p, starts, [&](Action action) {
            if (count == static_cast<int>(here.moves.size())) return;
            std::int32_t rank;
            if (action == first) {
                rank = std::numeric_limits<std::int32_t>::max();
            } else if (action >= kFirstCapture) {
                rank = std::popcount(track(action).captured);
            } else {
                rank = history[action] + (follow ? 2 * follow[action] : 0);
                if (action == here.killers[0]) rank += 1 << 28;
                if (action == here.killers[1]) rank += 1 << 27;
            }
            here.moves[count++] = {action, rank};
        });
        if (selective_ && count == 1 && starts.captures && depth > 0) ++depth;  // forced

        Score best = -kWin;
        const Score alpha_before = alpha;
        Action best_action = 0;
        for (int i = 0; i < count; ++i) {
            int pick = i;
            for (int j = i + 1; j < count; ++j) {
                if (here.moves[j].rank > here.moves[pick].rank) pick = j;
            }
            std::swap(here.moves[i], here.moves[pick]);
            const Action action = here.moves[i].action;
            Score score;
            if (i == 0) {
                score = -child(p, action, depth - 1, -beta, -alpha, ply);
            } else {
                const bool quiet = selective_ && !starts.captures;
                // Near the horizon, far below the window, only moves that offer a piece are left to try.
                if (quiet && !wide && depth <= 2 && best > -kLeastWin && value + 60 * depth <= alpha &&
                    !find_starts(play(p, action)).captures) {
                    continue;
                }
                const int less = quiet && depth >= 3 ? reduction(depth, i, wide) : 0;
                score = -child(p, action, depth - 1 - less, -alpha - 1, -alpha, ply);
                if (score > alpha && less) score = -child(p, action, depth - 1, -alpha - 1, -alpha, ply);
                if (score > alpha && score < beta) score = -child(p, action, depth - 1, -beta, -alpha, ply);
            }
            if (stopped_) return 0;
            if (score > best) {
                best = score;
                best_action = action;
                if (score > alpha) {
                    alpha = score;
                    const Ply& next = plies_[ply + 1];
                    here.line[0] = action;
                    here.line_length = std::min(next.line_length + 1, kMaxPly);
                    std::copy_n(next.line.begin(), here.line_length - 1, here.line.begin() + 1);
                    if (alpha >= beta) {
                        if (!starts.captures && depth > 0) {
                            if (here.killers[0] != action) here.killers = {action, here.killers[0]};
                            const std::int32_t bonus = std::min(depth * depth, 1024);
                            const auto learn = [&](Action a, std::int32_t b) {
                                const auto add = [b](std::int32_t& h) { h += b - h * std::abs(b) / 16384; };
                                add(history[a]);
                                if (follow) add(follow[a]);
                            };
                            learn(action, bonus);
                            for (int j = 0; j < i; ++j) learn(here.moves[j].action, -bonus / 2);
                        }
                        break;
                    }
                }
            }
        }
        if (depth > 0) {
            Table::Entry made;
            made.score = static_cast<std::int16_t>(to_table(best, ply));
            made.value = static_cast<std::int16_t>(value);
            made.action = static_cast<std::uint16_t>(best_action);
            made.bound = best >= beta ? Table::kAtLeast : best <= alpha_before ? Table::kAtMost : Table::kExact;
            made.depth = static_cast<std::uint8_t>(depth);
            table_.store(key, made);
        }
        return best;
    }

    // Plies that the i-th move is searched less, unless it turns out good.
    static int reduction(int depth, int i, bool wide) {
        static const auto table = [] {
            std::array<std::array<std::int8_t, 64>, 100> t{};
            for (int d = 1; d < 100; ++d) {
                for (int n = 0; n < 64; ++n)
                    t[d][n] = static_cast<std::int8_t>(1 + 0.6 * std::log(d) * std::log(n + 1));
            }
            return t;
        }();
        return std::clamp(table[std::min(depth, 99)][std::min(i, 63)] - wide, 0, depth - 1);
    }

    bool drawn() const {
        const Past& now = past_[now_];
        if (now.quiet >= root_->rules().max_quiet() || now.fortieth >= root_->rules().max_reversible()) return true;
        for (int ago = 4; ago <= now.reversible; ago += 2) {
            if (past_[now_ - ago].key == now.key) return true;
        }
        return false;
    }

    Score draw(int ply) const { return ply % 2 ? contempt_ : -contempt_; }

    Score evaluate(const Position& p, int ply) const {
        const Score lively = lively_[std::popcount(p.pieces[0] | p.pieces[1])];
        return std::clamp(evaluation_(p) + (ply % 2 ? -lively : lively), -kMostUndecided, kMostUndecided);
    }

    Score solved(const Position& p, int ply) const {
        const int plies = endgames_->look_up(p);
        if (plies == Database::kDrawn) return draw(ply);
        const Score score = kWin - plies - ply;
        return plies % 2 == 1 ? score : -score;
    }

    // In the table a win counts from its position, not from the root.
    static Score to_table(Score score, int ply) {
        return score > kLeastWin ? score + ply : score < -kLeastWin ? score - ply : score;
    }
    static Score from_table(Score score, int ply) {
        return score > kLeastWin ? score - ply : score < -kLeastWin ? score + ply : score;
    }

    friend class Engine;

    const Evaluation& evaluation_;
    const Database* endgames_;
    Table& table_;
    bool selective_;
    Score contempt_ = 0;
    std::array<Score, 2 * kMaxPieces + 1> lively_{};  // by pieces: added for the side to move at the root
    Control* control_ = nullptr;
    const std::atomic<bool>* done_ = nullptr;
    const State* root_ = nullptr;
    Limits limits_;
    std::uint64_t most_nodes_ = 0;
    double deadline_ = 0;
    bool stopped_ = false;
    std::vector<Ply> plies_;
    std::vector<Action> root_line_;
    std::array<std::int32_t, 2 * kFirstCapture> history_{};  // by side and step
    std::array<std::int32_t, kFirstCapture * kFirstCapture> follow_{};  // by the step before and the step
    std::vector<Past> past_;
    std::size_t now_ = 0;
};

class Engine {
public:
    using Result = Searcher::Result;
    static constexpr int kMaxDepth = Searcher::kMaxDepth;

    // `endgames` may be null. Both must outlive the engine. An entry of the table takes 16 bytes. Without `selective` late
    // moves are not reduced and entries count at their own depth only, so that a score is that of minimax with captures
    // followed to their end, but for draws by repetition.
    Engine(const Evaluation& evaluation, const Database* endgames, int log_entries = 20, bool selective = true)
        : Engine(std::vector{&evaluation}, endgames, log_entries, selective) {}

    // With a thread for every evaluation; only such as several threads may use at a time may occur twice.
    Engine(const std::vector<const Evaluation*>& evaluations, const Database* endgames, int log_entries, bool selective)
        : table_(log_entries) {
        for (const Evaluation* evaluation : evaluations)
            searchers_.push_back(std::make_unique<Searcher>(*evaluation, endgames, table_, selective));
    }

    Engine(const Engine&) = delete;

    std::uint64_t nodes = 0;  // of all threads, in the last call

    // The best move. `order` ranks moves of equal score: the first one wins.
    Result best(const State& root, const Limits& limits, Control& control, std::span<const Action> order = {}) {
        check(root);
        table_.begin(root.player(), limits);
        const auto threads = static_cast<std::int64_t>(searchers_.size());
        Limits each = limits;
        if (limits.nodes != Limits{}.nodes) each.nodes = std::max<std::uint64_t>(1, limits.nodes / threads);
        Limits helper = each;
        helper.seconds = Limits{}.seconds;
        std::atomic<bool> done{false};
        Result result;
        parallel_blocks(threads, static_cast<int>(threads), [&](std::int64_t i) {
            if (i > 0) {
                // Half of the others are a ply ahead.
                searchers_[i]->best(root, helper, control, done, 1 + i % 2, order);
                return;
            }
            const struct AtTheEnd {
                std::atomic<bool>& done;
                ~AtTheEnd() { done = true; }
            } end{done};
            result = searchers_[0]->best(root, each, control, done, 1, order);
        });
        nodes = 0;
        for (const auto& searcher : searchers_) nodes += searcher->nodes;
        return result;
    }

    struct Value {
        Action action;
        Score score;
    };

    // The best move, and every legal one with its score: the best one's is that of `best`, the others' at most that, each
    // found to the same depth or as deep as the limits go for it.
    std::pair<Result, std::vector<Value>> values(const State& root, const Limits& limits, Control& control) {
        const Result found = best(root, limits, control);
        Searcher& first = *searchers_[0];
        const std::atomic<bool> done{false};
        std::uint64_t all = nodes;
        ActionList actions;
        root.legal_actions(actions);
        std::vector<Value> values;
        for (const Action action : actions) {
            Value value{action, found.score};
            if (action != found.line[0]) {
                Limits each = limits;
                each.keep = true;
                table_.begin(root.player(), each);
                first.begin(root, each, control, done);
                for (int depth = 1; depth <= std::max(found.depth, 1); ++depth) {
                    const Score score =
                        -first.child(root.position(), action, depth - 1, -found.score, Searcher::kWin, 0);
                    if (first.stopped_ && depth > 1) break;
                    value.score = std::min(score, found.score);
                }
                all += first.nodes;
            }
            values.push_back(value);
        }
        nodes = all;
        return {found, values};
    }

private:
    static void check(const State& root) {
        if (root.player() < 0) throw std::invalid_argument("search needs a position in which a player is to move");
    }

    Table table_;
    std::vector<std::unique_ptr<Searcher>> searchers_;
};

}  // namespace rookery::checkers
