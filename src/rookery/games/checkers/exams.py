"""What players of the game are measured by."""

from rookery.exam import Exam

EXAMS = (
    Exam("two-kings", True, "wins", "best", exact="oracle", opponent="oracle", sides=(0,), starts="random", moves=100),
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
