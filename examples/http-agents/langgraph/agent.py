import asyncio
import json

from langchain.agents import create_agent
from langchain.messages import AIMessageChunk
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route


def temperature(city: str) -> str:
    """The temperature in a city."""
    return f"21.5 degrees in {city}"


graph = create_agent("openai:gpt-5-mini", tools=[temperature], system_prompt="You know the weather.")


def message(given):
    text = "".join(part.get("text", "") for part in given["parts"])
    return {"role": "user" if given["role"] == "ROLE_USER" else "assistant", "content": text}


async def run(turn, say):
    verb = {"do": "artifact", "more": True}
    try:
        history = [message(given) for given in turn["history"]]
        async for chunk, _ in graph.astream({"messages": history}, stream_mode="messages"):
            if isinstance(chunk, AIMessageChunk) and chunk.text:
                say(verb | {"text": chunk.text})
                verb = {"do": "append"}
        say({"do": "complete"})
    except Exception as error:
        say({"do": "fail", "text": f"{type(error).__name__}: {error}"})
    finally:
        say(None)


async def lines(turn):
    said = asyncio.Queue()
    running = asyncio.create_task(run(turn, said.put_nowait))
    try:
        while verb := await said.get():
            yield json.dumps(verb) + "\n"
    finally:
        running.cancel()  # The task was canceled, or is over.


async def answer(request):
    return StreamingResponse(lines(await request.json()), media_type="application/x-ndjson")


app = Starlette(routes=[Route("/", answer, methods=["POST"])])
