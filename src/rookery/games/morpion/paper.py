"""What the paper shows, and where it is here."""

from __future__ import annotations

from rookery.studies.paper import Item, Paper

_R2 = "`src/rookery/games/morpion/r2.py`"

PAPER = Paper(
    title="Ranked Reward Reinforcement Learning (chapter 7 of a thesis)",
    authors="H. Wang",
    year=2021,
    items=(
        Item(
            "Algorithm 7",
            f"{_R2}, `rookery train morpion r2`",
            "faithful, stage by stage; batches are drawn with replacement from the kept examples",
        ),
        Item(
            "Algorithm 7, line 6: MCTS in self-play",
            "`--self-play-simulations 100`",
            "faithful as an option; the default takes the policy from the net, as the paper's experiments do. The tree "
            "below the move played is kept",
        ),
        Item(
            "Algorithm 7, line 7: T'",
            "`--step-threshold 41`",
            "faithful: moves 1 to 40 are drawn, from 41 on the most probable one is played",
        ),
        Item(
            "Algorithm 7, line 15: a game with MCTS",
            "`--enhanced-every 10 --simulations 20000`",
            "faithful, but up to 64 positions of a tree are looked at together (`--leaves`), one at a time in the "
            "authors' program",
        ),
        Item("Equation 7.1", "`ranked_reward` in `src/rookery/games/morpion/r2.py`", "faithful, ties at random"),
        Item(
            "Table 7.1",
            "`Settings` in `src/rookery/games/morpion/r2.py`; `rookery reproduce morpion`, the table of full size",
            "all values are the defaults; run on boards 16, 20 and 22 for one sitting on one GPU, with the share of "
            "the paper's 100 iterations stated",
        ),
        Item("Figure 7.1", "`rookery reproduce morpion`", "our own example of the same five cases"),
        Item(
            "Figure 7.2, the game of 67 moves",
            "`rookery reproduce morpion`, the longest games",
            "the paper draws it, without a list of its moves; our games are drawn, and every one is checked by the "
            "referee",
        ),
        Item(
            "the net's structure",
            f"{_R2}",
            "the paper refers to other work: four convolutions and two hidden layers, as in the framework it builds on",
        ),
        Item(
            "what the net sees, what an action is",
            f"{_R2}",
            "not in the paper; as in the authors' program: dots without lines, and the cell of the new dot",
        ),
        Item(
            "the tree's value of a move not tried, and of a score on the threshold",
            "`--untried`, `--tie`",
            "not in the paper; the defaults are those of the authors' program, 0 and +1; the other choices are the "
            "mean over the moves tried, and 0",
        ),
        Item(
            "symmetries",
            "`--symmetries`",
            "not in the paper; the authors' program trains on all eight, which takes eight times as long, so it is an "
            "option here and off",
        ),
        Item("boards 16, 20 and 22", "`--board`", "faithful: a line that would leave the board is not legal"),
        Item(
            "precision",
            f"{_R2}",
            "mixed (bfloat16) on a GPU; the paper does not say, its GPUs had single precision",
        ),
        Item(
            "the upper bound of 121",
            "[docs/studies/morpion.md](morpion.md)",
            "quoted in the paper; 84 has been proven since",
        ),
    ),
)
