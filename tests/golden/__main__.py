"""Write all golden playthroughs anew: `python -m tests.golden`."""

from tests.golden import FILES, rewritten

for file in FILES:
    before = file.read_text(encoding="utf-8")
    after = rewritten(before)
    file.write_text(after, encoding="utf-8")
    print(f"{file.name}: {'unchanged' if after == before else 'changed'}")
