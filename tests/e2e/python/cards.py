"""Reads, verifies and uses cards with the official Python SDK.

    cards.py read <origin>                                        every member of each card is known
    cards.py verify <origin>                                      signatures, also of changed cards
    cards.py use <origin> <binding> <agent> <scheme> <credential> the extended card, by the SDK's own credentials
"""

import asyncio
import copy
import json
import sys

import httpx
import jwt
from a2a.client.auth import AuthInterceptor, InMemoryContextCredentialStore
from a2a.client.card_resolver import A2ACardResolver, parse_agent_card
from a2a.client.client import ClientCallContext, ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.types import AgentCard, GetExtendedAgentCardRequest
from a2a.utils.signing import (
    SignatureVerificationError,
    create_signature_verifier,
)
from google.protobuf.json_format import MessageToDict, ParseDict

AGENTS = ["club", "lodge", "locks", "demo"]


async def fetched(http, url, headers=None):
    return (await http.get(url, headers=headers)).raise_for_status().json()


async def read(http, origin):
    for agent in AGENTS:
        url = f"{origin}/{agent}/.well-known/agent-card.json"
        card = await fetched(http, url, {"A2A-Version": "1.0"})
        parsed = ParseDict(card, AgentCard(), ignore_unknown_fields=False)
        assert len(parsed.security_schemes) == len(card.get("securitySchemes", {}))
        for name, scheme in parsed.security_schemes.items():
            [kind] = card["securitySchemes"][name]
            assert scheme.WhichOneof("scheme").replace("_", "") == kind.lower(), name
        # Without a version, the card also has the members of older versions, from which the SDK makes the same card.
        assert parse_agent_card(await fetched(http, url)) == parsed, agent


def without_empties(value):
    if isinstance(value, dict):
        value = {name: without_empties(member) for name, member in value.items()}
        return {name: member for name, member in value.items() if member is not None} or None
    if isinstance(value, list):
        value = [member for member in map(without_empties, value) if member is not None]
    return None if value in ("", [], None) else value


async def verify(http, origin):
    keys = jwt.PyJWKSet.from_dict(await fetched(http, f"{origin}/.well-known/jwks.json"))

    def key_of(kid, jku):
        assert jku == "https://agents.example/.well-known/jwks.json", jku
        return next(key for key in keys.keys if key.key_id == kid)

    verifier = create_signature_verifier(key_of, ["ES256", "EdDSA"])
    for agent in AGENTS:
        resolver = A2ACardResolver(http, f"{origin}/{agent}")
        card = await resolver.get_agent_card(signature_verifier=verifier)
        for change in ("name", "description", "version"):
            changed = copy.deepcopy(card)
            setattr(changed, change, "other")
            try:
                verifier(changed)
            except SignatureVerificationError:
                continue
            raise AssertionError(f"a card with another {change} was accepted")
        # The check of the SDK before version 1.3.
        members = MessageToDict(card)
        members.pop("signatures")
        form = json.dumps(without_empties(members), separators=(",", ":"), sort_keys=True)
        assert any(fits(signature, form, key_of) for signature in card.signatures), agent


def fits(signature, form, key_of):
    header = jwt.get_unverified_header(f"{signature.protected}..")
    payload = jwt.utils.base64url_encode(form.encode()).decode()
    token = f"{signature.protected}.{payload}.{signature.signature}"
    try:
        jwt.decode(token, key_of(header["kid"], header["jku"]), ["ES256", "EdDSA"])
    except jwt.PyJWTError:
        return False
    return True


async def use(http, origin, binding, agent, scheme, credential):
    config = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding])
    store = InMemoryContextCredentialStore()
    await store.set_credentials("session", scheme, credential)
    card = await A2ACardResolver(http, f"{origin}/{agent}").get_agent_card()
    client = ClientFactory(config).create(card, [AuthInterceptor(store)])
    context = ClientCallContext(state={"sessionId": "session"})
    extended = await client.get_extended_agent_card(GetExtendedAgentCardRequest(), context=context)
    print(json.dumps([skill.id for skill in extended.skills]))


async def main(step, *arguments):
    async with httpx.AsyncClient(timeout=30) as http:
        await {"read": read, "verify": verify, "use": use}[step](http, *arguments)
        print(f"{step}: ok")


asyncio.run(main(*sys.argv[1:]))
