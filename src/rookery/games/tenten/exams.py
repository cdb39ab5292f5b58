"""What players of the game are measured by."""

from rookery.exam import Exam

EXAMS = (
    Exam("3x3-seven", True, "points", "best", exact="oracle", games=400, moves=2000),
    Exam("10x10", False, "points in 300 moves", "best", games=20, moves=300),
)
