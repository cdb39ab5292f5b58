"""What players of the game are measured by."""

from dataclasses import replace

from rookery.exam import Exam

_KQK = Exam("KQK", True, "mates", "best", exact="oracle", opponent="oracle", sides=(0,), starts="random", moves=100)
EXAMS = (_KQK, replace(_KQK, variant="KBBK", small=False, moves=200))
