"""Sends CloudEvents to the address in the arguments, in binary and structured mode."""

import os
import sys
import uuid
from datetime import datetime, timezone

import requests
from cloudevents.core.bindings.http import to_binary_event, to_structured_event
from cloudevents.core.v1.event import CloudEvent

url, automation = sys.argv[1:]


def send(encode, execution, kind, **data):
    attributes = {
        "id": str(uuid.uuid4()),
        "source": "urn:test:python",
        "type": f"dev.runledger.{kind}",
        "specversion": "1.0",
        "datacontenttype": "application/json",
        "time": datetime.now(timezone.utc),
    }
    data = {"automation_id": automation, "execution_id": execution, **data}
    message = encode(CloudEvent(attributes, data))
    headers = {**message.headers, "authorization": f"Bearer {os.environ['TOKEN']}"}
    for _ in range(2):  # A repeated delivery is recorded once.
        requests.post(url, data=message.body, headers=headers, timeout=10).raise_for_status()


send(to_binary_event, "binary", "start")
send(to_binary_event, "binary", "event", description="from Python")
send(to_binary_event, "binary", "end")
send(to_structured_event, "structured", "start")
send(to_structured_event, "structured", "error", error_id="E-1")
send(to_structured_event, "structured", "end")
