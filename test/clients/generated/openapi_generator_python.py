import datetime
import json
import os
import sys
import time
from uuid import UUID

from openapi_client import (
    ApiClient,
    ApiException,
    Configuration,
    EventKind,
    EventRequest,
    EventsApi,
    ExecutionState,
    KeyedEvent,
    RecordApi,
)

automation, execution = os.environ["AUTOMATION"], os.environ["EXECUTION"]


def client_of(url, token):
    return ApiClient(Configuration(host=url, api_key={"token": token}, ssl_ca_cert=os.environ["SSL_CERT_FILE"]))


ingest = EventsApi(client_of(os.environ["INGEST"], os.environ["WRITE_TOKEN"]))
record = RecordApi(client_of(os.environ["CONSOLE"], os.environ["READ_TOKEN"]))


def event(kind, model=EventRequest, automation_id=automation, **more):
    return model(automation_id=automation_id, execution_id=execution, event=kind, **more)


registered = ingest.register_event(event("START"), idempotency_key=os.environ["KEY"])
kinds = [("EVENT", {}), ("ERROR", {"error_id": "E-1"}), ("END", {})]
bulk = ingest.register_events([event(kind, KeyedEvent, **more) for kind, more in kinds], partial=True)
try:
    # Its models check patterns before they send anything.
    ingest.register_event(EventRequest.model_construct(automation_id="7", execution_id=execution, event="START"))
    fault = ""
except ApiException as error:
    fault = error.data.errors[0].pointer if error.status == 400 else str(error)

until = time.time() + 30
while True:
    try:
        one = record.get_execution(UUID(automation), execution)
        if one.ended_at is not None:
            break
    except ApiException as error:
        assert error.status == 404, error
    assert time.time() < until
    time.sleep(0.1)

an_hour_ago = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
by_id = {"automation_id": UUID(automation)}
automations = record.list_automations(limit=500)
detail = record.get_automation(UUID(automation))
executions = record.list_executions(**by_id, state=ExecutionState.FAILED, var_from=an_hour_ago)
own = record.list_events_of_execution(UUID(automation), execution)
events = record.list_events(**by_id, kind=EventKind.ERROR)
errors = record.list_errors(**by_id)
alerts = record.list_alerts(**by_id, open=True)

json.dump(
    {
        "registered": registered.type_of_event.value,
        "bulk": [item.type_of_event.value for item in bulk],
        "fault": fault,
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
        "checkpoint": record.get_log_checkpoint().split("\n")[0],
        "tile": len(record.get_log_tile("0/000.p/1")),
        "proof": record.get_log_proof(UUID(os.environ["PROVEN"])).split("\n")[0],
        "ndjson": len(record.export_events(format="ndjson", **by_id).splitlines()),
        "csv": len(record.export_events(format="csv", **by_id).splitlines()),
        "parquet": record.export_events(format="parquet", **by_id)[:4].decode(),
    },
    sys.stdout,
)
