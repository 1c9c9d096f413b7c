import asyncio
import json

from agents import Agent, Runner, function_tool
from openai.types.responses import ResponseTextDeltaEvent
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route


@function_tool
def temperature(city: str) -> str:
    """The temperature in a city."""
    return f"21.5 degrees in {city}"


agent = Agent(name="Weather", model="gpt-5-mini", instructions="You know the weather.", tools=[temperature])


def message(given):
    text = "".join(part.get("text", "") for part in given["parts"])
    return {"role": "user" if given["role"] == "ROLE_USER" else "assistant", "content": text}


async def run(turn, say):
    verb = {"do": "artifact", "more": True}
    try:
        history = [message(given) for given in turn["history"]]
        async for event in Runner.run_streamed(agent, history).stream_events():
            if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent):
                say(verb | {"text": event.data.delta})
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
