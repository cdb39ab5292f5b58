// Many games side by side as an environment for learners: observations, masks and rewards in buffers that stay.
#pragma once

#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/many_games.hpp"
#include "core/workers.hpp"

namespace rookery {

// `kAsked`: the caller is told where the opponent is to move, and answers.
enum class Opponent { kNone, kRandom, kAsked };

struct VectorSettings {
    bool reward_at_end = false;  // the returns, and nothing before; else what every step earns
    bool begin_next = false;     // a game that ends begins again in the next step, which ignores its action
    Opponent opponent = Opponent::kNone;
    int opponent_side = -1;  // -1: drawn for every game
    bool illegal_loses = false;  // an action that is not legal loses the game; else it is an error
};

// An array that never moves and begins with a cache line.
template <class T>
class Buffer {
public:
    explicit Buffer(std::size_t size) : data_(static_cast<T*>(::operator new(size * sizeof(T), kLine))), size_(size) {
        std::fill_n(data_.get(), size, T());
    }
    T* data() { return data_.get(); }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_.get()[i]; }

private:
    static constexpr std::align_val_t kLine{64};
    struct Free {
        void operator()(T* data) const { ::operator delete(data, kLine); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_;
};

// What of the games must be kept to go on exactly as they would have. Game i began from start `starts[i]` and then went
// through `actions[offsets[i]] .. actions[offsets[i + 1]]`, those of chance and of the opponent included.
struct SavedGames {
    std::vector<std::int32_t> starts;
    std::vector<std::int64_t> offsets;
    ActionList actions;
    std::vector<std::int8_t> learners;
    std::vector<std::uint64_t> streams;
};

// Last among the actions of a game that was lost by an action that was not legal.
inline constexpr Action kForfeit = -1;

// Chance is drawn here, and so is everything else: game i has the random stream (seed, i), so results do not depend on
// the number of threads.
template <GameState S, class Plane>
class VectorGames {
public:
    // Every new game begins from one of the starts, drawn uniformly.
    VectorGames(std::vector<S> starts, std::int64_t games, std::uint64_t seed, int threads, VectorSettings settings)
        : starts_(std::move(starts)), settings_(settings), slots_(static_cast<std::size_t>(games), Slot(starts_.at(0))),
          planes_(volume(rules().observation_shape())), actions_(static_cast<std::size_t>(rules().num_actions())),
          players_(settings.opponent == Opponent::kNone ? rules().players() : 1), observation_(slots_.size() * planes_),
          final_observation_(slots_.size() * planes_), mask_(slots_.size() * actions_),
          reward_(slots_.size() * players_), done_(slots_.size()), player_(slots_.size()), length_(slots_.size()),
          workers_(static_cast<int>(std::min<std::int64_t>(usable_threads(threads), blocks_of(games)))) {
        if (std::is_same_v<Plane, std::uint8_t> && has_fractions(rules())) {
            throw std::invalid_argument("this game's observations are not whole numbers from 0 to 255; use float32");
        }
        if (settings.opponent != Opponent::kNone && rules().players() != 2) {
            throw std::invalid_argument("only a game for two has an opponent");
        }
        for (const S& start : starts_) {
            if (start.player() == kTerminal) throw std::invalid_argument("a game is over at its start");
        }
        reset(seed);
    }

    // Begins all games anew; with a seed, with new random streams.
    void reset(std::optional<std::uint64_t> seed) {
        for_each_game([&](std::size_t i) {
            if (seed) slots_[i].rng = Rng(*seed, i);
            done_[i] = false;
            pay(i, {});
            begin(i);
        });
    }

    // One action per game. If one is not legal and that is an error, nothing happens in any game.
    template <class Integer>
    void step(std::span<const Integer> chosen) {
        if (chosen.size() != games()) {
            throw std::invalid_argument("expected one action for each of " + std::to_string(games()) + " games, not " +
                                        std::to_string(chosen.size()));
        }
        const auto is_offered = [&](std::size_t i) { return is_over(i) || may_play(i, chosen[i]); };
        std::atomic<std::size_t> wrong = games();  // the first game that cannot go on like this
        for_each_game([&](std::size_t i) {
            if (!slots_[i].waiting && (settings_.illegal_loses || is_offered(i))) return;
            for (std::size_t first = wrong; i < first && !wrong.compare_exchange_weak(first, i);) {
            }
        });
        if (const std::size_t i = wrong; i < games()) {
            if (slots_[i].waiting) throw std::logic_error("the opponent did not move; reset the games");
            throw std::invalid_argument("action " + std::to_string(chosen[i]) + " is not legal in game " +
                                        std::to_string(i));
        }
        for_each_game([&](std::size_t i) {
            if (settings_.illegal_loses && !is_offered(i)) {
                forfeit(i);
            } else {
                step_one(i, static_cast<Action>(chosen[i]));
            }
        });
    }

    // A uniformly random legal action per game; 0 where a game is over.
    void sample(std::span<Action> chosen) {
        for_each_game([&](std::size_t i) {
            Slot& slot = slots_[i];
            if constexpr (kShown) {
                chosen[i] = is_over(i) ? 0 : slot.state.random_action(slot.rng);
            } else {
                const auto count = static_cast<std::uint32_t>(slot.legal.size());
                chosen[i] = count ? slot.legal[slot.rng.below(count)] : 0;
            }
        });
    }

    // The games in which the opponent is asked, each with a random number.
    std::vector<std::pair<std::int64_t, std::uint64_t>> waiting() {
        std::vector<std::pair<std::int64_t, std::uint64_t>> found;
        for (std::size_t i = 0; i < games(); ++i) {
            if (slots_[i].waiting) found.emplace_back(i, slots_[i].rng.next());
        }
        return found;
    }

    // What the opponent answers in one of them.
    void answer(std::size_t i, Action action) {
        if (!slots_.at(i).waiting) throw std::invalid_argument("the opponent is not to move in this game");
        if (!is_legal(slots_[i].state, action)) {
            throw std::invalid_argument("the opponent chose action " + std::to_string(action) +
                                        ", which is not legal in game " + std::to_string(i));
        }
        apply(i, action);
        proceed(i);
    }

    SavedGames save() const {
        SavedGames saved;
        saved.offsets.push_back(0);
        for (const Slot& slot : slots_) {
            if (slot.waiting) throw std::logic_error("the opponent did not move; reset the games");
            saved.starts.push_back(slot.start);
            saved.actions.insert(saved.actions.end(), slot.history.begin(), slot.history.end());
            if (slot.lost) saved.actions.push_back(kForfeit);
            saved.offsets.push_back(static_cast<std::int64_t>(saved.actions.size()));
            saved.learners.push_back(slot.learner);
            saved.streams.insert(saved.streams.end(), slot.rng.words().begin(), slot.rng.words().end());
        }
        return saved;
    }

    // The buffers that tell of the last step (reward, done, final_observation) are the caller's to restore.
    void restore(const SavedGames& saved) {
        const auto refuse = [] { throw std::invalid_argument("these are not games saved from this environment"); };
        if (saved.starts.size() != games() || saved.offsets.size() != games() + 1 || saved.offsets[0] != 0 ||
            saved.learners.size() != games() || saved.streams.size() != 4 * games() ||
            saved.offsets.back() != static_cast<std::int64_t>(saved.actions.size()) ||
            !std::is_sorted(saved.offsets.begin(), saved.offsets.end())) {
            refuse();
        }
        std::vector<Slot> slots(games(), Slot(starts_[0]));
        for_each_game([&](std::size_t i) {
            Slot& slot = slots[i];
            slot.start = saved.starts[i];
            if (slot.start < 0 || slot.start >= static_cast<std::int64_t>(starts_.size())) refuse();
            slot.state = starts_[slot.start];
            slot.learner = saved.learners[i];
            if (slot.learner < 0 || slot.learner > 1) refuse();
            std::copy_n(saved.streams.begin() + 4 * i, 4, slot.rng.words().begin());
            if (slot.rng.words() == Rng::Words{}) refuse();  // it would give zeros for ever
            for (auto at = saved.offsets[i]; at < saved.offsets[i + 1]; ++at) {
                const Action action = saved.actions[at];
                if (action == kForfeit) {
                    if (!settings_.begin_next || at + 1 != saved.offsets[i + 1]) refuse();
                    slot.lost = true;
                    ++slot.length;
                    break;
                }
                if (!is_legal(slot.state, action)) refuse();
                const bool learners = is_learners(slot, slot.state.player());
                play(slot, action, [&] { slot.state.apply(action); });
                slot.length += learners;
                if (slot.length) slot.earned = {};  // it has been paid
            }
            const int player = slot.state.player();
            if (player == kTerminal ? !settings_.begin_next : !is_learners(slot, player)) refuse();
        });
        slots_.swap(slots);
        for_each_game([&](std::size_t i) {
            std::fill_n(mask_of(i), actions_, false);
            if constexpr (kShown) show_whole(i);
            show(i);
        });
    }

    std::size_t games() const { return slots_.size(); }
    const S& state(std::size_t i) const { return slots_.at(i).state; }
    std::int32_t start(std::size_t i) const { return slots_.at(i).start; }
    const ActionList& history(std::size_t i) const { return slots_.at(i).history; }
    Buffer<Plane>& observation() { return observation_; }
    Buffer<Plane>& final_observation() { return final_observation_; }
    Buffer<bool>& mask() { return mask_; }
    Buffer<float>& reward() { return reward_; }
    Buffer<bool>& done() { return done_; }
    Buffer<std::int8_t>& player() { return player_; }
    Buffer<std::int32_t>& length() { return length_; }

private:
    static constexpr bool kScored = requires(const S& state) { state.score(); };
    static constexpr bool kRewards = requires(const S& state) { state.rewards(); };
    static constexpr bool kShown =
        requires(S& state, Plane* planes, bool* mask) { state.apply_shown(Action(), planes, mask); };
    static constexpr std::int64_t kBlock = 64;  // games: threads never write into one cache line of `done`
    static constexpr int kMaxOpenings = 1000;

    struct Slot {
        explicit Slot(const S& state) : state(state) {}

        ActionList legal;    // what the mask shows; not used if the state itself keeps the mask up to date
        ActionList history;  // since the start
        Rng rng;
        Returns earned{};  // and not yet paid as a reward
        std::int32_t start = 0;
        std::int32_t length = 0;    // the learner's actions
        std::int32_t openings = 0;  // games in a row that ended before the learner's first move
        std::int8_t learner = 0;
        bool waiting = false;  // for the opponent
        bool lost = false;     // by an action that was not legal
        S state;
    };

    static std::int64_t blocks_of(std::int64_t games) { return (games + kBlock - 1) / kBlock; }

    template <class Work>
    void for_each_game(Work&& work) {
        workers_.run(blocks_of(static_cast<std::int64_t>(games())), [&](std::int64_t block) {
            const auto first = static_cast<std::size_t>(block * kBlock);
            for (std::size_t i = first; i < std::min(games(), first + kBlock); ++i) work(i);
        });
    }

    const typename S::Rules& rules() const { return starts_[0].rules(); }
    Plane* planes_of(std::size_t i) { return observation_.data() + i * planes_; }
    bool* mask_of(std::size_t i) { return mask_.data() + i * actions_; }
    bool is_over(std::size_t i) const {
        return settings_.begin_next && (slots_[i].lost || slots_[i].state.player() == kTerminal);
    }
    bool may_play(std::size_t i, std::int64_t action) const {
        if constexpr (kShown) {
            return action >= 0 && action < static_cast<std::int64_t>(actions_) &&
                   slots_[i].state.is_legal(static_cast<Action>(action));
        } else {
            bool found = false;
            for (const Action legal : slots_[i].legal) found |= legal == action;
            return found;
        }
    }
    bool is_learners(const Slot& slot, int player) const {
        return player >= 0 && (settings_.opponent == Opponent::kNone || player == slot.learner);
    }

    // `apply` applies the action to the state of the slot.
    template <class Apply>
    static void play(Slot& slot, Action action, Apply&& apply) {
        slot.history.push_back(action);
        if constexpr (kScored) {
            const auto before = slot.state.score();
            apply();
            slot.earned[0] += static_cast<double>(slot.state.score() - before);
        } else {
            apply();
            if constexpr (kRewards) {
                const Returns gained = slot.state.rewards();
                for (std::size_t p = 0; p < gained.size(); ++p) slot.earned[p] += gained[p];
            }
        }
    }

    void apply(std::size_t i, Action action) {
        Slot& slot = slots_[i];
        play(slot, action, [&] {
            if constexpr (kShown) {
                slot.state.apply_shown(action, planes_of(i), mask_of(i));
            } else {
                slot.state.apply(action);
            }
        });
    }

    void step_one(std::size_t i, Action action) {
        done_[i] = false;
        if (is_over(i)) {
            pay(i, {});
            begin(i);
        } else {
            apply(i, action);
            ++slots_[i].length;
            proceed(i);
        }
    }

    void begin(std::size_t i) {
        Slot& slot = slots_[i];
        const auto count = static_cast<std::uint32_t>(starts_.size());
        slot.start = count > 1 ? static_cast<std::int32_t>(slot.rng.below(count)) : 0;
        if constexpr (kShown) mark_legal(i, false);
        slot.state = starts_[slot.start];
        if constexpr (kShown) show_whole(i);
        slot.history.clear();
        slot.earned = {};
        slot.lost = false;
        slot.length = 0;
        if (settings_.opponent != Opponent::kNone) {
            const int side = settings_.opponent_side;
            slot.learner = static_cast<std::int8_t>(side >= 0 ? 1 - side : static_cast<int>(slot.rng.below(2)));
        }
        proceed(i);
    }

    // Plays chance and the opponent until the learner is to move or the game is over, and shows what came of it. Where
    // the opponent is asked, `answer` goes on from here.
    void proceed(std::size_t i) {
        Slot& slot = slots_[i];
        slot.waiting = false;
        int player = slot.state.player();
        while (player != kTerminal && !is_learners(slot, player)) {
            if (player == kChance) {
                apply(i, sample_chance(slot.state, slot.rng));
            } else if (settings_.opponent == Opponent::kRandom) {
                thread_local ActionList scratch;
                apply(i, random_action(slot.state, slot.rng, scratch));
            } else {
                slot.waiting = true;
                return;
            }
            player = slot.state.player();
        }
        if (player != kTerminal) {
            slot.openings = 0;
            if (slot.length) pay(i, settings_.reward_at_end ? Returns{} : slot.earned);
            show(i);
        } else if (slot.length) {
            finish(i);
        } else if (++slot.openings < kMaxOpenings) {
            begin(i);
        } else {
            throw std::invalid_argument("the games are over before the learner's first move");
        }
    }

    void finish(std::size_t i) {
        const S& state = slots_[i].state;
        pay(i, settings_.reward_at_end || !(kScored || kRewards) ? Returns(state.returns()) : slots_[i].earned);
        done_[i] = true;
        state.observe(final_observation_.data() + i * planes_);
        settings_.begin_next ? show(i) : begin(i);
    }

    // The player to move loses.
    void forfeit(std::size_t i) {
        Slot& slot = slots_[i];
        pay(i, slot.state.player() == 1 ? Returns{1, -1} : Returns{-1, 1});
        done_[i] = true;
        std::copy_n(planes_of(i), planes_, final_observation_.data() + i * planes_);
        if (settings_.begin_next) {
            slot.lost = true;
            ++slot.length;
            show(i);
        } else {
            begin(i);
        }
    }

    void pay(std::size_t i, const Returns& earned) {
        const int first = settings_.opponent == Opponent::kNone ? 0 : slots_[i].learner;
        for (int p = 0; p < players_; ++p) reward_[i * players_ + p] = static_cast<float>(earned[first + p]);
        slots_[i].earned = {};
    }

    void mark_legal(std::size_t i, bool legal) {
        thread_local ActionList actions;
        actions.clear();
        slots_[i].state.legal_actions(actions);
        for (const Action action : actions) mask_of(i)[action] = legal;
    }

    // For states that keep planes and mask up to date from here on.
    void show_whole(std::size_t i) {
        mark_legal(i, true);
        slots_[i].state.observe(planes_of(i));
    }

    // Shows the position. Of the mask only what was set is cleared: most of it never changes.
    void show(std::size_t i) {
        Slot& slot = slots_[i];
        if constexpr (!kShown) {
            bool* const legal = mask_of(i);
            for (const Action action : slot.legal) legal[action] = false;
            slot.legal.clear();
            if (!slot.lost) slot.state.legal_actions(slot.legal);
            for (const Action action : slot.legal) legal[action] = true;
            slot.state.observe(planes_of(i));
        } else if (slot.lost) {
            mark_legal(i, false);
        }
        const int player = slot.lost ? kTerminal : slot.state.player();
        player_[i] = settings_.opponent == Opponent::kNone ? static_cast<std::int8_t>(player) : slot.learner;
        length_[i] = slot.length;
    }

    std::vector<S> starts_;
    VectorSettings settings_;
    std::vector<Slot> slots_;
    std::size_t planes_, actions_;
    int players_;
    Buffer<Plane> observation_, final_observation_;
    Buffer<bool> mask_;
    Buffer<float> reward_;
    Buffer<bool> done_;
    Buffer<std::int8_t> player_;
    Buffer<std::int32_t> length_;
    Workers workers_;
};

}  // namespace rookery
