import datetime
import json
import os
import sys
import time
from uuid import UUID

from runledger_client import AuthenticatedClient
from runledger_client.api.events import register_event, register_events
from runledger_client.api.record import (
    export_events,
    get_automation,
    get_execution,
    get_log_checkpoint,
    get_log_proof,
    get_log_tile,
    list_alerts,
    list_automations,
    list_errors,
    list_events,
    list_events_of_execution,
    list_executions,
)
from runledger_client.models import (
    EventKind,
    EventRequest,
    EventRequestEvent,
    ExecutionState,
    ExportEventsFormat,
    KeyedEvent,
)

automation, execution = os.environ["AUTOMATION"], os.environ["EXECUTION"]
ingest = AuthenticatedClient(base_url=os.environ["INGEST"], token=os.environ["WRITE_TOKEN"])
client = AuthenticatedClient(base_url=os.environ["CONSOLE"], token=os.environ["READ_TOKEN"])
by_id = {"client": client, "automation_id": UUID(automation)}


def event(kind, model=EventRequest, automation_id=automation, **more):
    return model(automation_id=automation_id, execution_id=execution, event=kind, **more)


registered = register_event.sync(
    client=ingest, body=event(EventRequestEvent.START), idempotency_key=os.environ["KEY"]
)
kinds = [(EventRequestEvent.EVENT, {}), (EventRequestEvent.ERROR, {"error_id": "E-1"}), (EventRequestEvent.END, {})]
bulk = register_events.sync(
    client=ingest, body=[event(kind, KeyedEvent, **more) for kind, more in kinds], partial=True
)
wrong = register_event.sync_detailed(client=ingest, body=event(EventRequestEvent.START, automation_id="7"))

until = time.time() + 30
while True:
    answer = get_execution.sync_detailed(UUID(automation), execution, client=client)
    one = answer.parsed
    if answer.status_code == 200 and one.ended_at is not None:
        break
    assert time.time() < until, answer
    time.sleep(0.1)

an_hour_ago = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
automations = list_automations.sync(client=client, limit=500)
detail = get_automation.sync(UUID(automation), client=client)
executions = list_executions.sync(**by_id, state=ExecutionState.FAILED, from_=an_hour_ago)
own = list_events_of_execution.sync(UUID(automation), execution, client=client)
events = list_events.sync(**by_id, kind=EventKind.ERROR)
errors = list_errors.sync(**by_id)
alerts = list_alerts.sync(**by_id, open_=True)
checkpoint = get_log_checkpoint.sync(client=client)
tile = get_log_tile.sync("0/000.p/1", client=client)
proof = get_log_proof.sync(UUID(os.environ["PROVEN"]), client=client)


def exported(kind):
    return export_events.sync_detailed(**by_id, format_=kind)


json.dump(
    {
        "registered": registered.type_of_event.value,
        "bulk": [item.type_of_event.value for item in bulk],
        "fault": wrong.parsed.errors[0].pointer if wrong.status_code == 400 else "",
        "state": one.state.value,
        "counts": one.counts.to_dict(),
        "automation": next(
            item.last_execution.state.value for item in automations.items if item.automation == automation
        ),
        "figures": detail.window.counts.failed,
        "executions": [item.execution_id for item in executions.items],
        "own": [item.type_of_event.value for item in own.items],
        "events": [item.error_id for item in events.items],
        "errors": [item.error_id for item in errors.items],
        "alerts": alerts.items,
        "checkpoint": checkpoint.split("\n")[0],
        "tile": len(tile.payload.read()),
        "proof": proof.split("\n")[0],
        "ndjson": len(exported(ExportEventsFormat.NDJSON).parsed.splitlines()),
        "csv": len(exported(ExportEventsFormat.CSV).parsed.splitlines()),
        "parquet": exported(ExportEventsFormat.PARQUET).content[:4].decode(),
    },
    sys.stdout,
)
