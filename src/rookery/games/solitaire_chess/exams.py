"""What players of the game are measured by."""

from rookery.exam import Exam

EXAMS = (
    Exam("4x4", True, "solved", "best", exact="oracle", starts="random", games=200, moves=20),
    Exam("6x6", False, "solved", "backtracking", exact="oracle", starts="random", games=200, moves=20),
)
