"""Verifies notifications, which come in as JSON: `notifications.py signatures|tokens`."""

import json
import sys

import jwt
from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def signatures(received):
    webhook = Webhook(received["secret"])
    for notification in received["notifications"]:
        headers, body = notification["headers"], notification["body"]
        webhook.verify(body, headers)
        try:
            webhook.verify(body + " ", headers)
        except WebhookVerificationError:
            continue
        raise AssertionError("another body was taken")


def tokens(received):
    keys = jwt.PyJWKClient(received["jwksUrl"])
    for notification in received["notifications"]:
        headers = notification["headers"]
        token = headers["authorization"].removeprefix("Bearer ")
        key = keys.get_signing_key_from_jwt(token)
        expected = {"algorithms": [received["algorithm"]], "issuer": received["issuer"]}
        claims = jwt.decode(token, key, audience=received["audience"], **expected)
        assert claims["jti"] == headers["webhook-id"], claims
        try:
            jwt.decode(token, key, audience="https://other.example", **expected)
        except jwt.InvalidAudienceError:
            continue
        raise AssertionError("a token for another receiver was taken")


{"signatures": signatures, "tokens": tokens}[sys.argv[1]](json.load(sys.stdin))
