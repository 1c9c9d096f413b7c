import asyncio
import json

from pydantic_ai import Agent, ModelRequest, ModelResponse, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

agent = Agent("openai:gpt-5-mini", instructions="You know the weather.")


@agent.tool_plain
def temperature(city: str) -> str:
    """The temperature in a city."""
    return f"21.5 degrees in {city}"


def message(given):
    text = "".join(part.get("text", "") for part in given["parts"])
    return ModelRequest.user_text_prompt(text) if given["role"] == "ROLE_USER" else ModelResponse([TextPart(text)])


async def run(turn, say):
    verb = {"do": "artifact", "more": True}
    try:
        history = [message(given) for given in turn["history"]]
        async with agent.run_stream_events(message_history=history) as events:
            async for event in events:
                match event:
                    case PartStartEvent(part=TextPart(text)) | PartDeltaEvent(delta=TextPartDelta(text)) if text:
                        say(verb | {"text": text})
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
