// The code of the GPU, lane by lane, beside the rules that replay every move.
#include "games/morpion/walk.hpp"

#include <cmath>
#include <map>
#include <numeric>

#include "games/morpion/rules.hpp"
#include "tests/check.hpp"

using namespace rookery;
using namespace rookery::testing;
using namespace rookery::morpion::warp;
using morpion::Cell;
using morpion::Dot;
using morpion::Region;

using Up = CpuWarp<false>;
using Down = CpuWarp<true>;

namespace {

Settings settings_of(bool touching) { return {touching ? 15u : 31u, touching ? 3u : 4u, 1000, 3, 40, 40, 80, 64}; }

// The unlimited grid has 16 more rows and columns before those of the GPU's board.
Action action_of(const morpion::Rules& rules, u32 move) {
    const int direction = move >> 13;
    const Dot dot = dot_of(move);
    const int position = move & 7;
    const Cell first = morpion::step({dot.x + 16, dot.y + 16}, direction, -position);
    return rules.action(static_cast<morpion::Line>(morpion::line_at(direction, first)), position);
}

morpion::State replay(const morpion::Rules& rules, const u16* grid, int length) {
    std::vector<Action> actions;
    for (int i = 0; i < length; ++i) actions.push_back(action_of(rules, grid[i]));
    return morpion::State(rules, actions);  // throws at an illegal move
}

struct Grids {  // of one walker
    std::vector<u16> grid = std::vector<u16>(kMoves), best = grid, partner = grid;
    std::vector<u32> accept = std::vector<u32>(kLosses);
    Walker walker{grid.data(), best.data(), 0, 0, partner.data(), 0, 0, 0, accept.data(), 0};

    Grids(u32 number, double temperature) {
        walker.stream = stream_of(5, number);
        for (int loss = 0; loss < kLosses; ++loss) {
            accept[loss] = static_cast<u32>(std::min(4294967295.0, std::exp(-loss / temperature) * 4294967296.0));
        }
    }
};

}  // namespace

TEST(morpion_warps_play_random_games) {
    const Board board = make_board();
    for (const bool touching : {true, false}) {
        const morpion::Rules rules(5, touching, 0);
        double sum = 0, squares = 0;
        constexpr int kGames = 2000;
        Scratch scratch;
        for (u32 i = 0; i < kGames; ++i) {
            Grids game(i, 1);
            walk<Up>(scratch, board, settings_of(touching), game.walker, 0);
            sum += game.walker.length;
            squares += game.walker.length * game.walker.length;
            const auto end = replay(rules, game.grid.data(), game.walker.length);
            CHECK(end.player() == kTerminal && game.walker.best_length == game.walker.length && game.grid == game.best);
        }
        const double mean = sum / kGames, error = std::sqrt((squares / kGames - mean * mean) / kGames);
        CHECK(std::abs(mean - (touching ? 53.62 : 42.90)) < 4 * error);  // means of random games by the rules
    }
}

// What stays of a grid, and what is then legal, by the cascade and by replaying every move.
TEST(morpion_warps_take_out_what_a_replay_would_lose) {
    const Board board = make_board();
    for (const bool touching : {true, false}) {
        const morpion::Rules rules(5, touching, 0);
        const Settings settings = settings_of(touching);
        Scratch scratch;
        Rng rng(touching);
        Grids game(3, 0.5);
        int fell = 0, stayed = 0;
        for (int round = 0; round < 300; ++round) {
            walk<Up>(scratch, board, settings, game.walker, 5);
            const int length = game.walker.length;
            const Dot centre = dot_of(game.grid[rng.below(length)]);
            const auto number = static_cast<u32>(rng.next());
            const Region holes[] = {box(centre, round % 5), strip(centre, round % 2, number), wedge(centre, number)};
            const Region& hole = holes[round % 3];
            std::vector<u16> kept(kMoves), expected;
            const bool remade = round / 3 % 2 == 1;
            const int left =
                destroy<Up>(scratch, board, settings.used, game.grid.data(), length, kept.data(), hole, remade);
            kept.resize(left);
            morpion::State state(rules);
            std::set<int> lost;  // lines
            std::set<std::pair<int, int>> dots;  // that any line may make again
            std::vector<u32> marked(128);
            for (int i = 0; i < length; ++i) {
                const Action action = action_of(rules, game.grid[i]);
                const bool out = hole.contains(dot_of(game.grid[i]));
                const morpion::Cell dot = rules.move(action).dot;
                if (out && remade) dots.insert({dot.x, dot.y});
                if (!out && state.is_legal(action)) {
                    state.apply(action);
                    expected.push_back(game.grid[i]);
                } else if (!out) {
                    lost.insert(rules.move(action).line);
                    marked[game.grid[i] >> 8] |= 1u << (game.grid[i] >> 3 & 31);
                }
            }
            CHECK(kept == expected);
            CHECK(std::equal(marked.begin(), marked.end(), scratch.known));
            stayed += left;
            fell += static_cast<int>(lost.size());
            Legal n;
            list_legal<Up>(scratch, settings, n);
            std::set<Action> legal, known, others;
            for (const auto line : state.legal_lines()) {
                const morpion::Cell dot = rules.move(state.action(line)).dot;
                (lost.contains(line) || dots.contains({dot.x, dot.y}) ? known : others).insert(state.action(line));
            }
            for (int i = 0; i < n.known; ++i) legal.insert(action_of(rules, scratch.lists[i] & 0x7fff));
            CHECK(legal == known && n.lost == 0);
            legal.clear();
            for (int i = 0; i < n.other; ++i) legal.insert(action_of(rules, scratch.lists[kList + i] & 0x7fff));
            CHECK(legal == others);
        }
        CHECK(fell > 1000 && stayed > 1000);
    }
}

TEST(morpion_warps_do_the_same_in_any_order_of_lanes) {
    const Board board = make_board();
    for (const bool touching : {true, false}) {
        const morpion::Rules rules(5, touching, 0);
        Scratch scratch;
        int longest = 0;
        std::vector<u16> partner(kMoves);
        int partner_length = 0;
        for (u32 i = 0; i < 4; ++i) {
            Grids up(i, touching ? 0.8 : 0.4), down(i, touching ? 0.8 : 0.4);
            for (Grids* grids : {&up, &down}) {
                grids->partner = partner;
                grids->walker.partner = grids->partner.data();
                grids->walker.partner_length = partner_length;
            }
            u32 tallies[kHoles * kTallies];
            for (int round = 0; round < 3; ++round) {
                walk<Up>(scratch, board, settings_of(touching), up.walker, 400);
                std::copy(std::begin(scratch.tallies), std::end(scratch.tallies), tallies);
                walk<Down>(scratch, board, settings_of(touching), down.walker, 400);
                CHECK(std::equal(std::begin(tallies), std::end(tallies), scratch.tallies));
            }
            u32 tried = 0;
            for (int hole = 0; hole < kHoles; ++hole) tried += tallies[hole * kTallies + kTried];
            CHECK(tried == 400 && (tallies[kMated * kTallies] > 0) == (partner_length > 0));
            CHECK(up.grid == down.grid && up.best == down.best && up.walker.counter == down.walker.counter);
            CHECK(up.walker.length == down.walker.length && up.walker.best_length == down.walker.best_length);
            CHECK(up.walker.lost == 0);
            for (const auto& [grid, length] :
                 {std::pair(up.grid, up.walker.length), {up.best, up.walker.best_length}}) {
                CHECK(replay(rules, grid.data(), length).player() == kTerminal);
            }
            longest = std::max(longest, up.walker.best_length);
            partner = up.best;
            partner_length = up.walker.best_length;
        }
        CHECK(longest > (touching ? 90 : 60));
    }
}

// One trial at a time: it counts for one kind of hole, and the grid tells what came of it. Of 256 trials as many take out
// a strip or a wedge, or mate, as the settings say.
TEST(morpion_warps_count_what_becomes_of_their_trials) {
    const Board board = make_board();
    Settings settings = settings_of(true);
    settings.strips = 64, settings.wedges = 32, settings.mated = 64;
    Scratch scratch;
    Grids partner(9, 0.8), grids(1, 2.0);
    walk<Up>(scratch, board, settings, partner.walker, 50);
    walk<Up>(scratch, board, settings, grids.walker, 1);
    grids.walker.partner = partner.grid.data();
    grids.walker.partner_length = partner.walker.length;
    constexpr int kTrials = 4000;
    int tried[kHoles] = {}, refused = 0, shorter = 0, longer = 0;
    for (int i = 0; i < kTrials; ++i) {
        const std::vector<u16> before = grids.grid;
        const int length = grids.walker.length;
        walk<Up>(scratch, board, settings, grids.walker, 1);
        int hole = 0;
        while (hole + 1 < kHoles && scratch.tallies[hole * kTallies + kTried] == 0) ++hole;
        const u32* counted = scratch.tallies + hole * kTallies;
        CHECK(std::accumulate(std::begin(scratch.tallies), std::end(scratch.tallies), 0u) ==
              counted[kTried] + counted[kAccepted] + counted[kLonger]);
        CHECK(counted[kTried] == 1 && counted[kAccepted] <= 1);
        CHECK(counted[kLonger] == (grids.walker.length > length));
        CHECK(counted[kAccepted] == 1 || grids.grid == before);
        CHECK(counted[kAccepted] == 1 || grids.walker.length == length);
        ++tried[hole];
        refused += counted[kAccepted] == 0;
        shorter += grids.walker.length < length;
        longer += grids.walker.length > length;
    }
    CHECK(refused > 50 && shorter > 50 && longer > 50);
    const auto about = [&](Hole hole, double share) {
        return std::abs(tried[hole] - kTrials * share) < 4 * std::sqrt(kTrials * share * (1 - share));
    };
    CHECK(about(kMated, 0.25) && about(kStrip, 0.75 * 0.25) && about(kWedge, 0.75 * 0.125));
}

// Of 256 holes, those of a partner aside, as many may be made again by any line as the settings say, of all shapes; boxes
// have every radius equally often.
TEST(morpion_warps_choose_their_holes_as_often_as_told) {
    const Board board = make_board();
    Settings settings = settings_of(true);
    settings.strips = settings.wedges = 64;
    Scratch scratch;
    Grids grids(1, 2.0);
    walk<Up>(scratch, board, settings, grids.walker, 1);
    constexpr int kDraws = 20'000;
    const auto about = [&](int count, double share) {
        return std::abs(count - kDraws * share) <= 4 * std::sqrt(kDraws * share * (1 - share));
    };
    for (const auto& [remade, mated] : {std::pair(0u, 0u), {64u, 0u}, {192u, 32u}, {256u, 0u}}) {
        settings.remade = remade, settings.mated = mated;
        Random<Up> random(7, 0);
        int drawn[kHoles] = {}, again[kHoles] = {};
        std::map<std::size_t, int> sizes;  // of boxes
        for (int i = 0; i < kDraws; ++i) {
            const Choice choice = choose<Up>(settings, random, grids.grid.data(), grids.walker.length, mated > 0);
            ++drawn[choice.hole];
            again[choice.hole] += choice.remade;
            if (choice.hole != kBox || drawn[kBox] > 1000) continue;
            std::size_t cells = 0;
            for (int y = 0; y < 64; ++y) {
                for (int x = 0; x < 64; ++x) cells += choice.region.contains({x, y});
            }
            ++sizes[cells];
        }
        const double alone = 1 - mated / 256.0;
        CHECK(about(drawn[kMated], mated / 256.0) && again[kMated] == 0);
        const std::pair<Hole, double> shares[] = {{kStrip, 0.25}, {kWedge, 0.25}, {kBox, 0.5}};
        for (const auto& [hole, share] : shares) {
            CHECK(about(drawn[hole], alone * share) && about(again[hole], share * remade / 256.0));
        }
        CHECK(sizes.size() == 4);  // of radius 0 to 3
        for (const std::size_t width : {1, 3, 5, 7}) CHECK(std::abs(sizes[width * width] - 250) < 4 * std::sqrt(187.5));
    }
}

// Half of the holes of a partner are boxes of radius 0 to 8, each as often; the others are a quarter or a half of the plane.
TEST(morpion_warps_take_holes_of_all_sizes_from_a_partner) {
    Settings settings = settings_of(true);
    settings.mated = 256;
    const std::vector<u16> grid{
        static_cast<u16>(15 << 8 | 15 << 3)};  // one move, whose dot is the centre of every hole
    const Dot centre = dot_of(grid[0]);
    Random<Up> random(3, 0);
    constexpr int kDraws = 18'000;
    int boxes = 0;
    std::map<int, int> radii;
    for (int i = 0; i < kDraws; ++i) {
        const Region hole = choose<Up>(settings, random, grid.data(), 1, true).region;
        CHECK(hole.contains(centre));
        int to_right = 0, to_left = 0, above = 0, below = 0;
        while (to_right < 16 && hole.contains({centre.x + to_right + 1, centre.y})) ++to_right;
        while (to_left < 15 && hole.contains({centre.x - to_left - 1, centre.y})) ++to_left;
        while (below < 16 && hole.contains({centre.x, centre.y + below + 1})) ++below;
        while (above < 15 && hole.contains({centre.x, centre.y - above - 1})) ++above;
        if (std::max({to_right, to_left, above, below}) >= 15) continue;  // a wedge reaches a border of the board
        CHECK(to_right == to_left && to_right == above && to_right == below);
        ++boxes, ++radii[to_right];
    }
    CHECK(std::abs(boxes - kDraws / 2) < 4 * std::sqrt(kDraws / 4));
    CHECK(radii.size() == 9 && radii.rbegin()->first == 8);
    for (const auto& [radius, count] : radii) CHECK(std::abs(count - boxes / 9.0) < 4 * std::sqrt(boxes / 9.0));
}

// A grid that was damaged gets back what it lost from a partner that still has it, sooner than by itself.
TEST(morpion_warps_take_over_the_lines_of_a_partner) {
    const Board board = make_board();
    Settings settings = settings_of(true);
    settings.mated = settings.remade = 0;
    Scratch scratch;
    Grids good(1, 0.5);
    walk<Up>(scratch, board, settings, good.walker, 20'000);
    int mended = 0, alone = 0;
    for (u32 i = 0; i < 20; ++i) {
        Grids damaged(i, 100);  // accepts everything
        damaged.grid = good.grid;
        damaged.walker.grid = damaged.grid.data();
        damaged.walker.length = good.walker.length;
        walk<Up>(scratch, board, settings, damaged.walker, 3);
        if (damaged.walker.length > good.walker.length - 10) continue;
        for (const bool with_partner : {true, false}) {
            Grids grids(i, 0.5);
            grids.grid = damaged.grid;
            grids.walker.grid = grids.grid.data();
            grids.walker.length = damaged.walker.length;
            grids.walker.partner = good.grid.data();
            grids.walker.partner_length = with_partner ? good.walker.length : 0;
            settings.mated = 128;
            walk<Up>(scratch, board, settings, grids.walker, 300);
            (with_partner ? mended : alone) += grids.walker.length >= good.walker.length - 2;
            settings.mated = 0;
        }
    }
    CHECK(mended >= 10 && 2 * alone < mended);
}
