"""Emits two runs of the job in the arguments, each event twice, as a client does that repeats it."""

import sys
from datetime import datetime, timezone

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.facet_v2 import error_message_run
from openlineage.client.uuid import generate_new_uuid

namespace, name = sys.argv[1:]
client = OpenLineageClient()


def emit(run_id, state, facets=None):
    event = RunEvent(
        eventType=state,
        eventTime=datetime.now(timezone.utc).isoformat(),
        run=Run(runId=run_id, facets=facets or {}),
        job=Job(namespace=namespace, name=name),
        producer="https://runledger.dev/tests",
    )
    for _ in range(2):
        client.emit(event)


good, bad = str(generate_new_uuid()), str(generate_new_uuid())
emit(good, RunState.START)
emit(good, RunState.RUNNING)
emit(good, RunState.COMPLETE)
emit(bad, RunState.START)
message = error_message_run.ErrorMessageRunFacet(message="no such table", programmingLanguage="python")
emit(bad, RunState.FAIL, {"errorMessage": message})
