"""What players of the game are measured by."""

from rookery.exam import Exam

EXAMS = (
    Exam(
        "standard",
        False,
        "score against a search of 3 plies",
        "best",
        opponent="ladder:depth=3",
        starts="random",
        games=40,
        moves=200,
    ),
)
