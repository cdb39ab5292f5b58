"""What the paper shows, and where it is here."""

from __future__ import annotations

from rookery.studies.paper import Item, Paper

_STUDY = "`rookery reproduce endgames`"
_AGAINST = "`rookery reproduce endgames-stockfish`"

PAPER = Paper(
    title="Solving chess endgames using Q learning",
    authors="A.-I. Boar",
    year=2022,
    items=(
        Item(
            "Algorithm 2.1, the main loop",
            "`native/games/endgames/q_learning.hpp`",
            "faithful; matches also end by the fifty-move rule, else some would never end",
        ),
        Item(
            "Equation 2.1, the update",
            "`native/games/endgames/q_learning.hpp`",
            "faithful, with equation 2.2 in place of the maximum, as the paper says",
        ),
        Item(
            "Equation 2.2, the least best move",
            "`native/games/endgames/q_learning.hpp`",
            "faithful; a reply that draws counts -10000, since the table has no entry for an ended game",
        ),
        Item(
            "Equation 2.3, the Stockfish reward",
            "`--reward stockfish`",
            "its prose, not its formula, for mate in n: by the formula a mate in 20 is worth less than an advantage; "
            "win and draw are absolute, since a win relative to mate in 1 would be a punishment",
        ),
        Item("Equation 2.4, the heuristic reward", "`--reward heuristic`", "faithful; the king's own square counts"),
        Item(
            "Figure 2.1, a position and its key",
            "`rookery q-table endgames runs/kqk --out kqk.json`",
            "faithful: the same keys, and a test that reads the figure's; inside, tables are arrays",
        ),
        Item(
            "static and decaying exploration",
            "`--epsilon`, `--decay`; presets `stockfish-static` to `heuristic-decaying`",
            "faithful: divided by 1.1 or 1.01 to the power of the wins so far",
        ),
        Item(
            "the start positions",
            f"{_STUDY}, a `.fen` file per endgame in {_AGAINST}",
            "drawn as in the paper (no two pieces neighbours), but kept only if White wins them; the paper's own are "
            "not published",
        ),
        Item(
            "Figure 3.1, sets of parameters",
            f"{_STUDY}",
            "two of its five sets are named in the text, the others are ours; against the perfect defender",
        ),
        Item(
            "Figure 3.2, decay strategies",
            f"{_STUDY}",
            "faithful, split by endgame; against the perfect defender, moves less the exact distance",
        ),
        Item("Figure 3.3, example positions", f"{_STUDY}", "our first start of each endgame"),
        Item(
            "Figure 3.4, endgames compared",
            f"{_STUDY} and {_AGAINST}",
            "faithful against Stockfish, as far as that grid was run; also against the perfect defender",
        ),
        Item("Figure 3.5, rewards compared", f"{_STUDY} and {_AGAINST}", "as Figure 3.4"),
        Item(
            "Table 3.1, special cases",
            f"{_STUDY}",
            "the paper's positions are not published: ours are the two that give Stockfish most trouble; also at depth "
            "25, as the paper checks its own",
        ),
        Item(
            "Table 3.2, runs reaching a solution",
            f"{_STUDY} and {_AGAINST}",
            "at full size against the perfect defender; against Stockfish as far as it was run, with the share stated",
        ),
        Item(
            "the opponent, Stockfish",
            "`--opponent stockfish --depth 15`",
            "Stockfish 15.1 here, another version in the paper; it forgets its hash between moves, so that an answer "
            "depends on the position alone and can be kept",
        ),
        Item(
            "output: results of a run as CSV",
            "`run-01/results.csv`",
            "faithful, with columns for the paper's lines",
        ),
        Item("output: Q-table of a run as JSON", "`rookery q-table endgames`", "on request; `.npz` is the usual form"),
        Item(
            "output: log of a run",
            "`run-01/log.txt`",
            "faithful; the moves that Stockfish needs are there where Stockfish is the opponent",
        ),
        Item(
            "output: results of a batch as CSV",
            "`results.csv`, `moves-to-win.csv`",
            "faithful: means over runs, moves to win carried forward, and every win with its moves alone, less "
            "Stockfish's and less the exact distance; columns for the paper's lines",
        ),
        Item("output: log of a batch", "`log.txt`", "faithful"),
        Item(
            "merging Q-tables",
            "`rookery q-table endgames runs/a runs/b --out both.npz`",
            "the paper names it and does not do it: here the mean over the tables that learned the move",
        ),
        Item(
            "graphical interface",
            "`rookery serve`, `rookery watch endgames`",
            "in a browser; every trained run can be seated as a player, as the paper does to check its results",
        ),
        Item("command line", "`rookery train endgames q-learning --help`", "every hyper-parameter is an option"),
        Item(
            "validation: play by the table without exploration",
            "`solutions` in the rows of a run, `run-01/log.txt`",
            "faithful",
        ),
        Item(
            "future work: Black learns, both learn, draws, pawns",
            f"{_STUDY}, the tables Beyond the paper",
            "done here",
        ),
        Item(
            "future work: a better heuristic",
            "presets `potential-static`, `potential-settling`, `potential-decaying`",
            "the same two quantities as a potential, which cannot change the best policy",
        ),
    ),
)
