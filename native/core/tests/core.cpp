// Bits, random numbers, keys and loops beside the slow way to say the same.
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "core/bits.hpp"
#include "core/clock.hpp"
#include "core/key_table.hpp"
#include "core/many_games.hpp"
#include "core/parallel.hpp"
#include "tests/check.hpp"
#include "tests/toys.hpp"

using namespace rookery;
using testing::count;
using testing::Places;
using testing::Stones;

template <class Bits>
static void check_bits(Bits x, int width) {
    std::vector<int> set;
    for (int i = 0; i < width; ++i) {
        if (x >> i & 1) set.push_back(i);
    }
    CHECK(popcount(x) == static_cast<int>(set.size()));
    for (std::size_t n = 0; n < set.size(); ++n) CHECK(nth_bit(x, static_cast<int>(n)) == set[n]);
    if (!set.empty()) CHECK(lowest_bit(x) == set[0]);
    for (int count = 0; count <= width; ++count) {
        std::vector<float> floats(static_cast<std::size_t>(width) + 1, 99);
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(width) + 1, 99);
        write_bits(x, count, floats.data());
        write_bits(x, count, bytes.data());
        for (int i = 0; i <= width; ++i) {
            const int expected = i >= count ? 99 : static_cast<int>(x >> i & 1);
            CHECK(floats[static_cast<std::size_t>(i)] == static_cast<float>(expected));
            CHECK(bytes[static_cast<std::size_t>(i)] == expected);
        }
    }
}

TEST(bits_are_found_one_by_one) {
    Rng rng(1);
    for (int round = 0; round < 40; ++round) {
        std::uint64_t high = rng.next(), low = rng.next();
        if (round % 4 == 1) high = 0;
        if (round % 4 == 2) low = 0;
        if (round % 4 == 3) high &= rng.next() & rng.next(), low &= rng.next() & rng.next();
        check_bits(low, 64);
        check_bits(Bits128(high) << 64 | low, 128);
        const std::uint64_t x = rng.next();
        std::uint64_t spread = 0;
        for (int i = 0, n = 0; i < 64; ++i) {
            if (low >> i & 1) spread |= (x >> n++ & 1) << i;
        }
        CHECK(spread_bits(x, low) == spread);
    }
}

// The first numbers that the authors' programs give, as published with many other implementations.
TEST(random_numbers_are_those_of_their_authors) {
    std::uint64_t x = 1234567;
    for (const std::uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                         4593380528125082431u, 16408922859458223821u}) {
        CHECK(splitmix64(x) == expected);
    }
    Rng rng;
    rng.words() = {1, 2, 3, 4};
    for (const std::uint64_t expected :
         {11520ul, 0ul, 1509978240ul, 1215971899390074240u, 1216172134540287360u, 607988272756665600u,
          16172922978634559625u, 8476171486693032832u, 10595114339597558777u, 2904607092377533576u}) {
        CHECK(rng.next() == expected);
    }
    CHECK(Rng(1, 0).next() != Rng(1, 1).next() && Rng(1, 1).next() != Rng(2, 1).next());
}

template <class Draw>
static std::array<double, 3> moments(int draws, Draw&& draw) {  // mean, variance, fourth central moment for mean 0
    double sum = 0, squares = 0, fourth = 0;
    for (int i = 0; i < draws; ++i) {
        const double x = draw();
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    const double mean = sum / draws;
    return {mean, squares / draws - mean * mean, fourth / draws};
}

TEST(random_numbers_are_distributed_as_told) {
    Rng rng(3);
    constexpr int kDraws = 100'000;
    for (const std::uint32_t n : {1u, 2u, 6u, 7u}) {
        std::vector<int> met(n);
        for (int i = 0; i < kDraws; ++i) ++met[rng.below(n)];
        for (const int times : met)
            CHECK(std::abs(times - kDraws / static_cast<double>(n)) < 5 * std::sqrt(kDraws / n));
    }
    // Without rejection, a third of the numbers below 3 * 2^30 would come twice as often: those that 3 divides.
    std::array<int, 3> rest{};
    for (int i = 0; i < kDraws; ++i) ++rest[rng.below(3u << 30) % 3];
    for (const int times : rest) CHECK(std::abs(times - kDraws / 3) < 800);
    double least = 1, most = 0;
    const auto [mean, variance, fourth] = moments(kDraws, [&] {
        const double x = rng.uniform();
        least = std::min(least, x);
        most = std::max(most, x);
        return x;
    });
    CHECK(std::abs(mean - 0.5) < 0.005 && std::abs(variance - 1.0 / 12) < 0.002);
    CHECK(least >= 0 && least < 0.001 && most < 1 && most > 0.999);
    const auto normal = moments(kDraws, [&] { return rng.normal(); });
    CHECK(std::abs(normal[0]) < 0.02 && std::abs(normal[1] - 1) < 0.03 && std::abs(normal[2] - 3) < 0.3);
    for (const double shape : {0.3, 1.0, 2.5}) {  // the mean and the variance of a gamma distribution are its shape
        const auto gamma = moments(kDraws, [&] { return rng.gamma(shape); });
        CHECK(std::abs(gamma[0] - shape) < 0.03 && std::abs(gamma[1] - shape) < 0.1 * shape + 0.02);
    }
}

TEST(keys_have_the_numbers_of_their_order) {
    KeyTable table;
    CHECK(table.find("") == KeyTable::kNone && table.size() == 0);
    std::map<std::string, std::uint32_t> numbers;
    Rng rng(2);
    for (int i = 0; i < 3000; ++i) {
        std::string key(rng.below(12), 'a');
        for (char& letter : key) letter = static_cast<char>('a' + rng.below(3));
        table.prefetch(key);
        const auto [place, is_new] = numbers.try_emplace(key, static_cast<std::uint32_t>(numbers.size()));
        CHECK(table.find(key) == (is_new ? KeyTable::kNone : place->second));
        CHECK(table.add(key) == std::pair(place->second, is_new));
        CHECK(table.size() == numbers.size());
    }
    std::size_t letters = 0;
    for (const auto& [key, number] : numbers) {
        CHECK(table[number] == key && table.find(key) == number);
        letters += key.size();
    }
    CHECK(table.bytes() >= letters + 8 * numbers.size() + 8 * numbers.size());
    CHECK(table.bytes() <= 4 * (letters + 8 * numbers.size() + 8 * numbers.size()));
}

TEST(blocks_are_done_once_on_any_number_of_threads) {
    for (const int threads : {0, 1, 3}) {
        for (const std::int64_t blocks : {0, 1, 2, 100}) {
            std::vector<std::atomic<int>> done(static_cast<std::size_t>(blocks) + 1);
            parallel_blocks(blocks, threads, [&](std::int64_t block) { ++done[static_cast<std::size_t>(block)]; });
            for (std::int64_t i = 0; i <= blocks; ++i) CHECK(done[static_cast<std::size_t>(i)] == (i < blocks));
        }
        bool caught = false;
        std::atomic<int> after = 0;
        try {
            parallel_blocks(1'000'000, threads, [&](std::int64_t block) {
                if (block == 5) throw std::runtime_error("block 5");
                if (block > 5) ++after;
            });
        } catch (const std::runtime_error&) {
            caught = true;
        }
        CHECK(caught && after < 900'000);
    }
    // Two blocks that wait for each other need two threads.
    std::atomic<int> inside = 0;
    parallel_blocks(2, 2, [&](std::int64_t) {
        ++inside;
        while (inside < 2) std::this_thread::yield();
    });
}

TEST(threads_are_those_asked_for) {
    CHECK(usable_threads(3) == 3 && usable_threads(1) == 1);
    const char* before = std::getenv("ROOKERY_THREADS");
    const std::string kept = before ? before : "";
    setenv("ROOKERY_THREADS", "5", 1);
    CHECK(usable_threads(0) == 5 && usable_threads(2) == 2);
    setenv("ROOKERY_THREADS", "1", 1);
    CHECK(usable_threads(0) == 1);
    for (const char* none : {"0", "-3", "x"}) {
        setenv("ROOKERY_THREADS", none, 1);
        CHECK(usable_threads(0) >= 1 && usable_threads(-1) <= static_cast<int>(std::thread::hardware_concurrency()));
    }
    before ? setenv("ROOKERY_THREADS", kept.c_str(), 1) : unsetenv("ROOKERY_THREADS");
}

TEST(thread_time_is_in_seconds) {
    const double cpu = thread_cpu_seconds();
    const std::clock_t all = std::clock();
    volatile std::uint64_t sum = 0;
    while (thread_cpu_seconds() < cpu + 0.05) sum = sum + 1;
    const double passed = static_cast<double>(std::clock() - all) / CLOCKS_PER_SEC;
    CHECK(passed > 0.04 && passed < 0.1);
}

// As many positions as fill more than two blocks.
TEST(net_input_holds_every_position) {
    std::vector<Stones::Rules> rules;
    for (int i = 0; i < 150; ++i) rules.push_back({i % 5, 2});
    for (const std::int64_t count : {0, 1, 64, 65, 150}) {
        const NetInput input = net_input<Stones>(rules[0], count, 2, [&](std::int64_t i) { return Stones(rules[i]); });
        CHECK(input.planes.size() == static_cast<std::size_t>(count));
        CHECK(input.offsets.size() == static_cast<std::size_t>(count) + 1 && input.offsets[0] == 0);
        CHECK(input.offsets.back() == static_cast<std::int64_t>(input.actions.size()));
        for (std::int64_t i = 0; i < count; ++i) {
            CHECK(input.planes[i] == static_cast<float>(i % 5));
            const ActionList found(input.actions.begin() + input.offsets[i],
                                   input.actions.begin() + input.offsets[i + 1]);
            ActionList expected;
            Stones(rules[i]).legal_actions(expected);
            CHECK(found == expected);
        }
    }
    CHECK(volume({2, 3, 5}) == 30);
}

TEST(games_side_by_side_go_on_until_they_end) {
    const Stones::Rules rules{4, 2};
    ManyGames<Stones> games(Stones(rules), 3);
    CHECK((games.live() == std::vector<std::int32_t>{0, 1, 2}));
    games.apply(ActionList{1, 3, 3});
    games.apply(ActionList{3, 1, 1});
    CHECK(games.live().empty());
    ManyGames<Stones> more(Stones(rules), 3);
    more.apply(ActionList{2, 3, 1});
    more.apply(ActionList{2, 1, 1});
    CHECK((more.live() == std::vector<std::int32_t>{2}));
    const NetInput input = more.observe(1);
    CHECK((input.planes == std::vector<float>{2} && input.actions == ActionList{1, 2}));
    CHECK((more.histories() == std::vector<ActionList>{{2, 2}, {3, 1}, {1, 1}}));
    CHECK(more.states()[2].left == 2);
    using rookery::testing::refused;
    CHECK(refused([&] { more.apply(ActionList{}); }));
    CHECK(refused([&] { more.apply(ActionList{1, 1}); }));
    CHECK(refused([&] { more.apply(ActionList{3}); }));
    CHECK(more.states()[2].left == 2);
    const Places::Rules chance{1, {{kChance, {1}, {1.0}}, {kTerminal, {}, {}}}};
    CHECK(refused([&] { ManyGames<Places>(Places(chance), 1); }));
}

// The functions that a game need not offer.
TEST(what_a_game_does_not_offer_is_made_of_its_lists) {
    const Places::Rules rules{
        1, {{kChance, {1, 2, 3}, {0.2, 0.5, 0.3}}, {0, {3, 2}, {}}, {0, {3}, {}}, {kTerminal, {}, {}, 2.5}}};
    const Places start(rules);
    Rng rng(1);
    std::array<int, 3> drawn{};
    constexpr int kDraws = 20'000;
    for (int i = 0; i < kDraws; ++i) ++drawn[static_cast<std::size_t>(sample_chance(start, rng))];
    for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(drawn[i] - kDraws * rules.places[0].chances[i]) < 400);
    CHECK(is_legal(start, 2) && !is_legal(start, 3) && !is_legal(start, -1));
    Places state = start;
    CHECK((apply_for_rewards(state, 0) == Returns{0, 0}));
    CHECK(is_legal(state, 1) && !is_legal(state, 2));
    ActionList scratch;
    std::array<int, 2> chosen{};
    for (int i = 0; i < kDraws; ++i) ++chosen[static_cast<std::size_t>(random_action(state, rng, scratch))];
    CHECK(std::abs(chosen[0] - kDraws / 2) < 400);
    CHECK((apply_for_rewards(state, 0) == Returns{2.5, -2.5}));
    CHECK(!is_legal(state, 0) && !has_fractions(rules));
    std::array<int, 3> lengths{};
    for (int i = 0; i < kDraws; ++i) {
        Places game = start;
        ++lengths[static_cast<std::size_t>(play_randomly(game, rng, scratch))];
        CHECK(game.player() == kTerminal);
    }
    CHECK(std::abs(lengths[0] - 0.3 * kDraws) < 400);                   // chance ends the game
    CHECK(std::abs(lengths[2] - 0.2 * 0.5 * kDraws) < 400);
    CHECK(count(start, 1) == 3 && count(start, 2) == 3 && count(start, 3) == 1 && count(start, 4) == 0);
}
