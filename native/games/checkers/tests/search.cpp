#include "tests/check.hpp"
#include "games/checkers/td.hpp"
#include "games/checkers/matches.hpp"
#include "games/checkers/net_learner.hpp"

using namespace rookery;
using namespace rookery::testing;
using namespace rookery::checkers;

static const Rules kRules(3, 100, false);

// Random games' positions, each with the board turned round and the colours exchanged.
template <class Visit>
static void for_random_positions(int games, Visit&& visit) {
    for (int game = 0; game < games; ++game) {
        Rng rng(3, static_cast<std::uint64_t>(game));
        State state(kRules);
        while (state.player() != kTerminal) {
            const Position& p = state.position();
            const Position turned_p{{turned(p.pieces[1]), turned(p.pieces[0])}, turned(p.kings), 1 - p.side};
            visit(p, turned_p);
            state.apply(state.random_action(rng));
        }
    }
}

TEST(checkers_turned) {
    for (int square = 0; square < 32; ++square) CHECK(turned(Squares(1) << square) == Squares(1) << (31 - square));
    for_random_positions(20, [](const Position& p, const Position& q) {
        CHECK(seen_by_mover(p) == seen_by_mover(q));
        CHECK(find_starts(p).count() == find_starts(q).count());
    });
}

TEST(checkers_endgames_numbers) {
    const Database endgames(4, 4);
    std::vector<bool> seen(endgames.size());
    std::size_t legal = 0;
    for (const auto& material : endgames.materials()) {
        for (std::size_t number = material.first; number < material.first + material.size; number += 7) {
            Position p;
            if (!Database::position(material, number - material.first, p)) continue;
            check(p);
            CHECK(endgames.number(p) == number);
            CHECK(endgames.material(number).first == material.first);
            CHECK(!seen[number]);
            seen[number] = true;
            ++legal;
        }
    }
    CHECK(legal > endgames.size() / 10);
}

// Every value follows from those after the moves, which proves all of them.
TEST(checkers_endgames_of_three_pieces) {
    Control control;
    const auto endgames = solve_endgames(3, 2, control);
    CHECK(control.done == static_cast<std::int64_t>(2 * endgames->table.size()));
    for (const auto& material : endgames->materials()) {
        for (std::size_t number = material.first; number < material.first + material.size; ++number) {
            Position p;
            if (!Database::position(material, number - material.first, p)) {
                CHECK(endgames->table[number] == Database::kUnused);
                continue;
            }
            BestOf best;
            for_each_action(p, find_starts(p), [&](Action action) { best.add(endgames->look_up(play(p, action))); });
            CHECK(endgames->table[number] == best.value());
        }
    }
}

static std::string file_with(const Bytes& content) {
    std::string path = "/tmp/rookery-test-XXXXXX";
    const int file = mkstemp(path.data());
    CHECK(write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    close(file);
    return path;
}

TEST(checkers_prefix_codes) {
    for (const std::vector<std::uint64_t>& counts : std::vector<std::vector<std::uint64_t>>{
             {5}, {0, 7, 0}, {1, 1}, {1, 2, 4, 8, 16}, std::vector<std::uint64_t>(256, 3), {0, 0, 0}}) {
        const PrefixCode code(PrefixCode::lengths(counts));
        for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
            CHECK((code.length(symbol) > 0) == (counts[symbol] > 0));
            if (!counts[symbol]) continue;
            const std::uint64_t word = std::uint64_t(code.code(symbol)) << (64 - code.length(symbol));
            CHECK(code.read(word).symbol == symbol && code.read(word).length == code.length(symbol));
        }
    }
    // By hand: the two rarest of 1, 2, 4, 8, 16 have codes of four bits.
    CHECK((PrefixCode::lengths({1, 2, 4, 8, 16}) == Bytes{4, 4, 3, 2, 1}));
    // Fibonacci numbers would have a code of 39 bits.
    std::vector<std::uint64_t> fibonacci{1, 1};
    while (fibonacci.size() < 40) fibonacci.push_back(fibonacci.end()[-1] + fibonacci.end()[-2]);
    const Bytes lengths = PrefixCode::lengths(fibonacci);
    CHECK(*std::max_element(lengths.begin(), lengths.end()) == PrefixCode::kLongest);
    double sum = 0;
    for (const int length : lengths) sum += std::pow(0.5, length);
    CHECK(sum == 1);
    bool refused = false;
    try {
        PrefixCode(Bytes{1, 1, 1});
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
}

// What the catalogue of checksums gives for the digits 1 to 9, and what other programs find for a few more bytes.
TEST(checkers_checksums_are_those_of_zlib) {
    const auto of_text = [](std::string_view text) { return crc32(Bytes(text.begin(), text.end())); };
    CHECK(of_text("123456789") == 0xcbf43926u);
    CHECK(of_text("") == 0);
    CHECK(of_text("a") == 0xe8b7be43u);
    CHECK(of_text("The quick brown fox jumps over the lazy dog") == 0x414fa339u);
}

TEST(checkers_packed_bytes) {
    Rng rng(4);
    for (const std::size_t size : {1, 63, 64, 65, 2048, 2049, 700'000}) {
        Bytes bytes(size);
        for (std::size_t i = 0, value = 0; i < size; ++i) {
            if (rng.below(4) == 0) value = rng.below(2) ? 254 : rng.below(1 + i % 200);
            bytes[i] = static_cast<std::uint8_t>(value);
        }
        const Bytes extra{1, 2, 3}, content = Packed::pack(extra, bytes, 2);
        CHECK(content == Packed::pack(extra, bytes, 1));
        const std::string path = file_with(content);
        const Packed packed(path);
        CHECK(packed.size() == size && std::ranges::equal(packed.extra(), extra));
        for (std::size_t i = 0; i < size; i += 1 + i / 5000) CHECK(packed[i] == bytes[i]);
        Bytes unpacked(size);
        for (std::size_t block = 0; block < packed.blocks(); ++block)
            packed.unpack(block, unpacked.data() + block * Packed::kBlock);
        CHECK(unpacked == bytes);
        unlink(path.c_str());
    }
}

// A file has codes for the values that occur, and equal bytes take next to nothing.
TEST(checkers_packed_bytes_are_few) {
    const std::size_t block = Packed::pack({}, Bytes(Packed::kBlock, 7), 1).size();
    CHECK(block < 10'000);  // nearly all of it the end that is not used
    CHECK(Packed::pack({}, Bytes(1000 * Packed::kBlock, 7), 1).size() < block + 1000 * 100);
}

// Whatever bit is wrong, a file is refused at once or when what is wrong in it is needed; the end is not used.
TEST(checkers_packed_bytes_damaged) {
    Bytes bytes(5000);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * i >> 5);
    const Bytes content = Packed::pack(Bytes{1}, bytes, 1);
    std::size_t end = content.size();
    while (!content[end - 1]) --end;
    Rng rng(5);
    for (int i = 0; i < 300; ++i) {
        Bytes damaged = content;
        if (i % 10 == 0) {
            damaged.resize(rng.below(static_cast<std::uint32_t>(content.size())));
        } else {
            damaged[rng.below(static_cast<std::uint32_t>(end))] ^= static_cast<std::uint8_t>(1 << rng.below(8));
        }
        const std::string path = file_with(damaged);
        bool refused = false;
        try {
            const Packed packed(path);
            for (std::size_t j = 0; j < bytes.size(); j += Packed::kBlock) CHECK(packed[j] == bytes[j]);
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        CHECK(refused);
        unlink(path.c_str());
    }
}

// The code of endgames in files, with few pieces.
TEST(checkers_endgames_in_files) {
    Control control;
    const auto whole = solve_endgames(3, 2, control), two = solve_endgames(2, 1, control);
    Database packed(3, 2);
    packed.table = two->table;
    for (const auto& group : packed.groups()) {
        if (packed.materials()[group[0]].pieces() == 2) continue;
        const auto values = Solver(packed, group, 2, control).run();
        for (std::size_t i = 0; i < group.size(); ++i) {
            const std::string path = file_with(packed.pack(group[i], values[i], 2));
            packed.attach(group[i], path);
            unlink(path.c_str());
            const auto a = packed.counts(group[i]), b = whole->counts(group[i]);
            CHECK(a.wins == b.wins && a.draws == b.draws && a.losses == b.losses && a.longest == b.longest);
        }
    }
    for (const auto& m : whole->materials()) {
        Database::for_each_position(m, 0, m.size, [&](std::size_t number, const Position& p) {
            CHECK(whole->number(p) == m.first + number);
            CHECK(packed.look_up(p) == whole->table[m.first + number]);
        });
    }
    Database again(4, 3);
    again.table.resize(again.table_size());
    packed.unpack_into(again, 2, control);
    CHECK(again.table == whole->table);
}

TEST(checkers_patterns_do_not_know_colours) {
    std::vector<float> weights(Patterns::kWeights);
    Rng rng(1);
    for (float& weight : weights) weight = static_cast<float>(rng.uniform() - 0.5);
    const PatternValue value(weights);
    for_random_positions(30, [&](const Position& p, const Position& q) {
        CHECK(value(p) == value(q));
        int active = 0;
        Patterns::for_each(p, [&](std::uint32_t i) {
            CHECK(i < Patterns::kCount);
            ++active;
        });
        CHECK(active <= Patterns::kMostActive);
    });
}

// Worked by hand: a lost game of three plies, seen by the players in turn, with lambda one half.
TEST(checkers_td_targets) {
    std::vector<TdLearner::Step> steps(3);
    steps[0].found = 0.5f;
    steps[1].found = 0.25f;
    steps[2].found = 0.5f;
    TdLearner::set_targets(steps, 0.0, 0.5);
    CHECK(steps[2].target == 0.25f);                 // half of 0.5 and of 0
    CHECK(steps[1].target == 0.125f + 0.375f);       // half of 0.25 and of 1 - 0.25
    CHECK(steps[0].target == 0.25f + 0.25f);         // half of 0.5 and of 1 - 0.5
    steps[1].random = true;
    TdLearner::set_targets(steps, 0.0, 0.5);
    CHECK(steps[2].target == 0.25f);
    CHECK(steps[1].target == 0.25f);                 // what was found, for the move was not the best
    CHECK(steps[0].target == 0.25f + 0.375f);
    TdLearner::set_targets(steps, 1.0, 1.0);
    CHECK(steps[2].target == 1.0f);
}

TEST(checkers_td_learns_what_it_is_told) {
    TdLearner learner({3, 0.7, 0.05, 8});
    const Position p;
    double before = 1;
    for (int i = 0; i < 200; ++i) {
        const double error = learner.learn(p, 0.8f, 2.0);
        CHECK(error <= before);
        before = error;
    }
    CHECK(before < 1e-4);
    CHECK(std::abs(1 / (1 + std::exp(-Patterns::value(learner.weights.value.data(), p))) - 0.8) < 0.01);
}

TEST(checkers_td_threads) {
    TdLearner one({2, 0.7, 0.1, 8}), two({2, 0.7, 0.1, 8});
    Control control;
    for (int batch = 0; batch < 3; ++batch) {
        const auto a = one.train(State(kRules), 20 * batch, 20, 4.0, 5, 1, control);
        const auto b = two.train(State(kRules), 20 * batch, 20, 4.0, 5, 3, control);
        CHECK(a.learned == b.learned && a.games == 20);
    }
    CHECK(one.weights.value == two.weights.value);
}

// Far from zero on both sides, and other for every position, so that a value of another position shows.
struct CountedValue : Evaluation {
    mutable int asked = 0;
    Score operator()(const Position& p) const override {
        ++asked;
        return static_cast<Score>(hash(p) % (2 * kMaxEvaluation + 1)) - kMaxEvaluation;
    }
};

TEST(checkers_cached_values) {
    const CountedValue value, same;
    const Cached cached(value);
    int positions = 0;
    for_random_positions(200, [&](const Position& p, const Position& q) {
        CHECK(cached(p) == same(p));
        CHECK(cached(q) == same(q));
        const int asked = value.asked;
        CHECK(cached(q) == same(q));
        CHECK(value.asked == asked);
        positions += 2;
    });
    CHECK(value.asked > positions / 2);  // most positions are new
    CHECK(value.asked < positions);      // openings occur again
}

TEST(checkers_matches) {
    const auto material = std::make_shared<MaterialValue>();
    Control control;
    std::vector<MatchGame> games(20);
    play_match(State(kRules), {Player{3, material, nullptr}, Player{0, material, nullptr}}, 2, 1, 2, std::span(games),
               control);
    int points = 0;
    for (const auto& game : games) {
        CHECK(game.plies > 10);
        points += game.result;
    }
    CHECK(points >= 18);
}

// Every kind of limit and position, for the sanitizers.
TEST(checkers_engine) {
    Control control;
    const auto endgames = solve_endgames(3, 2, control);
    const NetLearner learner(1);
    const NetValue value(learner.weights());
    Engine engine(value, endgames.get(), 10);
    int games = 0;
    for_random_positions(12, [&](const Position& p, const Position& q) {
        if (std::popcount(p.pieces[0] | p.pieces[1]) % 3 != 0) return;
        CHECK(value(p) == value(q));
        const State state(kRules, p);
        const auto found = engine.best(state, {.nodes = 300}, control);
        CHECK(engine.nodes <= 300);
        CHECK(engine.best(state, {.nodes = 100, .paced = true}, control).line.size() > 0);
        CHECK(engine.nodes <= (std::popcount(p.pieces[0] | p.pieces[1]) > 8 ? 380 : 60));
        engine.best(state, {.seconds = 0.0001, .keep = true, .paced = true}, control);
        State now = state;
        for (const Action action : found.line) {
            CHECK(now.is_legal(action));
            now.apply(action);
        }
        const auto [again, values] = engine.values(state, {.depth = 3}, control);
        CHECK(values.size() == state.count_legal());
        for (const auto& move : values) CHECK(move.score <= again.score);
        ++games;
    });
    CHECK(games > 50);
}

// For the thread sanitizer: everything that threads share, every kind of limit, and a call that is stopped.
TEST(checkers_engine_threads) {
    Control control;
    const auto endgames = solve_endgames(3, 2, control);
    const NetLearner learner(1);
    const NetValue value(learner.weights());
    const Cached one(value), two(value), three(value);
    Engine engine({&one, &two, &three}, endgames.get(), 10, true);
    for_random_positions(3, [&](const Position& p, const Position&) {
        const State state(kRules, p);
        for (const Limits& limits :
             {Limits{.nodes = 900}, Limits{.depth = 5}, Limits{.seconds = 0.0005}, Limits{.nodes = 1, .keep = true}}) {
            const auto found = engine.best(state, limits, control);
            CHECK(engine.nodes <= std::max<std::uint64_t>(3, limits.nodes));
            State now = state;
            for (const Action action : found.line) {
                CHECK(now.is_legal(action));
                now.apply(action);
            }
        }
    });
    const auto [found, values] = engine.values(State(kRules), {.depth = 4}, control);
    CHECK(values.size() == 7 && found.depth == 4);
    control.stop = true;
    CHECK(engine.best(State(kRules), {}, control).line.size() == 1);
    CHECK(engine.nodes < 3 * 300);
}

TEST(checkers_net_learns) {
    Control control;
    const auto material = std::make_shared<MaterialValue>();
    const auto examples = play_examples(State(kRules), *material, nullptr, {100, 0.9, 0.1, 6}, 0, 10, 3, 2, control);
    CHECK(examples.size() > 100);
    NetLearner learner(1);
    const double first = learner.learn(examples, 1, 32, 0.002, 1, 2, control);
    CHECK(learner.learn(examples, 20, 32, 0.002, 2, 2, control) < first);
}
