"""What the paper on Prior State Voting shows, and where it is here."""

from rookery.studies.paper import Item, Paper

RULES = "`src/rookery/games/checkers/rules.py`"
LEARNER = "`native/games/checkers/q_table.hpp`"
VOTES = "`native/games/checkers/voting.hpp`"
STUDY = "`rookery reproduce checkers`"

PAPER = Paper(
    title="Prior State Voting (PSV): Predicting unknown move states from prior states in Q-table reinforcement "
    "learning",
    authors="O. Benning",
    year=2021,
    items=(
        Item(
            "Rules (1.4)",
            "`rookery show checkers`",
            "faithful: draws by the third repetition and after 100 plies without a capture; the variant `no-draws` is "
            "played until one colour wins, as in Algorithm 1",
        ),
        Item(
            "Figure 1: indices of cells",
            "`rookery show checkers`",
            "squares are numbered 1 to 32 as players do; the paper's cell n is our square n + 1, with the board turned "
            "by half a turn",
        ),
        Item(
            "Table 1, Table 2: `Piece`, `Cell`",
            "`native/games/checkers/rules.hpp`",
            "sets of squares as bits instead of objects, because they are a thousand times faster; same rules",
        ),
        Item(
            "Table 3, Table 4: `Game`",
            RULES,
            "the interface of every game here: `clone`, `returns` (outcome), `legal_actions`, `apply` (do_move), "
            "`random_games`, `str`; the approximator is a view, `src/rookery/games/checkers/voting.py`",
        ),
        Item(
            "Equations (1) to (3): the Bellman update",
            LEARNER,
            "faithful; the text gives no alpha, epsilon or discount: those of the author's program are the defaults, "
            "but its discount rises as 0.1 + 0.9 (i + 1) / n over games i = 0 to n - 1, ours as 0.1 + 0.9 i / (n - 1)",
        ),
        Item(
            "Algorithm 1: Q-learning",
            "`rookery train checkers q-learning`",
            "faithful, once for each player's own moves. A drawn game, which Algorithm 1 does not have, is worth 0: "
            "our choice; `--draw-reward -1` gives -1 to whoever does not win. Ties are broken at random",
        ),
        Item(
            "The author's published program",
            "`rookery train checkers q-learning --preset author --variant no-draws`; " + STUDY
            + ", The author's program",
            "differs from the text: walks forwards, floors the next value at 0, carries it across players, takes the "
            "first of ties, shifts boards the wrong way when it counts matches. Not remade: long captures that it ends "
            "too early, and the inverted sign of keep-training for White",
        ),
        Item("Algorithm 2: Prior State Voting", VOTES, "faithful scores, in time that does not depend on the table"),
        Item(
            "Figure 2, Figure 3, equations (4) to (10): overlap of two boards",
            "`rookery explain checkers POSITION --agent voting --svg votes`",
            "faithful: 0.375 for Figure 2 is a test",
        ),
        Item(
            "Random and keep-training comparators (3.1)",
            "`rookery arena checkers q-learning:fallback=keep-training random`",
            "faithful, with the right sign for both colours; what is learned is kept to the end of a game",
        ),
        Item(
            "Figure 4: wins against random",
            STUDY + ", Figure 4",
            "1,000 games per cell instead of 100, with intervals and with and without draws. The paper's numbers are "
            "those of the author's program, which has a table of its own",
        ),
        Item(
            "Figure 5: time per game",
            STUDY + ", Figure 5",
            "mean and standard deviation, in CPU time; the paper's deviations are from its author's published results",
        ),
        Item(
            "Parallel PSV (3.4)",
            VOTES,
            "the sums are made in parallel, once; a move then takes about a microsecond",
        ),
        Item(
            "Rewards for captures, decay of rewards (2.2)",
            STUDY + ", Other rewards",
            "`--capture-reward` and `--reward-decay`; built as settings, off by default",
        ),
        Item(
            "Deep Q-learning (3.4)",
            "`rookery train checkers dqn`; " + STUDY + ", PSV and deep Q-learning",
            "built, compared on equal training time",
        ),
        Item(
            "Symmetries of the board (3.4)",
            "`voting:symmetries=4`",
            "half a turn with colours exchanged, and mirror images; a quarter turn is no symmetry of checkers",
        ),
        Item(
            "Other games, such as chess (3.4)",
            "`examples/prior_state_voting.py`",
            "any game on a grid, without code of its own: tic-tac-toe and chess endgames are measured",
        ),
        Item(
            "Explaining moves by their votes (3.4)",
            "`rookery explain checkers POSITION --agent voting`",
            "built: the strongest votes for and against, drawn",
        ),
    ),
)  # fmt: skip
