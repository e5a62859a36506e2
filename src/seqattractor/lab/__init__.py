"""The lab in the browser: see a sequence memory learn and recall. `seqattractor lab` starts it.

A page of plain HTML, CSS and ES modules (`static/`) talks JSON to a small Starlette app (`app`, `api`), which learns in
threads for each visitor separately (`jobs`).
"""
