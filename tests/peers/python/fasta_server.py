"""A server with fasta2a, which speaks A2A 0.3 over JSON-RPC: `fasta_server.py <port>`. It says again what it is told; `slow` waits to be canceled, `fail` fails."""

import contextlib
import sys
import uuid

import uvicorn
from fasta2a import FastA2A, Worker
from fasta2a.broker import InMemoryBroker
from fasta2a.schema import Artifact, Message, TextPart
from fasta2a.storage import InMemoryStorage


class Sample(Worker):
    async def run_task(self, params):
        task = await self.storage.load_task(params["id"])
        text = task["history"][0]["parts"][0]["text"]
        await self.storage.update_task(task["id"], state="working")
        if text == "fail":
            said = Message(kind="message", role="agent", message_id=str(uuid.uuid4()), parts=[TextPart(kind="text", text="no luck")])
            await self.storage.update_task(task["id"], state="failed", new_messages=[said])
        elif text != "slow":
            artifact = Artifact(artifact_id=str(uuid.uuid4()), parts=[TextPart(kind="text", text=text)])
            await self.storage.update_task(task["id"], state="completed", new_artifacts=[artifact])

    async def cancel_task(self, params):
        await self.storage.update_task(params["id"], state="canceled")

    def build_message_history(self, history):
        return history

    def build_artifacts(self, result):
        return []


def main(port):
    storage, broker = InMemoryStorage(), InMemoryBroker()
    worker = Sample(broker=broker, storage=storage)

    @contextlib.asynccontextmanager
    async def lifespan(app):
        async with app.task_manager, worker.run():
            yield

    app = FastA2A(storage=storage, broker=broker, name="Sample", url=f"http://127.0.0.1:{port}/", lifespan=lifespan)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


main(int(sys.argv[1]))
