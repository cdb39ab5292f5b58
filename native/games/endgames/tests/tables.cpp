#include "games/endgames/retrograde.hpp"

#include "tests/check.hpp"
#include "games/endgames/perfect.hpp"

using namespace rookery;
using namespace rookery::testing;
using namespace rookery::endgames;

static std::shared_ptr<DistanceTable> table_of(std::string_view pieces, DistanceTable::Tables others = {}) {
    Control control;
    const auto table = generate(read_kinds(pieces), std::move(others), 2, control);
    CHECK(control.done ==
          static_cast<std::int64_t>(2 * EndgameIndex(read_kinds(pieces)).size()));  // both sides to move
    return table;
}

// A position is as far from its end as its best move says.
static void check_best_moves(const DistanceTable& table, std::string_view pieces) {
    Rng rng(2);
    for (int i = 0; i < 2000; ++i) {
        const Position p = random_position(pieces, rng);
        std::int16_t best = -32000;
        bool first = true;
        for (const auto& move : move_distances(table, p)) {
            if (first || is_better(move.distance, best)) best = move.distance;
            first = false;
        }
        CHECK(best == table.distance(p));
    }
}

// 462 placements of two kings up to the 8 symmetries of the board; 1806 up to left and right.
TEST(endgame_index_sizes) {
    CHECK(EndgameIndex(read_kinds("R")).size() == 462 * 64);
    CHECK(EndgameIndex(read_kinds("BB")).size() == 462 * 32 * 32);
    CHECK(EndgameIndex(read_kinds("NB")).size() == 462 * 64 * 64);
    CHECK(EndgameIndex(read_kinds("P")).size() == 1806 * 48);
    CHECK(EndgameIndex(read_kinds("PP")).size() == 1806 * 48 * 48);
}

// One or two letters, in any order; everything else is refused.
TEST(endgame_pieces_are_read_from_letters) {
    CHECK((read_kinds("R") == Kinds{kRook, kNoPiece}));
    CHECK(read_kinds("NB") == read_kinds("BN") && read_kinds("PQ") == read_kinds("QP"));
    for (const auto* bad : {"", "QRB", "QQQ", "K", "QK", "q", "R ", ".", "1"}) {
        bool refused = false;
        try {
            read_kinds(bad);
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        CHECK(refused);
    }
}

TEST(endgame_index_of_random_positions) {
    for (const auto* pieces : {"Q", "P", "BB", "BN", "QQ", "RR", "QP", "PP", "NN"}) {
        const EndgameIndex index(read_kinds(pieces));
        Rng rng(1);
        for (int i = 0; i < 3000; ++i) {
            const Position p = random_position(pieces, rng);
            const std::size_t number = index.of(p);
            CHECK(number < index.size());
            const auto representative = index.legal(number, p.to_move);
            CHECK(representative.has_value());
            CHECK(index.of(*representative) == number);
            CHECK(legal_moves(*representative).count == legal_moves(p).count);
            CHECK(in_check(*representative) == in_check(p));
        }
    }
}

// Every legal position is one of the images of a representative.
TEST(endgame_index_images) {
    for (const auto& [pieces, positions] : {std::pair{"R", 223'944}, {"P", 168'024}}) {
        const EndgameIndex index(read_kinds(pieces));
        int images = 0;
        for (std::size_t number = 0; number < index.size(); ++number) {
            if (const auto p = index.legal(number, 1)) images += index.images(*p);
        }
        CHECK(images == positions);
    }
}

TEST(endgame_tables_of_one_piece) {
    const auto queen = table_of("Q"), rook = table_of("R"), pawn = table_of("P", {queen, rook});
    const auto longest = [](const DistanceTable& table) {
        int plies = 0;
        for (const int byte : table.plies[0]) plies = byte < kDrawn ? std::max(plies, byte) : plies;
        return plies;
    };
    CHECK(longest(*queen) == 19);
    CHECK(longest(*rook) == 31);
    CHECK(longest(*pawn) == 55);
    CHECK(queen->histogram()[1][0] == 364);
    CHECK(queen->histogram()[1][kDrawn] == 23'048);
    check_best_moves(*pawn, "P");
}

// The lone king may take a queen and still lose. It is mated in four moves at most if it cannot.
TEST(endgame_tables_of_two_queens) {
    const auto queen = table_of("Q"), queens = table_of("QQ", {queen});
    check_best_moves(*queens, "QQ");
    Rng rng(4);
    int takes = 0;
    for (int i = 0; i < 4000; ++i) {
        const Position p = random_position("QQ", rng);
        const std::int16_t distance = queens->distance(p);
        if (p.strong_to_move()) CHECK(distance == kDrawDistance || distance <= 7);
        if (p.strong_to_move() || distance == kDrawDistance || distance >= -8) continue;
        // So far ahead it is mated by one queen only.
        bool may_take = false;
        for_each_move(p, legal_moves(p), [&](Move move) { may_take |= (p.pieces() & bit(move.to())) != 0; });
        CHECK(may_take);
        ++takes;
    }
    CHECK(takes > 20);
}

TEST(endgame_tables_answer_any_bytes) {
    const auto table = table_of("Q");
    Rng rng(3);
    for (int i = 0; i < 200'000; ++i) {
        Position p = std::bit_cast<Position>(rng.next());
        if (i % 2) {  // mostly sensible ones
            p = random_position("Q", rng);
            auto* bytes = reinterpret_cast<std::uint8_t*>(&p);
            bytes[rng.below(8)] = static_cast<std::uint8_t>(rng.below(70));
        }
        const auto distance = table->distance_if_legal(p);
        CHECK(distance == kNoDistance || distance == kDrawDistance || std::abs(distance) <= 20);
    }
}

TEST(perfect_endgames_learns_the_queen) {
    const auto table = table_of("Q");
    PerfectLearner learner(read_kinds("Q"), 0.95f);
    Control control;
    for (int round = 0; round < 60; ++round) learner.round(10'000, 7, 2, control);
    const auto verdict = learner.judge(*table, 2);
    CHECK(verdict.won == 144'508);
    CHECK(verdict.optimal == verdict.won);
    CHECK(verdict.exact == verdict.won);
}
