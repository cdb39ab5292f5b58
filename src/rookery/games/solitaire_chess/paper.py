"""What the paper on Solitaire Chess shows, and where it is here."""

from rookery.studies.paper import Item, Paper

STUDY = "`rookery reproduce solitaire-chess`"

PAPER = Paper(
    title="Applying Deep Reinforcement Learning to Finite State Single Player Games",
    authors="D. Stephens",
    year=None,
    items=(
        Item("Rules (6.1)", "`rookery show solitaire-chess`", "faithful; other board sizes and Solo Chess besides"),
        Item(
            "Inputs and outputs (2.2)",
            '`rookery solve solitaire-chess ".RN./B.P./..../...."`',
            "faithful: the last piece, its square and the captures",
        ),
        Item(
            "Data set of 80 puzzles with solutions (2.4)",
            "`src/rookery/games/solitaire_chess/models/puzzles.json`",
            "80 puzzles of our own with a solution each, 20 per level, because the paper's are not free; puzzles that "
            "the reader has are measured when `ROOKERY_PUBLISHED_PUZZLES` names a CSV file of them",
        ),
        Item(
            "Accuracy (2.3)",
            STUDY + ", column right final",
            "faithful; always 100%, because the search is complete, so the share solved without a step back stands "
            "beside it",
        ),
        Item(
            "Average number of paths explored (2.3)",
            STUDY + ", column mean positions",
            "faithful: positions entered, the start included; positions that our rankings only look at are counted "
            "beside them",
        ),
        Item(
            "Baseline: backtracking (3.2)",
            "`rookery solve solitaire-chess ROWS`",
            "pieces as in the paper; the order of the moves of one piece is our reading, for the paper does not give "
            "it, and its Figure 5 shows another one for a knight. Stops at the first solution",
        ),
        Item("Oracle model: solutions by hand (3.3)", "`rookery solve solitaire-chess ROWS --tree`", "an exact solver"),
        Item(
            "Figure 1: backtracking on puzzle 2",
            STUDY + ", first drawing",
            "faithful: 11 captures tried. The whole tree of this puzzle has 12 positions and one solution, the last to "
            "be reached, so that it tells few orders apart",
        ),
        Item(
            "Deep Q-learning, equation (3.4.3), epsilon-greedy play (3.4.4)",
            "`rookery train solitaire-chess paper-dqn`",
            "faithful to the text: single games, replay, one-step targets, one net. The paper gives no net, no rewards "
            "and no numbers: ours are the command's defaults, and puzzles are generated. `dqn` is our improved "
            "one, which learns from what it takes back",
        ),
        Item(
            "Figure 2: code of the backtracking search",
            "`native/games/solitaire_chess/capture_search.hpp`",
            "as the text describes it: stops at the first solution. The printed code never stops, so that its count "
            "would not depend on the ranking; `--tree` counts that way",
        ),
        Item(
            "Figure 3: the ranking on puzzle 2",
            STUDY + ", second and third drawing",
            "faithful: by paper-dqn, and by our dqn",
        ),
        Item(
            "Figure 4: paths explored per puzzle",
            STUDY + ", last drawing and first table",
            "our 80 puzzles, with intervals. The paper's claim that the ranking is never worse than backtracking is "
            "wrong; the table counts where it is",
        ),
        Item(
            "Figure 5: a tie between backtracking and the ranking",
            STUDY + ", Figure 5",
            "the puzzle was read off the figure; our backtracking tries the nine captures that it draws",
        ),
    ),
)
