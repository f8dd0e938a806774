"""Checks a log and an export of it. Written from docs/prove/auditors.md alone, with Python's library.

Usage: log_by_page.py FOLDER ORGANIZATION EXPORT ERASURES. FOLDER has what the console serves:
checkpoint, acts, tile/entries/…; EXPORT is NDJSON with its manifest beside it.
"""

import base64
import datetime
import hashlib
import json
import pathlib
import sys
import uuid


def sha256(data):
    return hashlib.sha256(data).digest()


def canonical(members):
    present = {name: value for name, value in members.items() if value not in (None, "")}
    return json.dumps(present, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def leaf(kind, identity, digest):
    return bytes([kind]) + uuid.UUID(identity).bytes + digest


def leaf_of_event(event, organization):
    automation = event["automation"]
    metadata = {
        "automation_as_sent": automation if automation != automation.lower() else None,
        "automation_id": automation.lower(),
        "created_at": event["created_at"],
        "execution_id": event["execution_id"],
        "id": event["id"],
        "kind": event["type_of_event"],
        "occurred_at": event["occurred_at"],
        "organization": organization,
    }
    texts = {
        "description": event["description"],
        "error_description": event["error_description_detail"],
        "error_id": event["error_id"],
    }
    if event.get("texts_digest"):
        assert not any(texts.values()), "erased texts are there"
        digest = bytes.fromhex(event["texts_digest"])
    else:
        digest = sha256(bytes.fromhex(event.get("salt") or "") + canonical(texts))
    return leaf(2, event["id"], sha256(canonical(metadata) + digest))


def leaf_of_erasure(record):
    ids = b"".join(sorted(uuid.UUID(one).bytes for one in record.pop("events")))
    return leaf(3, record["id"], sha256(canonical({**record, "event_ids_sha256": hashlib.sha256(ids).hexdigest()})))


def act_of_manifest(content):
    manifest = json.loads(content)
    act = {name: manifest[name] for name in ("by", "day", "id", "object", "organization")}
    time = int(manifest["id"].replace("-", "")[:12], 16)
    seconds, ms = divmod(time, 1000)
    at = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    return canonical({**act, "act": "manifest", "at": f"{at}.{ms:03}Z", "sha256": hashlib.sha256(content).hexdigest()})


def leaves_of_log(folder):
    bundles = {}
    for path in (folder / "tile/entries").rglob("*"):
        if path.is_file():
            index = path.relative_to(folder / "tile/entries").as_posix().split(".p/")[0]
            bundles[int(index.replace("x", "").replace("/", ""))] = path.read_bytes()
    found = []
    for index in sorted(bundles):
        at, data = 0, bundles[index]
        while at < len(data):
            size = int.from_bytes(data[at : at + 2], "big")
            found.append(data[at + 2 : at + 2 + size])
            at += 2 + size
    return found


def root_of(leaves):
    nodes = []
    for data in leaves:
        size, node = 1, sha256(b"\0" + data)
        while nodes and nodes[-1][0] == size:
            node = sha256(b"\1" + nodes.pop()[1] + node)
            size *= 2
        nodes.append((size, node))
    root = nodes.pop()[1]
    while nodes:
        root = sha256(b"\1" + nodes.pop()[1] + root)
    return root


def main(folder, organization, export, erasures):
    folder = pathlib.Path(folder)
    _, size, root = (folder / "checkpoint").read_text().split("\n")[:3]
    leaves = leaves_of_log(folder)
    assert len(leaves) == int(size) and root_of(leaves) == base64.b64decode(root), "the root is another one"

    lines = [line for line in pathlib.Path(export).read_bytes().split(b"\n") if line]
    events = [leaf_of_event(json.loads(line), organization) for line in lines]
    records = [json.loads(line) for line in pathlib.Path(erasures).read_text().splitlines() if line]
    gone = {one for record in records if record["scope"] != "text" for one in record["events"]}
    erased = [leaf_of_erasure(record) for record in records]
    texts = [line for line in (folder / "acts").read_bytes().split(b"\n") if line]
    acts = [leaf(4, json.loads(text)["id"], sha256(text)) for text in texts]
    manifest = act_of_manifest(pathlib.Path(f"{export}.manifest.json").read_bytes())
    assert manifest in texts, "the manifest is not in the log"

    left = set(leaves) - set(events) - set(erased) - set(acts)
    assert set(events) | set(erased) | set(acts) <= set(leaves), "the log lacks leaves"
    assert all(one[0] == 2 and str(uuid.UUID(bytes=one[1:17])) in gone for one in left), "events are absent"
    print(f"{len(events)} events, {len(erased)} erasures, {len(acts)} acts, {len(left)} erased")


main(*sys.argv[1:])
