"""The lab in the browser: see a sequence memory learn and recall. `seqattractor lab` starts it.

A page (`static/`) exchanges JSON with a Starlette app (`app`, `api`), which learns for each visitor
in threads (`jobs`). Exported (`export`), it needs no server: a worker in the browser computes.
"""
