#include "games/checkers/q_table_match.hpp"

#include "tests/check.hpp"

using namespace rookery;
using namespace rookery::checkers;

static const checkers::Rules kShortGames(3, 100, false);
static const Settings kSettings{0.1, 0.5, 0.1, 1.0};

static QTable trained(std::int64_t games) {
    QTable table;
    Control control;
    const TrainingResult result = train(table, State(kShortGames), kSettings, 0, games, games, 3, control);
    CHECK(result.games == games);
    CHECK(control.done == games);
    CHECK(result.results[0] + result.results[1] + result.results[2] == games);
    return table;
}

TEST(q_table_finds_what_it_holds) {
    const QTable table = trained(60);
    CHECK(table.size() > 2000);
    for (std::uint32_t row = 0; row < table.size(); ++row) {
        CHECK(table.find_row(table.position(row)) == row);
        int learned = 0;
        for_each_learned(table, row, [&](Action, float) { ++learned; });
        CHECK(learned <= count_actions(table.position(row), checkers::find_starts(table.position(row))));
    }
    Position unknown;
    unknown.pieces[0] = 1;
    CHECK(table.find(unknown) == nullptr);
    CHECK(QTable().find(unknown) == nullptr);
}

TEST(q_table_layer_leaves_the_table_alone) {
    const QTable table = trained(20);
    const Position start;
    const float before = table.find(start)[0];
    LayeredTable layer(table);
    CHECK(layer.find(start) == table.find(start));
    float* values = layer.find_or_add(start, 7);
    CHECK(values[0] == before);
    values[0] = 5;
    CHECK(layer.find(start)[0] == 5);
    CHECK(table.find(start)[0] == before);
    CHECK(layer.find_or_add(start, 7)[0] == 5);
}

TEST(voting_sums_are_the_votes) {
    const QTable table = trained(30);
    for (const int symmetries : {1, 2, 4}) {
        const PriorStateVoting voting(table, symmetries, 2);
        State state(kShortGames);
        Rng rng(4);
        while (state.player() != kTerminal) {
            std::vector<MeanVote> scores;
            voting.scores(state.position(), scores);
            ActionList actions;
            state.legal_actions(actions);
            CHECK(scores.size() == actions.size());
            for (std::size_t i = 0; i < actions.size(); i += 3) {
                const auto [in_favour, against] =
                    strongest_votes(table, symmetries, state.position(), actions[i], 1'000'000, 2);
                double sum = 0;
                for (const auto* votes : {&in_favour, &against}) {
                    for (const Vote& vote : *votes) sum += vote.weight;
                }
                const auto n = static_cast<std::int64_t>(in_favour.size() + against.size());
                CHECK(n == scores[i].votes);
                CHECK(std::abs(sum - scores[i].mean * static_cast<double>(n)) < 1e-8);
            }
            state.apply(state.random_action(rng));
        }
    }
    CHECK(strongest_votes(table, 1, Position{}, 8, 0, 1).first.empty());
}

TEST(fallbacks_play_to_the_end) {
    const QTable table = trained(50);
    const PriorStateVoting voting(table, 1, 1);
    for (const Fallback fallback : {Fallback::kRandom, Fallback::kVoting, Fallback::kKeepTraining}) {
        const MatchSettings settings{fallback, &voting, kSettings, 5};
        std::vector<TableGame> games(6);
        Control control;
        play_against_random(table, settings, State(kShortGames), games, 1, 2, control);
        CHECK(control.done == 6);
        for (const TableGame& game : games) CHECK(game.plies > 0 && game.known <= game.moves && game.known > 0);
    }
}
