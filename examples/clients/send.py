"""Sends a text to an agent, and prints its answer: pip install a2a-sdk, then python send.py "Hello" [URL of the agent]."""

import asyncio
import sys
import uuid

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest
import httpx

URL = "http://localhost:8787/demo"


async def main(text, url=URL):
    async with httpx.AsyncClient(timeout=70) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
        message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)])
        async for event in client.send_message(SendMessageRequest(message=message)):
            if event.HasField("artifact_update"):
                print("".join(part.text for part in event.artifact_update.artifact.parts))


asyncio.run(main(*(sys.argv[1:3] or ["Hello"])))
