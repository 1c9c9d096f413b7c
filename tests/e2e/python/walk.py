"""Walks through the operations with the official Python SDK: `walk.py <origin> <JSONRPC|HTTP+JSON> [<version> <step>...]`,
where the steps are those to leave out.

Each step checks what it gets. The first that fails ends the walk with its traceback and a non-zero code.
"""

import asyncio
import sys
import uuid

import httpx
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.client import ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.types import (
    AuthenticationInfo,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import (
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)


def message(text, **more):
    return Message(
        message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], **more
    )


async def send(client, text, immediately=False, **more):
    """Sends a message; gives everything that came back."""
    configuration = SendMessageConfiguration(return_immediately=immediately)
    request = SendMessageRequest(message=message(text, **more), configuration=configuration)
    return [event async for event in client.send_message(request)]


async def refused(error, awaitable):
    try:
        await awaitable
    except error:
        return
    raise AssertionError(f"{error.__name__} was expected")


async def plain(client):
    """Sending, getting, canceling, several turns, errors."""
    [answer] = await send(client, "hello")
    task = answer.task
    assert task.status.state == TaskState.TASK_STATE_COMPLETED, task
    assert task.artifacts[0].parts[0].text == "hello", task

    same = await client.get_task(GetTaskRequest(id=task.id))
    assert same == task, same
    short = await client.get_task(GetTaskRequest(id=task.id, history_length=0))
    assert len(short.history) == 0, short

    [answer] = await send(client, "message")
    assert answer.message.parts[0].text == "A message instead of a task."

    [asked] = await send(client, "ask")
    assert asked.task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    [done] = await send(client, "red", task_id=asked.task.id, context_id=asked.task.context_id)
    assert done.task.status.state == TaskState.TASK_STATE_COMPLETED
    assert [said.parts[0].text for said in done.task.history] == ["ask", "Which colour?", "red"]

    [held] = await send(client, "hold 60000", immediately=True)
    canceled = await client.cancel_task(CancelTaskRequest(id=held.task.id))
    assert canceled.status.state == TaskState.TASK_STATE_CANCELED

    await refused(TaskNotFoundError, client.get_task(GetTaskRequest(id="nobody")))
    await refused(TaskNotCancelableError, client.cancel_task(CancelTaskRequest(id=task.id)))
    await refused(UnsupportedOperationError, send(client, "more", task_id=task.id))


async def listing(client):
    """A task is listed as soon as it was answered."""
    context_id = str(uuid.uuid4())
    sent = [(await send(client, f"{n}", context_id=context_id))[0].task.id for n in range(3)]
    page = await client.list_tasks(ListTasksRequest(context_id=context_id, page_size=2))
    assert page.total_size == 3, page
    rest = await client.list_tasks(
        ListTasksRequest(context_id=context_id, page_size=2, page_token=page.next_page_token)
    )
    listed = [task.id for task in [*page.tasks, *rest.tasks]]
    assert sorted(listed) == sorted(sent), listed
    assert rest.next_page_token == ""


def webhook_of(task_id):
    return TaskPushNotificationConfig(
        task_id=task_id,
        url="https://hooks.example.com/a",
        token="t",
        authentication=AuthenticationInfo(scheme="Bearer", credentials="c"),
    )


def without_secrets(config):
    """They are shown once."""
    shown = TaskPushNotificationConfig()
    shown.CopyFrom(config)
    shown.ClearField("token")
    shown.authentication.ClearField("credentials")
    return shown


async def webhooks(client):
    """Webhooks are created and got, and one comes with a message."""
    [asked] = await send(client, "ask")
    task_id = asked.task.id
    given = webhook_of(task_id)
    created = await client.create_task_push_notification_config(given)
    assert created.id, created
    given.id = created.id
    assert created == given, created

    one = GetTaskPushNotificationConfigRequest(task_id=task_id, id=created.id)
    assert await client.get_task_push_notification_config(one) == without_secrets(created)
    nowhere = TaskPushNotificationConfig(task_id=task_id, url="nowhere")
    await refused(InvalidParamsError, client.create_task_push_notification_config(nowhere))

    inline = TaskPushNotificationConfig(url="https://hooks.example.com/a")
    configuration = SendMessageConfiguration(task_push_notification_config=inline)
    request = SendMessageRequest(message=message("ask"), configuration=configuration)
    [answer] = [event async for event in client.send_message(request)]
    assert answer.task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED


async def deletion(client):
    """Webhooks are listed and deleted."""
    [asked] = await send(client, "ask")
    task_id = asked.task.id
    created = await client.create_task_push_notification_config(webhook_of(task_id))
    every = ListTaskPushNotificationConfigsRequest(task_id=task_id)
    listed = await client.list_task_push_notification_configs(every)
    assert list(listed.configs) == [without_secrets(created)], listed
    assert listed.next_page_token == "", listed

    one = GetTaskPushNotificationConfigRequest(task_id=task_id, id=created.id)
    deletion = DeleteTaskPushNotificationConfigRequest(task_id=task_id, id=created.id)
    await client.delete_task_push_notification_config(deletion)
    await client.delete_task_push_notification_config(deletion)
    await refused(TaskNotFoundError, client.get_task_push_notification_config(one))
    unknown = DeleteTaskPushNotificationConfigRequest(task_id="nobody", id=created.id)
    await refused(TaskNotFoundError, client.delete_task_push_notification_config(unknown))


async def streams(client):
    """A stream of a task, a message as a stream, and a second subscriber."""
    events = await send(client, "chunks")
    kinds = [event.WhichOneof("payload") for event in events]
    assert kinds[0] == "task" and kinds[-1] == "status_update", kinds
    pieces = [e.artifact_update.artifact.parts[0].text for e in events if e.HasField("artifact_update")]
    assert pieces == ["one ", "two ", "three"], pieces

    [only] = await send(client, "message")
    assert only.HasField("message")

    stream = client.send_message(SendMessageRequest(message=message("hold 4000")))
    first = await anext(stream)
    task_id = first.task.id
    subscription = client.subscribe(SubscribeToTaskRequest(id=task_id))
    snapshot = await anext(subscription)
    assert snapshot.task.id == task_id
    one = [event async for event in stream]
    two = [event async for event in subscription]
    assert two == one[len(one) - len(two):] and len(two) >= 2, (one, two)
    assert two[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED


async def finished(client):
    """Nobody subscribes to a finished task."""
    task_id = (await send(client, "hello"))[0].task.id
    subscription = client.subscribe(SubscribeToTaskRequest(id=task_id))
    await refused(UnsupportedOperationError, anext(subscription))


async def main(origin, binding, version="1.0", *left_out):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, f"{origin}/demo").get_agent_card()
        spoken = [its for its in card.supported_interfaces if its.protocol_version == version]
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(spoken)
        for is_streaming, steps in [
            (False, [plain, listing, webhooks, deletion]),
            (True, [streams, finished]),
        ]:
            config = ClientConfig(
                httpx_client=http, streaming=is_streaming, supported_protocol_bindings=[binding]
            )
            client = ClientFactory(config).create(card)
            for step in steps:
                if step.__name__ in left_out:
                    continue
                await step(client)
                print(f"{binding} {step.__name__}: ok", flush=True)


asyncio.run(main(*sys.argv[1:]))
