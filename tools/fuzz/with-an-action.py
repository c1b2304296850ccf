"""Schemathesis hook: puts the registered action $ACTION (type `fuzz`) and the current time into requests."""

import os
from datetime import datetime, timezone

import schemathesis


@schemathesis.hook
def map_body(context, body):
    if not isinstance(body, dict):
        return body
    body = dict(body)
    if isinstance(body.get("action_id"), str) and isinstance(body.get("action_type"), str):
        body |= {"action_id": os.environ["ACTION"], "action_type": "fuzz"}
    observations = body.get("observations")
    if isinstance(observations, dict) and isinstance(observations.get("collected_at"), str):
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        body["observations"] = observations | {"collected_at": now}
    return body
