"""The pass rate of each subject of a Croissant dataset, with its bounds.

    fullcount convert FIRST.eval SECOND.eval --to croissant -o dataset -O license=CC-BY-4.0
    python examples/croissant_pass_rate.py dataset

Needs DuckDB. A trial whose verdict is `unverified` or `disputed` is neither passed nor failed: it
is in no pass rate, and the bounds count it, once as failed and once as passed. A null verdict is
nobody's: the aggregates pass over it.
"""

from __future__ import annotations

import sys

import duckdb

__all__ = ["QUERY"]

QUERY = """
SELECT subject, avg(p) FILTER (u = 0) pass_rate, avg(p) worst, avg(p + u) best, count(p) sought
FROM (SELECT subject, (verdict = 'passed')::INT p, (verdict IN ('disputed', 'unverified'))::INT u
FROM '{folder}/trials*.parquet') GROUP BY subject ORDER BY subject
"""

if __name__ == "__main__":
    duckdb.sql(QUERY.format(folder=sys.argv[1])).show()
