import asyncio
import json

from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events import Event
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, Part
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route


def temperature(city: str) -> str:
    """The temperature in a city."""
    return f"21.5 degrees in {city}"


agent = Agent(name="weather", model="gemini-2.5-flash", instruction="You know the weather.", tools=[temperature])


def message(given):
    text = "".join(part.get("text", "") for part in given["parts"])
    author, role = ("user", "user") if given["role"] == "ROLE_USER" else (agent.name, "model")
    return Event(author=author, content=Content(role=role, parts=[Part(text=text)]))


async def run(turn, say):
    verb = {"do": "artifact", "more": True}
    try:
        *before, now = [message(given) for given in turn["history"]]
        runner = InMemoryRunner(agent)
        session = await runner.session_service.create_session(app_name=runner.app_name, user_id=turn["caller"]["id"])
        for said in before:
            await runner.session_service.append_event(session, said)
        ids, streams = {"user_id": session.user_id, "session_id": session.id}, RunConfig(streaming_mode=StreamingMode.SSE)
        async for event in runner.run_async(new_message=now.content, run_config=streams, **ids):
            for part in (event.content and event.content.parts or []) if event.partial else []:
                if part.text and not part.thought:
                    say(verb | {"text": part.text})
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
