"""What the paper shows, and where it is here."""

from rookery.studies.paper import Item, Paper

REPORT = "`rookery reproduce tenten`"

PAPER = Paper(
    title="Markov Decision Processes and Reinforcement Learning for Puzzles",
    authors="Tang and Kong",
    year=2019,
    items=(
        Item("Figure 1, Figure 2", "none", "pictures of other people's games, 2048 and Tetris, with nothing to remake"),
        Item(
            "Figure 3: the game's screen",
            "`rookery play tenten`, `rookery serve`",
            "faithful; a terminal and a web page instead of a program for Xcode",
        ),
        Item(
            "Figure 4, Figure 16: 19 pieces and their probabilities",
            "piece set `full`, `src/rookery/games/tenten/rules.py`",
            "faithful; the paper's learning draws one piece per round, the game people play is `10x10-hand3`",
        ),
        Item(
            "Section 3.2, greedy Algorithm 1, Algorithm 2, Algorithm 3",
            "`greedy:algorithm=1`, `2`, `3`, `src/rookery/games/tenten/greedy.py`",
            "faithful; ties go to the first placement in reading order, which the paper says of Algorithm 1 only",
        ),
        Item(
            "Figure 5: greedy play",
            f"{REPORT}: Figure 5, two tables",
            "rounds of 1 and 2 agree; the paper's scores fit 10 points times squared lines and not the game's score, "
            "and contradict themselves for 1 and 3",
        ),
        Item(
            "Figure 6, Section 5: value iteration",
            "`src/rookery/games/tenten/boards.py`; `rookery solve tenten --objective r1`",
            "faithful in `boards.py`, which makes the counts of iterations; the solver averages out the piece and "
            "sweeps in place, to the same values with error bounds",
        ),
        Item(
            "Section 4.1.1: Game 1 to Game 4",
            "variants `3x3-three`, `3x3-seven`, `4x4-three`, `4x4-seven`",
            "faithful",
        ),
        Item(
            "Section 4.1.6: rewards r1, r2, r3",
            "`rookery solve tenten --objective r1`, `rookery train tenten lspi --reward 1`",
            "faithful; the number of possible moves of the next state is its mean over the next piece",
        ),
        Item(
            "Figure 7: state diagram",
            "`rookery explain tenten POSITION --agent oracle:objective=r2,discount=0.8`",
            "cannot be remade: values above 450 are impossible with r2 and 0.8, and three states stand under seven "
            "pieces; V2 is mis-added, its terms give 373.888 and not 375.754",
        ),
        Item(
            "Section 5: iterations for converging",
            f"{REPORT}: Iterations to converge",
            "differs: 5 to 43 iterations where the paper has 16 to 20; it gives neither reward nor discount. Counted "
            "until the values have settled",
        ),
        Item("Figure 8: three pieces, scores", f"{REPORT}: table and graph", "faithful; the paper gives no numbers"),
        Item(
            "Figure 9, Figure 10: 3x3, seven pieces",
            f"{REPORT}: table and graph",
            "faithful, with exact means in place of games; the ratio of score and rounds stands beside them",
        ),
        Item("Figure 11, Figure 12: 4x4, seven pieces", f"{REPORT}: table and graph", "the same"),
        Item(
            "Figure 13: states and edges",
            f"{REPORT}: Figure 13",
            "faithful; 892,064 edges on 4x4 where the paper has 892,062. Its conclusion that 5x5 cannot be solved is "
            "wrong: `rookery solve tenten --size 5` solves it",
        ),
        Item(
            "Section 8: Monte Carlo, TD, SARSA, Q-learning, neural networks",
            "`rookery train tenten ntuple`",
            "the paper only describes them; the network here learns by temporal differences",
        ),
        Item(
            "Equation 1, Equation 2, Equation 3, Equation 5: the linear value",
            "`native/games/tenten/features.hpp`",
            "faithful; Equation 1 has a constant besides the features, which is feature 21",
        ),
        Item("Figure 14: projection", "none", "an illustration of the method"),
        Item(
            "Equation 4: A w = b",
            "`native/games/tenten/lspi.hpp`, `solve` in `src/rookery/games/tenten/lspi.py`",
            "A is singular for these features, so the solution of least norm in place of the inverse; the paper's last "
            "but one line has an inverse too many",
        ),
        Item("Figure 15", "none", "not in the text of the paper that we have"),
        Item(
            "Algorithm 1: LSPI Training algorithm",
            "`native/games/tenten/lspi.hpp`",
            "faithful; the last placement of a game has no next one, and its next value is 0",
        ),
        Item(
            "Algorithm 2: Learning by LSPI algorithm in game 1010!",
            "`rookery train tenten lspi`",
            "faithful; a turn is read as a game, and the weights have converged when they stayed within `--tolerance` "
            "of the last ones for the second half of the updates, as the paper does not say how it tells",
        ),
        Item(
            "Table 1: 21 features",
            "`native/games/tenten/features.hpp`, `tests/games/tenten/oracle_features.py`",
            "faithful as far as a line of words can tell; docs/methods/lspi.md says how each was read",
        ),
        Item("Figure 17: a state", "`rookery show tenten POSITION --variant 4x4-seven`", "faithful"),
        Item(
            "Table 2: value iteration and LSPI",
            f"{REPORT}: Table 2, two tables",
            "faithful settings (r1, r2, r3, discount 0.8); figures differ. Exact means in place of ten games for value "
            "iteration; the paper's 307.2 for r3 is probably copied from LSPI with r1",
        ),
        Item(
            "Table 3: 10x10 with and without the 3x3 piece",
            f"{REPORT}: Table 3",
            "faithful but for the discount, which the paper does not give: 0.99 here",
        ),
        Item(
            "Section 11.2.1: 15 of 20 games lost to the 3x3 piece",
            f"{REPORT}: The piece that did not fit",
            "faithful, over all games of Table 3",
        ),
        Item(
            "Table 4: weights",
            f"{REPORT}: Table 4; `rookery explain tenten POSITION --agent lspi`",
            "faithful; weights 5, 6 and 21 are not determined one by one",
        ),
    ),
)
