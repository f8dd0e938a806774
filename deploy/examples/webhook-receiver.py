#!/usr/bin/env python3
"""A receiver of webhooks, with the standard library of Python only.

It verifies the signature (https://www.standardwebhooks.com), drops repeated deliveries and prints
each event. Put a proxy with TLS before it: Runledger sends to https:// addresses only.

    WEBHOOK_SECRET=whsec_... PORT=8000 python3 webhook-receiver.py
"""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
MOST_BYTES = 1024 * 1024
TOLERANCE_SECONDS = 300
seen = set()  # Keep it in a database: a delivery may come again after hours.


def is_signed(headers, body):
    """True if one of the signatures is right, and no older than the tolerance."""
    sent_at = headers["webhook-timestamp"]
    if abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS:
        return False
    signed = b".".join([headers["webhook-id"].encode(), sent_at.encode(), body])
    expected = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, given) for given in headers["webhook-signature"].split())


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers["Content-Length"]), MOST_BYTES))
        if not is_signed(self.headers, body):
            return self.answer(401)
        if self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            event = json.loads(body)
            print(event["type"], event["subject"], event["time"], flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer((os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "8000"))), Receiver)
    print(f"listening on {server.server_port}", flush=True)
    server.serve_forever()
