"""The web page: play, watch, ask why, train. `rookery serve` opens it; `app.create_app` is the Starlette application.

- `app` has the addresses and what they answer, `guard` who may call them;
- `plays` turns a stored game into what the page shows, `store` keeps it in SQLite;
- `pool` and `worker` let agents think in processes of their own, which can be stopped;
- `runs` starts and follows training runs and searches;
- `static` is the page: plain ES modules and one style sheet, nothing to build and nothing from elsewhere.
"""
