"""What players of the game are measured by."""

from rookery.exam import Exam

EXAMS = (
    Exam(
        "KQK",
        True,
        "mates",
        "best",
        exact="oracle",
        opponent="oracle",
        sides=(0,),
        starts="random",
        games=100,
        moves=100,
    ),
    Exam(
        "KBBK",
        False,
        "mates",
        "best",
        exact="oracle",
        opponent="oracle",
        sides=(0,),
        starts="random",
        games=100,
        moves=200,
    ),
)
