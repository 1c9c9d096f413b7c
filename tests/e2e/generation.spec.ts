// The extension for generations (docs/generation.md): messages and cancels for one generation only, waiting for the next.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Role, type SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { Agent, followUp, message, received, until, type ErrorDetail, type Message, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { EventStream, kindOf, NoStream } from "./stream.ts";

const EXTENSION = "urn:a2a-edge:generation:v1";
const MEMBER = `${EXTENSION}/generation`;

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker();
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

type Headers = Record<string, string>;

/** What was answered, read in the way of its binding. */
interface Answer {
  /** The HTTP status, or 200 for a JSON-RPC result and the code for a JSON-RPC error. */
  status: number;
  /** The header `Generation`. */
  generation: number | undefined;
  extensions: string | null;
  task: Task | undefined;
  message: Message | undefined;
  error: string | undefined;
  reason: string | undefined;
  info: Record<string, string> | undefined;
  fields: string[];
}

interface Binding {
  /** The status or code of a conflict, and of parameters that do not fit. */
  conflict: number;
  invalid: number;
  send(said: Message, headers?: Headers): Promise<Answer>;
  get(id: string, headers?: Headers): Promise<Answer>;
  cancel(id: string, headers?: Headers): Promise<Answer>;
  list(headers?: Headers): Promise<Answer>;
  subscribe(id: string, headers?: Headers): Promise<Answer>;
}

const bindings: Record<string, Binding> = {
  "JSON-RPC": {
    conflict: -32010,
    invalid: -32602,
    send: (said, headers) => rpc("SendMessage", { message: said }, headers),
    get: (id, headers) => rpc("GetTask", { id }, headers),
    cancel: (id, headers) => rpc("CancelTask", { id }, headers),
    list: (headers) => rpc("ListTasks", {}, headers),
    subscribe: (id, headers) => rpc("SubscribeToTask", { id }, headers),
  },
  "HTTP+JSON": {
    conflict: 409,
    invalid: 400,
    send: (said, headers) => rest("POST", "/message:send", { message: said }, headers),
    get: (id, headers) => rest("GET", `/tasks/${id}`, undefined, headers),
    cancel: (id, headers) => rest("POST", `/tasks/${id}:cancel`, {}, headers),
    list: (headers) => rest("GET", "/tasks", undefined, headers),
    subscribe: (id, headers) => rest("POST", `/tasks/${id}:subscribe`, {}, headers),
  },
};

interface Failure {
  code: number;
  message: string;
}

async function rpc(method: string, params: unknown, headers?: Headers): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await request("POST", "", body, headers);
  const { result, error } = (await response.json()) as { result?: unknown; error?: Failure & { data: ErrorDetail[] } };
  return read(response, error?.code ?? response.status, result, error, error?.data);
}

async function rest(verb: string, path: string, body: unknown, headers?: Headers): Promise<Answer> {
  const response = await request(verb, path, body === undefined ? null : JSON.stringify(body), headers);
  const json = (await response.json()) as { error?: Failure & { details: ErrorDetail[] } };
  return read(response, response.status, json, json.error, json.error?.details);
}

function request(method: string, path: string, body: string | null, headers?: Headers): Promise<Response> {
  const own = { "content-type": "application/json", "a2a-version": "1.0" };
  return fetch(`${worker.url}/demo${path}`, { method, headers: { ...own, ...headers }, body });
}

function read(response: Response, status: number, result: unknown, error?: Failure, details: ErrorDetail[] = []): Answer {
  const generation = response.headers.get("generation");
  const { task, message: said } = (result ?? {}) as { task?: Task; message?: Message };
  const info = details.find((detail) => detail.reason !== undefined);
  return {
    status,
    generation: generation === null ? undefined : Number(generation),
    extensions: response.headers.get("a2a-extensions"),
    task: error === undefined ? (task ?? (result as Task)) : undefined,
    message: said,
    error: error?.message,
    reason: info?.reason,
    info: info?.metadata,
    fields: details.flatMap((detail) => detail.fieldViolations ?? []).map(({ field }) => field),
  };
}

const at = (generation: number | string): Headers => ({ "if-generation-match": String(generation) });
const beyond = (generation: number | string, wait?: number): Headers => ({
  "after-generation": String(generation),
  ...(wait === undefined ? {} : { prefer: `wait=${wait}` }),
});

/** A task that asks for a colour, and its generation. */
async function asking(): Promise<{ task: Task; generation: number }> {
  const { task, generation } = await rpc("SendMessage", { message: message("ask") });
  assert.ok(task !== undefined && generation !== undefined);
  return { task, generation };
}

/** Whether agents were given a message. */
async function wasGiven({ messageId }: Message): Promise<boolean> {
  return (await received(worker.url)).messages.some((given) => given.message.messageId === messageId);
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
      assert.equal((await received(worker.url)).messages.filter((given) => given.message.messageId === said.messageId).length, 1);
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

    test("who waits for the next generation is answered when it comes", async () => {
      const { task, generation } = await asking();
      const waiting = Promise.all([binding.get(task.id, beyond(generation)), binding.get(task.id, beyond(generation, 3600))]);
      // The task goes on while they wait.
      assert.deepEqual((await binding.get(task.id)).task, task);
      const sent = await binding.send(followUp(task, "red"));
      assert.equal(sent.task?.status.state, "TASK_STATE_COMPLETED");
      for (const got of await waiting) assert.ok((got.generation ?? 0) > generation);
    });

    test("waiting from generation to generation follows a task to its end", async () => {
      const begun = await rpc("SendMessage", { message: message("count 5 every 50"), configuration: { returnImmediately: true } });
      const id = begun.task?.id ?? "";
      const seen = [begun.generation ?? 0];
      let task = begun.task;
      while (task?.status.state !== "TASK_STATE_COMPLETED") {
        const got = await binding.get(id, beyond(seen.at(-1) ?? 0));
        task = got.task;
        assert.ok((got.generation ?? 0) > (seen.at(-1) ?? 0), "each answer is news");
        seen.push(got.generation ?? 0);
      }
      assert.equal(seen.at(-1), 8);
      assert.deepEqual((await binding.get(id)).task, task);
    });

    test("a wait that is over gives the task as it stands", async () => {
      const { task, generation } = await asking();
      for (const headers of [beyond(generation, 0), beyond(generation + 1000, 1)]) {
        const got = await binding.get(task.id, headers);
        assert.deepEqual([got.task, got.generation], [task, generation]);
      }
    });

    test("a task that has ended is not waited for", async () => {
      const sent = await binding.send(message("hello"));
      const got = await binding.get(sent.task?.id ?? "", beyond(1000, 3600));
      assert.deepEqual([got.task, got.generation], [sent.task, sent.generation]);
    });

    test("a wait ends with the task", async () => {
      const { task, generation } = await asking();
      const waiting = binding.get(task.id, beyond(generation + 1000, 3600));
      const canceled = await binding.cancel(task.id);
      assert.deepEqual((await waiting).task, canceled.task);
    });
  });
}

test("a wait is one question to an agent that counts them", async () => {
  const begun = await demo.sendForTask("polls", { returnImmediately: true });
  const waiting = rpc("GetTask", { id: begun.id }, beyond(1000));
  for (let asked = 1; asked < 3; asked++) await demo.getTask(begun.id);
  assert.equal((await waiting).task?.status.state, "TASK_STATE_COMPLETED");
});

test("the limit of a blocking send is that of a wait, too", async () => {
  const quick = await startWorker({ vars: { BLOCKING_LIMIT_MS: "50" } });
  try {
    const agent = new Agent(`${quick.url}/demo`);
    const task = await agent.sendForTask("ask");
    const headers = { "a2a-version": "1.0", ...beyond(1000, 3600) };
    const response = await fetch(`${quick.url}/demo/tasks/${task.id}`, { headers });
    assert.deepEqual(await response.json(), task);
  } finally {
    await quick.stop();
  }
});

test("a preference alone is ignored", async () => {
  const { task } = await asking();
  assert.deepEqual((await rpc("GetTask", { id: task.id }, { prefer: "wait=3600" })).task, task);
});

test("generations and metadata of a client stand side by side", async () => {
  const params = { message: message("hello"), metadata: { own: { deep: [1, 2] }, [MEMBER]: "forged" } };
  const sent = await rpc("SendMessage", params, { "a2a-extensions": EXTENSION });
  assert.deepEqual(sent.task?.metadata, { own: { deep: [1, 2] }, [MEMBER]: 4 });
});

test("generations outlive a crash", async () => {
  const { task, generation } = await asking();
  await worker.kill9();
  await worker.restart();
  assert.equal((await rpc("GetTask", { id: task.id })).generation, generation);
  const refused = await rpc("SendMessage", { message: followUp(task, "red") }, at(generation - 1));
  assert.equal(refused.reason, "GENERATION_MISMATCH");
  assert.equal((await rpc("SendMessage", { message: followUp(task, "red") }, at(generation))).status, 200);
});

describe("a stream", () => {
  const open = (method: string, params: unknown, headers: Headers) => EventStream.open(demo.endpoint, method, params, headers);

  test("of a message for another generation is refused", async () => {
    const { task, generation } = await asking();
    const refused = (error: NoStream) => error.code === -32010;
    await assert.rejects(open("SendStreamingMessage", { message: followUp(task, "red") }, at(generation - 1)), refused);
    assert.deepEqual(await demo.getTask(task.id), task);
    const response = await request("POST", "/message:stream", JSON.stringify({ message: followUp(task, "red") }), at(generation - 1));
    assert.equal(response.status, 409);
    const events = await (await open("SendStreamingMessage", { message: followUp(task, "red") }, at(generation))).rest();
    assert.equal(kindOf(events.at(-1)!), "status:COMPLETED");
  });

  test("of a message that is repeated is that of the task", async () => {
    const { task, generation } = await asking();
    const said = followUp(task, "red");
    await rpc("SendMessage", { message: said }, at(generation));
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

test("a long wait keeps nobody else waiting", async () => {
  const { task, generation } = await asking();
  const waiting = Array.from({ length: 50 }, () => rpc("GetTask", { id: task.id }, beyond(generation, 3600)));
  for (let round = 0; round < 5; round++) assert.deepEqual(await demo.getTask(task.id), task);
  const canceled = await demo.cancelTask(task.id);
  for (const got of await Promise.all(waiting)) assert.deepEqual(got.task, canceled);
  await until(() => demo.getTask(task.id), ({ status }) => status.state === "TASK_STATE_CANCELED");
});
