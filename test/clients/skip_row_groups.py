"""Reads the events of one execution from an object of the archive, and prints what was skipped."""

import json
import sys

import duckdb
import pyarrow.dataset
import pyarrow.parquet

path, automation, execution, profile = sys.argv[1:]

wanted = (pyarrow.dataset.field("automation_id") == automation) & (pyarrow.dataset.field("execution_id") == execution)
dataset = pyarrow.dataset.dataset(path)
fragments = [part for fragment in dataset.get_fragments() for part in fragment.split_by_row_group(wanted)]

database = duckdb.connect()
database.execute("set enable_profiling = 'json'")
database.execute(f"set profiling_output = '{profile}'")
query = "select id from read_parquet(?) where automation_id = ? and execution_id = ? order by created_at, id"
found = database.execute(query, [path, automation, execution]).fetchall()
database.execute("set enable_profiling = 'no_output'")

with open(profile) as file:
    query = json.load(file)["query"]
answer = {
    "groups": pyarrow.parquet.ParquetFile(path).num_row_groups,
    "read_by_pyarrow": len(fragments),
    "read_by_duckdb": query["total_row_groups_scanned"],
    "by_pyarrow": sorted(dataset.to_table(filter=wanted).column("id").to_pylist()),
    "by_duckdb": sorted(str(id) for (id,) in found),
}
print(json.dumps(answer))
