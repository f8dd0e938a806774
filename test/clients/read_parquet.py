"""Reads Parquet with DuckDB and with pyarrow, and prints the SHA-256 of each as NDJSON."""

import hashlib
import json
import sys
from datetime import datetime, timezone

import duckdb
import pyarrow
import pyarrow.parquet

# In the order of a line of the export in NDJSON.
MEMBERS = [
    "id",
    "automation",
    "execution_id",
    "type_of_event",
    "description",
    "error_id",
    "error_description_detail",
    "salt",
    "texts_digest",
    "occurred_at",
    "created_at",
]
TIMES = ("occurred_at", "created_at")
# A line lacks them where a row has null.
ABSENT = ("salt", "texts_digest")


def iso(milliseconds):
    if milliseconds is None:
        return None
    seconds, rest = divmod(milliseconds, 1000)
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%S}.{rest:03d}Z"


def sha256(rows):
    digest = hashlib.sha256()
    for row in rows:
        members = [name for name in MEMBERS if name not in ABSENT or row[name] is not None]
        event = {name: iso(row[name]) if name in TIMES else row[name] for name in members}
        line = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()


def by_duckdb(path):
    columns = ", ".join(f"epoch_ms({name})" if name in TIMES else name for name in MEMBERS)
    for row in duckdb.sql(f"select {columns} from read_parquet('{path}')").fetchall():
        yield dict(zip(MEMBERS, row))


def by_pyarrow(path):
    table = pyarrow.parquet.read_table(path)
    for name in TIMES:
        column = table.column(name)
        assert column.type == pyarrow.timestamp("ms", tz="UTC"), column.type
        table = table.set_column(table.schema.get_field_index(name), name, column.cast(pyarrow.int64()))
    return table.to_pylist()


path = sys.argv[1]
groups = pyarrow.parquet.ParquetFile(path).num_row_groups
print(json.dumps({"duckdb": sha256(by_duckdb(path)), "pyarrow": sha256(by_pyarrow(path)), "groups": groups}))
