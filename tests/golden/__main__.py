"""Write all golden playthroughs, and the defaults of settings, anew: `python -m tests.golden`."""

from tests.golden import FILES, rewritten, settings

for file in [*FILES, settings.FILE]:
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    after = settings.defaults() if file == settings.FILE else rewritten(before)
    file.write_text(after, encoding="utf-8")
    print(f"{file.name}: {'unchanged' if after == before else 'changed'}")
