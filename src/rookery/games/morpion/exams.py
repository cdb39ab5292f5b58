"""What players of the game are measured by."""

from rookery.exam import Exam

EXAMS = (
    Exam("4D", True, "moves", "best", optimum=35, options={"board": 16}, games=20),
    Exam("5D", False, "moves", "best", optimum=82, options={"board": 24}, games=20),
)
