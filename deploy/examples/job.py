#!/usr/bin/env python3
"""Reports a Python job with the standard library alone: START, then END, or ERROR and END.

RUNLEDGER_URL=https://… RUNLEDGER_TOKEN=… AUTOMATION=<uuid> python3 job.py
"""

import contextlib
import json
import os
import ssl
import sys
import time
import traceback
import urllib.request
import uuid


@contextlib.contextmanager
def reported(automation, execution=None):
    execution = execution or str(uuid.uuid4())
    report(automation, execution, "START")
    try:
        yield
    except BaseException as error:
        # `sys.exit()` is how a program says that it has succeeded.
        if isinstance(error, SystemExit) and error.code in (None, 0):
            raise
        detail = traceback.format_exc()[-10_000:]
        report(automation, execution, "ERROR", error_id=type(error).__name__, error_description=detail)
        raise
    finally:
        report(automation, execution, "END")


def report(automation, execution, event, **texts):
    """Tries three times with one Idempotency-Key, so that the event is recorded once."""
    body = {"automation_id": automation, "execution_id": execution, "event": event, **texts}
    headers = {
        "Content-Type": "application/json",
        "Authorization": "Bearer " + os.environ["RUNLEDGER_TOKEN"],
        "Idempotency-Key": str(uuid.uuid4()),
    }
    url = os.environ["RUNLEDGER_URL"] + "/v1/register/"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    context = ssl.create_default_context(cafile=os.environ.get("RUNLEDGER_CA_FILE"))
    for pause in (1, 2, None):
        try:
            return urllib.request.urlopen(request, timeout=10, context=context).close()
        except OSError as error:
            if pause is None:
                return print(f"not reported: {event}: {error}", file=sys.stderr)
            time.sleep(pause)


if __name__ == "__main__":
    with reported(os.environ["AUTOMATION"]):
        print("Backing up")
