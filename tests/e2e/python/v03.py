"""Walks through the operations with the Python SDK of A2A 0.3: `v03.py <origin> <JSONRPC|HTTP+JSON>`. With a key of the club as a third
argument it asks for the extended card only.

Each step checks what it gets. The first that fails ends the walk with its traceback and a non-zero code.
"""

import asyncio
import base64
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    GetTaskPushNotificationConfigParams,
    Message,
    MessageSendConfiguration,
    PushNotificationAuthenticationInfo,
    PushNotificationConfig,
    Role,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskState,
    TaskStatusUpdateEvent,
    TextPart,
)

URL = "https://hooks.example.com/a"


def message(*parts, **more):
    parts = [TextPart(text=part) if isinstance(part, str) else part for part in parts]
    return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=parts, **more)


async def events(client, sent, **configuration):
    """Sends a message; gives everything that came back."""
    configuration = MessageSendConfiguration(**configuration)
    return [event async for event in client.send_message(sent, configuration=configuration)]


async def send(client, *parts, **more):
    """Sends a message; gives the task."""
    [(task, _)] = await events(client, message(*parts), **more)
    return task


def texts(holder):
    return [part.root.text for part in holder.parts]


async def refused(code, status, awaitable):
    """Over JSON-RPC the SDK tells the code of an error, over HTTP+JSON its status."""
    try:
        await awaitable
    except A2AClientJSONRPCError as error:
        assert error.error.code == code, error
    except A2AClientHTTPError as error:
        assert error.status_code == status, error
    else:
        raise AssertionError(f"{code} was expected")


async def plain(client):
    """Sending, getting, canceling, several turns, errors."""
    task = await send(client, "hello")
    assert task.status.state == TaskState.completed, task
    assert texts(task.artifacts[0]) == ["hello"], task
    assert await client.get_task(TaskQueryParams(id=task.id)) == task
    short = await client.get_task(TaskQueryParams(id=task.id, history_length=0))
    assert not short.history, short

    [answer] = await events(client, message("message"))
    assert (answer.role, texts(answer)) == (Role.agent, ["A message instead of a task."]), answer

    asked = await send(client, "ask")
    assert asked.status.state == TaskState.input_required
    assert texts(asked.status.message) == ["Which colour?"]
    follow_up = message("red", task_id=asked.id, context_id=asked.context_id)
    [(done, _)] = await events(client, follow_up)
    assert done.status.state == TaskState.completed, done
    assert [texts(said) for said in done.history] == [["ask"], ["Which colour?"], ["red"]], done

    held = await send(client, "hold 60000", blocking=False)
    assert held.status.state != TaskState.completed
    canceled = await client.cancel_task(TaskIdParams(id=held.id))
    assert canceled.status.state == TaskState.canceled, canceled

    await refused(-32001, 404, client.get_task(TaskQueryParams(id="nobody")))
    await refused(-32002, 400, client.cancel_task(TaskIdParams(id=task.id)))
    await refused(-32004, 400, events(client, message("more", task_id=task.id)))
    await refused(-32602, 400, events(client, message()))


async def parts(client):
    """Bytes, links and data come back as they were sent."""
    bytes_ = base64.b64encode(bytes([0, 1, 2, 253, 254, 255])).decode()
    sent = [
        TextPart(text="hello"),
        FilePart(file=FileWithBytes(bytes=bytes_, name="six.bin", mime_type="image/png")),
        FilePart(file=FileWithUri(uri="https://x.example.org/i.pdf", name="i.pdf")),
        DataPart(data={"total": 41.5, "list": [1, "x"], "none": None}, metadata={"k": "v"}),
    ]
    task = await send(client, *sent)
    given = [part.root for part in task.history[0].parts]
    # Over HTTP+JSON the SDK turns missing metadata into empty metadata.
    given = [part.model_copy(update={"metadata": part.metadata or None}) for part in given]
    assert given == sent, given


async def webhooks(client):
    """Webhooks are registered and got."""
    task_id = (await send(client, "ask")).id
    authentication = PushNotificationAuthenticationInfo(schemes=["Bearer"], credentials="c")
    config = PushNotificationConfig(id="c-1", url=URL, token="t", authentication=authentication)
    given = TaskPushNotificationConfig(task_id=task_id, push_notification_config=config)
    made = await client.set_task_callback(given)
    assert (made.task_id, made.push_notification_config.id) == (task_id, "c-1"), made
    assert made.push_notification_config.url == URL, made
    assert made.push_notification_config.authentication.schemes == ["Bearer"], made
    one = GetTaskPushNotificationConfigParams(id=task_id, push_notification_config_id="c-1")
    got = await client.get_task_callback(one)
    assert got.push_notification_config.url == URL, got
    unknown = GetTaskPushNotificationConfigParams(id=task_id, push_notification_config_id="c-2")
    await refused(-32001, 404, client.get_task_callback(unknown))
    nowhere = PushNotificationConfig(id="c-3", url="nowhere")
    nowhere = TaskPushNotificationConfig(task_id=task_id, push_notification_config=nowhere)
    await refused(-32602, 400, client.set_task_callback(nowhere))


async def inline(client):
    """A webhook comes with a message."""
    asked = await send(client, "ask")
    assert asked.status.state == TaskState.input_required, asked
    one = GetTaskPushNotificationConfigParams(id=asked.id, push_notification_config_id="c-4")
    got = await client.get_task_callback(one)
    assert got.push_notification_config.url == URL, got


async def streams(client):
    """A stream of a task, one that ends with a question, and a message as a stream."""
    told = await events(client, message("chunks"))
    updates = [update for _, update in told]
    assert updates[0] is None and isinstance(updates[-1], TaskStatusUpdateEvent), updates
    finals = [update.final for update in updates if isinstance(update, TaskStatusUpdateEvent)]
    assert finals == [*[False] * (len(finals) - 1), True], finals
    chunks = [update for update in updates if isinstance(update, TaskArtifactUpdateEvent)]
    assert [bool(chunk.append) for chunk in chunks] == [False, True, True], chunks
    assert [bool(chunk.last_chunk) for chunk in chunks] == [False, False, True], chunks
    # The SDK merges the events.
    task, _ = told[-1]
    assert task.status.state == TaskState.completed, task
    assert texts(task.artifacts[0]) == ["one ", "two ", "three"], task

    asked = (await events(client, message("ask")))[-1]
    assert asked[1].final and asked[1].status.state == TaskState.input_required, asked
    [only] = await events(client, message("message"))
    assert isinstance(only, Message)


async def subscribers(client):
    """A second subscriber, and one that comes when the task is finished."""
    stream = client.send_message(message("hold 60000"))
    task, _ = await anext(stream)
    subscription = client.resubscribe(TaskIdParams(id=task.id))
    snapshot, update = await anext(subscription)
    assert (snapshot.id, update) == (task.id, None), (snapshot, update)
    await client.cancel_task(TaskIdParams(id=task.id))
    one = [event async for event in stream]
    two = [event async for event in subscription]
    assert one[-1][1] == two[-1][1] and two[-1][1].final, (one, two)
    assert two[-1][1].status.state == TaskState.canceled, two
    [(again, update)] = [event async for event in client.resubscribe(TaskIdParams(id=task.id))]
    assert (again.status.state, update) == (TaskState.canceled, None), again


async def card_of(origin, transport, key):
    """The extended card, in which the SDK knows every scheme."""
    async with httpx.AsyncClient(timeout=30, headers={"X-Club-Key": key}) as http:
        public = await A2ACardResolver(http, f"{origin}/club").get_agent_card()
        config = ClientConfig(
            httpx_client=http, supported_transports=[transport], use_client_preference=True
        )
        card = await ClientFactory(config).create(public).get_card()
        skills = sorted(skill.id for skill in card.skills)
        assert skills == ["add_numbers", "current_time", "echo"], skills
        assert card.security_schemes["key"].root.name == "X-Club-Key", card
        print(f"{transport} card: ok")


async def main(origin, transport, *left_out):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, f"{origin}/demo").get_agent_card()
        webhook = PushNotificationConfig(id="c-4", url=URL)
        for is_streaming, configs, steps in [
            (False, [], [plain, parts, webhooks]),
            (False, [webhook], [inline]),
            (True, [], [streams, subscribers]),
        ]:
            config = ClientConfig(
                httpx_client=http,
                streaming=is_streaming,
                push_notification_configs=configs,
                supported_transports=[transport],
                use_client_preference=True,
            )
            client = ClientFactory(config).create(card)
            for step in steps:
                if step.__name__ in left_out:
                    continue
                await step(client)
                print(f"{transport} {step.__name__}: ok", flush=True)


if __name__ == "__main__":
    asyncio.run(card_of(*sys.argv[1:]) if len(sys.argv) > 3 else main(*sys.argv[1:]))
