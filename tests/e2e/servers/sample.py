"""A server with the official SDK for Python, over JSON-RPC and HTTP+JSON: `sample.py <port>`. It speaks 1.0 and 0.3, and does what agent.ts does."""

import asyncio
import sys

import httpx
import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCard, Part, Role
from google.protobuf.json_format import ParseDict
from starlette.applications import Starlette


class Sample(AgentExecutor):
    def __init__(self):
        self.held = {}

    async def execute(self, context, queue):
        text, rest = context.message.parts[0].text, list(context.message.parts[1:])
        if text == "message":
            said = new_text_message("hello yourself", context_id=context.context_id, role=Role.ROLE_AGENT)
            return await queue.enqueue_event(said)
        goes_on = context.current_task is not None
        if not goes_on:
            await queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(queue, context.task_id, context.context_id)
        said = lambda text: updater.new_agent_message([Part(text=text)])
        artifact = lambda parts, **more: updater.add_artifact(parts, artifact_id="answer", name="answer", **more)
        await updater.start_work()
        match "answer" if goes_on else text:
            case "ask":
                return await updater.requires_input(said("which colour?"))
            case "chunks":
                await artifact([Part(text="one ")])
                await artifact([Part(text="two ")], append=True)
                await artifact([Part(text="three")], append=True, last_chunk=True)
            case "fail":
                return await updater.failed(said("no luck"))
            case "reject":
                return await updater.reject(said("no luck"))
            case "hold":
                await asyncio.sleep(0.3)
                await artifact([Part(text="held")])
            case "slow":
                return await self.held.setdefault(context.task_id, asyncio.Event()).wait()
            case "parts":
                await artifact(rest)
            case _:
                await artifact([Part(text=text)])
        await updater.complete()

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()
        if context.task_id in self.held:
            self.held.pop(context.task_id).set()


def card(name, url):
    interfaces = [
        {"url": f"{url}{path}", "protocolBinding": binding, "protocolVersion": version}
        for version in ["1.0", "0.3"]
        for path, binding in [("/rpc", "JSONRPC"), ("/rest", "HTTP+JSON")]
    ]
    skill = {"id": "echo", "name": "Echo", "description": "Says it again.", "tags": ["test"]}
    return ParseDict(
        {
            "name": name,
            "description": "Does what it is told.",
            "version": "1.0.0",
            "capabilities": {"streaming": True, "pushNotifications": True, "extendedAgentCard": True},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [skill],
            "supportedInterfaces": interfaces,
        },
        AgentCard(),
    )


def main(port):
    url = f"http://127.0.0.1:{port}"
    webhooks = InMemoryPushNotificationConfigStore()
    sample = card("Sample", url)
    handler = DefaultRequestHandler(
        agent_executor=Sample(),
        task_store=InMemoryTaskStore(),
        agent_card=sample,
        push_config_store=webhooks,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), webhooks),
        extended_agent_card=card("Sample, extended", url),
    )
    routes = create_agent_card_routes(sample)
    routes += create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True)
    routes += create_rest_routes(handler, path_prefix="/rest", enable_v0_3_compat=True)
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=port, log_level="warning")


main(int(sys.argv[1]))
