"""Sends messages and gets tasks with fasta2a, which speaks A2A 0.3 over JSON-RPC: `fasta.py <origin> JSONRPC`."""

import asyncio
import sys
import uuid

import httpx
from fasta2a.client import A2AClient
from fasta2a.schema import Message, TextPart


def message(text, **more):
    parts = [TextPart(kind="text", text=text)]
    return Message(
        kind="message", role="user", message_id=str(uuid.uuid4()), parts=parts, **more
    )


async def sends(client):
    """Sending for a task or a message, several turns, errors."""
    task = (await client.send_message(message("hello")))["result"]
    assert task["status"]["state"] == "completed", task
    assert task["artifacts"][0]["parts"][0]["text"] == "hello", task
    said = (await client.send_message(message("message")))["result"]
    assert (said["kind"], said["role"]) == ("message", "agent"), said

    asked = (await client.send_message(message("ask")))["result"]
    assert asked["status"]["state"] == "input-required", asked
    answer = message("red", task_id=asked["id"], context_id=asked["context_id"])
    done = (await client.send_message(answer))["result"]
    assert (done["id"], done["status"]["state"]) == (asked["id"], "completed"), done

    late = await client.send_message(message("more", task_id=task["id"]))
    assert late["error"]["code"] == -32004, late
    unknown = await client.send_message(message("more", task_id="nobody"))
    assert unknown["error"]["code"] == -32001, unknown
    unknown = await client.get_task("nobody")
    assert unknown["error"]["message"] == "Task not found", unknown


async def gets(client):
    """Getting a task that goes on until it is finished."""
    configuration = {"accepted_output_modes": [], "blocking": False}
    begun = await client.send_message(message("hold 200"), configuration=configuration)
    task = begun["result"]
    assert task["status"]["state"] != "completed", task
    while task["status"]["state"] != "completed":
        task = (await client.get_task(task["id"]))["result"]
    assert [part["text"] for part in task["history"][0]["parts"]] == ["hold 200"], task


async def main(origin, binding):
    async with httpx.AsyncClient(timeout=30) as http:
        client = A2AClient(f"{origin}/demo", http)
        for step in [sends, gets]:
            await step(client)
            print(f"{binding} {step.__name__}: ok", flush=True)


asyncio.run(main(*sys.argv[1:]))
