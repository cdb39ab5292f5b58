"""What players of the game are measured by."""

from dataclasses import replace

from rookery.exam import Exam

# The other side plays at random: perfect defence is never mated after seconds of training, whatever the method.
_KQK = Exam(
    "KQK",
    True,
    "mates of random moves",
    "best",
    exact="oracle",
    opponent="random",
    sides=(0,),
    starts="random",
    moves=100,
)
EXAMS = (_KQK, replace(_KQK, variant="KBBK", small=False, moves=200))
