"""Walks through the operations with the Python SDK of A2A 0.2: `sdk_0_2.py <origin> JSONRPC`.

The walk is that for 0.3, tests/e2e/python/v03.py, whose client this one is dressed as.
"""

import asyncio
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import a2a.client
import a2a.client.errors
import httpx
from a2a.client import A2AClient
from a2a.types import (
    CancelTaskRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    Message,
    MessageSendConfiguration,
    MessageSendParams,
    SendMessageRequest,
    SendStreamingMessageRequest,
    SetTaskPushNotificationConfigRequest,
    Task,
    TaskQueryParams,
)


class JSONRPCError(Exception):
    """What came in place of a result."""

    def __init__(self, error):
        super().__init__(error)
        self.error = error


@dataclass
class Config:
    httpx_client: httpx.AsyncClient
    streaming: bool
    push_notification_configs: list = field(default_factory=list)
    supported_transports: list = field(default_factory=list)
    use_client_preference: bool = True


def result(response):
    response = response.root
    if hasattr(response, "error"):
        raise JSONRPCError(response.error)
    return response.result


class Client:
    """A client of 0.2 that is used as one of 0.3."""

    def __init__(self, config, card):
        self.config = config
        self.client = A2AClient(config.httpx_client, agent_card=card)

    async def call(self, method, request, params):
        return result(await method(request(id=str(uuid.uuid4()), params=params)))

    async def send_message(self, message, configuration):
        inline = next(iter(self.config.push_notification_configs), None)
        # 0.3 has `blocking` unless it is told otherwise.
        blocking = configuration.blocking is not False
        configuration = MessageSendConfiguration(
            accepted_output_modes=[], blocking=blocking, push_notification_config=inline
        )
        params = MessageSendParams(message=message, configuration=configuration)
        if not self.config.streaming:
            answer = await self.call(self.client.send_message, SendMessageRequest, params)
            yield answer if isinstance(answer, Message) else (answer, None)
            return
        request = SendStreamingMessageRequest(id=str(uuid.uuid4()), params=params)
        async for response in self.client.send_message_streaming(request):
            event = result(response)
            if isinstance(event, Message):
                yield event
            elif isinstance(event, Task):
                yield event, None
            else:
                yield await self.get_task(TaskQueryParams(id=event.task_id)), event

    async def get_task(self, params):
        return await self.call(self.client.get_task, GetTaskRequest, params)

    async def cancel_task(self, params):
        return await self.call(self.client.cancel_task, CancelTaskRequest, params)

    async def set_task_callback(self, params):
        request = SetTaskPushNotificationConfigRequest
        return await self.call(self.client.set_task_callback, request, params)

    async def get_task_callback(self, params):
        request = GetTaskPushNotificationConfigRequest
        return await self.call(self.client.get_task_callback, request, params)


def factory(config):
    return SimpleNamespace(create=lambda card: Client(config, card))


a2a.client.ClientConfig = Config
a2a.client.ClientFactory = factory
a2a.client.errors.A2AClientJSONRPCError = JSONRPCError
sys.path.insert(0, str(Path(__file__).parents[2] / "e2e" / "python"))
import v03  # noqa: E402

# It cannot subscribe to a task.
asyncio.run(v03.main(*sys.argv[1:], "subscribers"))
