"""A server with the official SDK for Python of A2A 0.3, over JSON-RPC and HTTP+JSON: `sample_v03.py <port>`. It does what agent.ts does."""

import asyncio
import sys

import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AFastAPIApplication, A2ARESTFastAPIApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCard, Part, TextPart
from a2a.utils import new_agent_text_message, new_task
from fastapi import FastAPI


def text_part(text):
    return Part(root=TextPart(text=text))


class Sample(AgentExecutor):
    def __init__(self):
        self.held = {}

    async def execute(self, context, queue):
        text, rest = context.message.parts[0].root.text, context.message.parts[1:]
        if text == "message":
            return await queue.enqueue_event(new_agent_text_message("hello yourself", context.context_id))
        goes_on = context.current_task is not None
        if not goes_on:
            await queue.enqueue_event(new_task(context.message))
        updater = TaskUpdater(queue, context.task_id, context.context_id)
        said = lambda text: updater.new_agent_message([text_part(text)])
        artifact = lambda parts, **more: updater.add_artifact(parts, artifact_id="answer", name="answer", **more)
        await updater.start_work()
        match "answer" if goes_on else text:
            case "ask":
                return await updater.requires_input(said("which colour?"), final=True)
            case "chunks":
                await artifact([text_part("one ")])
                await artifact([text_part("two ")], append=True)
                await artifact([text_part("three")], append=True, last_chunk=True)
            case "fail":
                return await updater.failed(said("no luck"))
            case "reject":
                return await updater.reject(said("no luck"))
            case "hold":
                await asyncio.sleep(0.3)
                await artifact([text_part("held")])
            case "slow":
                return await self.held.setdefault(context.task_id, asyncio.Event()).wait()
            case "parts":
                await artifact(rest)
            case _:
                await artifact([text_part(text)])
        await updater.complete()

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()
        if context.task_id in self.held:
            self.held.pop(context.task_id).set()


def card(name, url):
    skill = {"id": "echo", "name": "Echo", "description": "Says it again.", "tags": ["test"]}
    interfaces = [{"url": f"{url}/rpc", "transport": "JSONRPC"}, {"url": f"{url}/rest", "transport": "HTTP+JSON"}]
    return AgentCard.model_validate(
        {
            "name": name,
            "description": "Does what it is told.",
            "version": "1.0.0",
            "url": f"{url}/rpc",
            "preferredTransport": "JSONRPC",
            "additionalInterfaces": interfaces,
            "capabilities": {"streaming": True, "pushNotifications": True},
            "supportsAuthenticatedExtendedCard": True,
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [skill],
        }
    )


def main(port):
    url = f"http://127.0.0.1:{port}"
    webhooks = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Sample(),
        task_store=InMemoryTaskStore(),
        push_config_store=webhooks,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), webhooks),
    )
    cards = {"agent_card": card("Sample", url), "extended_agent_card": card("Sample, extended", url), "http_handler": handler}
    app = FastAPI()
    A2AFastAPIApplication(**cards).add_routes_to_app(app, rpc_url="/rpc")
    app.mount("/rest", A2ARESTFastAPIApplication(**cards).build())
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


main(int(sys.argv[1]))
