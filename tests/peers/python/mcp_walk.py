"""Uses agents as tools of MCP, with the official SDK or with FastMCP: `mcp_walk.py mcp|fastmcp ORIGIN legacy|auto KEY`.

Each step checks what it gets. The first that fails ends the walk with an error.
"""

import asyncio
import sys
from contextlib import asynccontextmanager

import httpx2
from fastmcp import Client as FastClient
from fastmcp.client.transports import StreamableHttpTransport
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

library, origin, mode, key = sys.argv[1:]
url = f"{origin}/mcp"
revision = {"legacy": "2025-11-25", "auto": "2026-07-28"}[mode]


@asynccontextmanager
async def connected(at=url, headers=None, ask=None):
    """A client in the era of this walk. `ask` shows a question to the user."""
    if library == "fastmcp":
        transport = StreamableHttpTransport(at, headers=headers)
        async with FastClient(transport, mode=mode, elicitation_handler=ask and (lambda message, *_: ask(message))) as client:
            yield client
        return
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(at, http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=ask and (lambda _, params: ask(params.message))) as client:
            yield client


async def listed(client):
    """The tools by their names."""
    tools = await client.list_tools()
    return {tool.name: tool for tool in getattr(tools, "tools", tools)}


async def called(client, name, arguments, progress=None):
    """The result of a call as it came."""
    if library == "fastmcp":
        return await client.call_tool_mcp(name, arguments, progress_handler=progress)
    return await client.call_tool(name, arguments, progress_callback=progress)


async def tools():
    async with connected() as client:
        if library == "mcp":
            assert client.protocol_version == revision, client.protocol_version
        found = await listed(client)
        assert set(found) >= {"demo", "double", "asking", "get_task", "cancel_task"}, list(found)
        assert "Echo: Gives back the text" in found["double"].description
        assert found["double"].input_schema["properties"]["message"]["type"] == "string"


async def calls():
    async with connected() as client:
        result = await called(client, "double", {"message": "größer"})
        assert not result.is_error
        assert [piece.text for piece in result.content] == ["größer"]
        told = result.structured_content
        assert (told["state"], told["text"]) == ("completed", "größer"), told
        looked = await called(client, "get_task", {"task_id": told["task_id"], "agent": "double"})
        assert looked.structured_content == told, looked


async def refusals():
    async with connected() as client:
        try:
            await called(client, "nobody", {"message": "x"})
            raise AssertionError("a tool that does not exist was called")
        except MCPError as error:
            assert (error.error.code, "there is no tool nobody" in error.error.message) == (-32602, True), error
        wrong = await called(client, "double", {"message": 5})
        assert wrong.is_error and "the argument message must be a text" in wrong.content[0].text, wrong


async def questions():
    async with connected() as client:
        asked = await called(client, "demo", {"message": "ask"})
        told = asked.structured_content
        assert (told["state"], told["question"]) == ("input_required", "Which colour?"), told
        done = await called(client, "demo", {"message": "blue", "task_id": told["task_id"]})
        assert done.structured_content["text"] == "blue", done


async def shown():
    """Where the revision has it, the user is asked in the middle of the call; before, the question is the result."""
    seen = []

    async def ask(message):
        seen.append(message)
        return ElicitResult(action="accept", content={"answer": "green"})

    async with connected(ask=ask) as client:
        result = await called(client, "demo", {"message": "ask"})
    if mode == "legacy":
        assert (seen, result.structured_content["state"]) == ([], "input_required"), result
    else:
        assert (seen, result.structured_content["text"]) == (["Which colour?"], "green"), (seen, result)


async def progress():
    told = []

    async def note(progress, total, message):
        told.append((progress, message))

    async with connected() as client:
        result = await called(client, "demo", {"message": "chunks"}, note)
    assert result.structured_content["text"] == "one two three"
    numbers = [number for number, _ in told]
    assert len(numbers) >= 2 and numbers == sorted(set(numbers)), told


async def keys():
    headers = {"Authorization": f"Bearer {key}"}
    async with connected(headers=headers) as client:
        assert "closed" in await listed(client)
        result = await called(client, "closed", {"message": "let in"})
        assert result.structured_content["text"] == "let in", result
    async with connected(f"{origin}/closed/mcp", headers=headers) as client:
        assert (await called(client, "closed", {"message": "here, too"})).structured_content["text"] == "here, too"
    for refused in ({}, {"Authorization": "Bearer another"}):
        try:
            async with connected(f"{origin}/closed/mcp", headers=refused) as client:
                await listed(client)
        except Exception as error:
            # The groups of errors that the task groups of the SDK make show what they hold.
            assert "401" in repr(error) or "credentials" in repr(error) or "token" in repr(error), repr(error)
        else:
            raise AssertionError("let in without the key")


async def main():
    for step in (tools, calls, refusals, questions, shown, progress, keys):
        await step()
        print(f"{step.__name__}: ok")


asyncio.run(main())
