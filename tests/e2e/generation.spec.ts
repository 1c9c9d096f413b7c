// The extension for generations (docs/generation.md): messages and cancels that expect one generation; where the generation is shown.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { Role, type SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { rest, type Headers } from "./answers.ts";
import { followUp, message, type Message } from "./client.ts";
import { asking, at, beyond, bindings, demo, EXTENSION, MEMBER, ofRpc, withWorker, worker } from "./generation.ts";
import { EventStream, kindOf, type NoStream } from "./stream.ts";

withWorker({ notes: true });

/** True if an agent has received the message. */
async function wasGiven({ messageId }: Message): Promise<boolean> {
  return (await worker.given()).includes(messageId);
}

test("every agent declares the extension, and requires it of nobody (§4.4.4)", async () => {
  for (const path of ["", "/demo", "/picky", "/faults"]) {
    const response = await fetch(`${worker.url}${path}/.well-known/agent-card.json`);
    const card = (await response.json()) as { capabilities: { extensions: { uri: string; required?: boolean }[] } };
    const declared = card.capabilities.extensions.filter(({ uri }) => uri === EXTENSION);
    assert.deepEqual(declared.map(({ required }) => required ?? false), [false], path);
  }
});

for (const [name, binding] of Object.entries(bindings)) {
  describe(`over ${name}`, () => {
    test("an answer that is one task tells its generation", async () => {
      const sent = await binding.send(message("hello"));
      assert.equal(sent.generation, 4);
      const got = await binding.get(sent.task?.id ?? "");
      assert.equal(got.generation, 4);
      assert.deepEqual(got.task, sent.task);
      const { task, generation } = await asking();
      const canceled = await binding.cancel(task.id);
      assert.equal(canceled.generation, generation + 1);
      assert.equal((await binding.get(task.id)).generation, generation + 1);
      for (const other of [await binding.send(message("message")), await binding.list(), await binding.get("unknown")]) {
        assert.equal(other.generation, undefined);
      }
    });

    test("who names the extension finds the generation in the task's metadata, and others do not (§3.2.6)", async () => {
      const headers = { "a2a-extensions": EXTENSION };
      const sent = await binding.send(message("ask"), headers);
      assert.equal(sent.extensions, EXTENSION);
      assert.deepEqual(sent.task?.metadata, { [MEMBER]: sent.generation });
      const id = sent.task?.id ?? "";
      const got = await binding.get(id, headers);
      assert.deepEqual(got.task, sent.task);
      const plain = await binding.get(id);
      assert.equal(plain.extensions, null);
      assert.equal(plain.task?.metadata, undefined);
      const canceled = await binding.cancel(id, headers);
      assert.deepEqual(canceled.task?.metadata, { [MEMBER]: canceled.generation });
    });

    test("a message is taken at the generation that it names", async () => {
      const { task, generation } = await asking();
      const sent = await binding.send(followUp(task, "red"), at(generation));
      assert.equal(sent.task?.status.state, "TASK_STATE_COMPLETED");
      assert.ok((sent.generation ?? 0) > generation);
    });

    test("a message for another generation is refused, and nothing changes", async () => {
      const { task, generation } = await asking();
      for (const other of [0, generation - 1, generation + 1]) {
        const said = followUp(task, "red");
        const refused = await binding.send(said, at(other));
        assert.equal(refused.status, binding.conflict);
        assert.equal(refused.reason, "GENERATION_MISMATCH");
        assert.deepEqual(refused.info, { taskId: task.id, expected: String(other), generation: String(generation) });
        assert.equal(refused.error, `the task is at generation ${generation}, not ${other}; get it and decide again`);
        assert.equal(await wasGiven(said), false);
      }
      const got = await binding.get(task.id);
      assert.deepEqual([got.task, got.generation], [task, generation]);
    });

    test("a cancel for another generation is refused, and one for this is not", async () => {
      const { task, generation } = await asking();
      const refused = await binding.cancel(task.id, at(generation - 1));
      assert.deepEqual([refused.status, refused.reason], [binding.conflict, "GENERATION_MISMATCH"]);
      assert.deepEqual((await binding.get(task.id)).task, task);
      const canceled = await binding.cancel(task.id, at(generation));
      assert.equal(canceled.task?.status.state, "TASK_STATE_CANCELED");
      assert.deepEqual(await binding.cancel(task.id, at(generation)), canceled, "repeated");
    });

    test("of ten messages for one generation one is taken", async () => {
      const { task, generation } = await asking();
      const said = Array.from({ length: 10 }, () => followUp(task, "pink"));
      const answers = await Promise.all(said.map((one) => binding.send(one, at(generation))));
      const taken = answers.filter(({ status }) => status === 200);
      assert.equal(taken.length, 1);
      for (const refused of answers.filter(({ status }) => status !== 200)) {
        assert.deepEqual([refused.status, refused.reason], [binding.conflict, "GENERATION_MISMATCH"]);
      }
      assert.equal(taken[0]?.task?.history?.length, 3, "the others left no trace");
      assert.deepEqual((await binding.get(task.id)).task, taken[0]?.task);
    });

    test("a message that is repeated gets the answer of the first, though the generation has gone on", async () => {
      const { task, generation } = await asking();
      const said = followUp(task, "pink");
      const first = await binding.send(said, at(generation));
      assert.equal(first.status, 200);
      assert.deepEqual(await binding.send(said, at(generation)), first);
      const many = await Promise.all(Array.from({ length: 5 }, () => binding.send(said, at(generation))));
      for (const again of many) assert.deepEqual(again, first);
      assert.equal((await worker.given()).filter((id) => id === said.messageId).length, 1);
    });

    test("the task of a message or a cancel is looked for first", async () => {
      const unknown = "f".repeat(64);
      for (const refused of [
        await binding.send(message({ taskId: unknown }), at(1)),
        await binding.cancel(unknown, at(1)),
        await binding.get(unknown, beyond(1)),
      ]) {
        assert.equal(refused.reason, "TASK_NOT_FOUND");
      }
    });

    test("a header where it does not belong is refused, and so is what is no generation", async () => {
      const { task, generation } = await asking();
      for (const [field, refused] of [
        ["If-Generation-Match", await binding.send(message("hello"), at(1))],
        ["If-Generation-Match", await binding.get(task.id, at(generation))],
        ["If-Generation-Match", await binding.list(at(1))],
        ["If-Generation-Match", await binding.subscribe(task.id, at(generation))],
        ["If-Generation-Match", await binding.send(followUp(task, "red"), at("five"))],
        ["If-Generation-Match", await binding.cancel(task.id, at('"2"'))],
        ["After-Generation", await binding.send(followUp(task, "red"), beyond(1))],
        ["After-Generation", await binding.cancel(task.id, beyond(1))],
        ["After-Generation", await binding.list(beyond(1))],
        ["After-Generation", await binding.subscribe(task.id, beyond(1))],
        ["After-Generation", await binding.get(task.id, beyond("-1"))],
      ] as const) {
        assert.deepEqual([refused.status, refused.fields], [binding.invalid, [field]], JSON.stringify(refused));
      }
      assert.deepEqual((await binding.get(task.id)).task, task);
    });
  });
}

test("generations and metadata of a client stand side by side", async () => {
  const params = { message: message("hello"), metadata: { own: { deep: [1, 2] }, [MEMBER]: "forged" } };
  const sent = await ofRpc("SendMessage", params, { "a2a-extensions": EXTENSION });
  assert.deepEqual(sent.task?.metadata, { own: { deep: [1, 2] }, [MEMBER]: 4 });
});

test("generations outlive a crash", async () => {
  const { task, generation } = await asking();
  await worker.kill9();
  await worker.restart();
  assert.equal((await ofRpc("GetTask", { id: task.id })).generation, generation);
  const refused = await ofRpc("SendMessage", { message: followUp(task, "red") }, at(generation - 1));
  assert.equal(refused.reason, "GENERATION_MISMATCH");
  assert.equal((await ofRpc("SendMessage", { message: followUp(task, "red") }, at(generation))).status, 200);
});

describe("a stream", () => {
  const open = (method: string, params: unknown, headers: Headers) => EventStream.open(demo.endpoint, method, params, headers);

  test("of a message for another generation is refused", async () => {
    const { task, generation } = await asking();
    const refused = (error: NoStream) => error.code === -32010;
    await assert.rejects(open("SendStreamingMessage", { message: followUp(task, "red") }, at(generation - 1)), refused);
    assert.deepEqual(await demo.getTask(task.id), task);
    const response = await rest(`${demo.endpoint}/message:stream`, "POST", { message: followUp(task, "red") }, at(generation - 1));
    assert.equal(response.status, 409);
    const events = await (await open("SendStreamingMessage", { message: followUp(task, "red") }, at(generation))).rest();
    assert.equal(kindOf(events.at(-1)!), "status:COMPLETED");
  });

  test("of a message that is repeated is that of the task", async () => {
    const { task, generation } = await asking();
    const said = followUp(task, "red");
    await ofRpc("SendMessage", { message: said }, at(generation));
    const again = await (await open("SendStreamingMessage", { message: said }, at(generation))).rest();
    assert.deepEqual(again.map(kindOf), ["task:COMPLETED"]);
  });

  test("opens with a task that tells its generation, for clients that name the extension", async () => {
    const headers = { "a2a-extensions": EXTENSION };
    const begun = await (await open("SendStreamingMessage", { message: message("hello") }, headers)).rest();
    assert.equal(begun[0]?.id, 1);
    assert.deepEqual(begun[0]?.data.result?.task?.metadata, { [MEMBER]: 1 });
    const { task, generation } = await asking();
    const followed = await open("SubscribeToTask", { id: task.id }, headers);
    assert.deepEqual((await followed.next()).data.result?.task?.metadata, { [MEMBER]: generation });
    followed.leave();
    const replayed = await open("SubscribeToTask", { id: task.id }, { ...headers, "last-event-id": "0" });
    assert.deepEqual((await replayed.next()).data.result?.task?.metadata, { [MEMBER]: 1 });
    replayed.leave();
    const plain = await (await open("SendStreamingMessage", { message: message("hello") }, {})).rest();
    assert.equal(plain[0]?.data.result?.task?.metadata, undefined);
  });
});

test("pages of any origin may send and read the headers (§3.2.6)", async () => {
  const response = await fetch(`${worker.url}/demo`, { method: "OPTIONS", headers: { origin: "https://page.example" } });
  const allowed = (response.headers.get("access-control-allow-headers") ?? "").toLowerCase().split(", ");
  for (const name of ["if-generation-match", "after-generation", "prefer"]) assert.ok(allowed.includes(name), name);
  assert.match(response.headers.get("access-control-expose-headers") ?? "", /\bGeneration\b/);
});

describe("the official client", () => {
  const byId = (id: string) => ({ tenant: "", id });
  const saying = (text: string, taskId = ""): SendMessageRequest => ({
    tenant: "", configuration: undefined, metadata: undefined,
    message: {
      messageId: randomUUID(), contextId: "", taskId, role: Role.ROLE_USER, metadata: undefined, extensions: [], referenceTaskIds: [],
      parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }],
    },
  });

  for (const [name, transport] of [["JSONRPC", JsonRpcTransportFactory], ["HTTP+JSON", RestTransportFactory]] as const) {
    test(`sends headers through its fetch and reads generations, over ${name}`, async () => {
      const connect = (own: Headers) => {
        const fetchImpl: typeof fetch = (input, init) => {
          const headers = new Headers(init?.headers);
          for (const [header, value] of Object.entries({ "a2a-extensions": EXTENSION, ...own })) headers.set(header, value);
          return fetch(input, { ...init, headers });
        };
        const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
          transports: [new transport({ fetchImpl })],
          preferredTransports: [name],
        });
        return new ClientFactory(options).createFromUrl(`${worker.url}/demo/`, ".well-known/agent-card.json");
      };
      const asked = await (await connect({})).sendMessage(saying("ask"));
      assert.ok("status" in asked);
      const generation = asked.metadata?.[MEMBER] as number;
      assert.equal(typeof generation, "number");

      const tooEarly = await connect(at(generation - 1));
      await assert.rejects(tooEarly.sendMessage(saying("red", asked.id)), /get it and decide again/);

      const waiting = (await connect(beyond(generation))).getTask(byId(asked.id));
      const sent = await (await connect(at(generation))).sendMessage(saying("red", asked.id));
      assert.ok("status" in sent);
      assert.ok((sent.metadata?.[MEMBER] as number) > generation);
      assert.ok(((await waiting).metadata?.[MEMBER] as number) > generation);
    });
  }
});
