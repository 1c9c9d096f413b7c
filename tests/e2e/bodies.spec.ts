// Bodies that exceed limits: on values, memory or time; and bodies that break off.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { Agent, message, until, type Reply } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { hostile, MEBIBYTE, memoryOf, post, warmUp, type Answer } from "./hostile-bodies.ts";
import { sendStreaming } from "./stream.ts";

let worker: Worker;
/** The answers, after half a minute, to bodies that are stalled from the first test on. The last tests await them. */
let stalled: { rpc: Promise<string>; rest: Promise<string> };
before(async () => {
  worker = await startWorker({ notes: true });
  stalled = {
    rpc: exchange("/", ["transfer-encoding: chunked"], 'a\r\n{"jsonrpc"\r\n', "open"),
    rest: exchange("/message:send", ["content-length: 100000"], '{"message"', "open"),
  };
});
after(() => worker.stop());

const reasonOf = ({ error }: Reply) => error?.data?.find(({ reason }) => reason !== undefined)?.reason;
const rpc = ({ text }: Answer) => JSON.parse(text) as Reply;

describe("JSON values", () => {
  for (const [kind, make] of Object.entries(hostile.tooMany)) {
    test(`beyond MAX_JSON_VALUES are refused with -32602 that names it: ${kind} (§9.5)`, async () => {
      const answer = await post(worker.url, make());
      assert.equal(answer.status, 200);
      const reply = rpc(answer);
      assert.equal(reply.error?.code, -32602);
      assert.match(reply.error?.message ?? "", /at most 100000 JSON values \(MAX_JSON_VALUES\), got \d+/);
    });
  }

  test("beyond MAX_JSON_VALUES are refused by HTTP+JSON with 400 (§11.6)", async () => {
    const answer = await post(`${worker.url}/message:send`, `{"message":{"metadata":{"a":[${"[],".repeat(100_000)}0]}}}`);
    assert.equal(answer.status, 400);
    const { error } = JSON.parse(answer.text) as { error: { message: string; details: { reason?: string }[] } };
    assert.match(error.message, /MAX_JSON_VALUES/);
    assert.equal(error.details[0]?.reason, "INVALID_PARAMS");
  });

  test("are counted with the names of members, and taken up to the limit", async (t) => {
    const small = await startWorker({ vars: { MAX_JSON_VALUES: "1000" } });
    t.after(() => small.stop());
    const send = async (list: number[]) => {
      const said = { messageId: "m", role: "ROLE_USER", parts: [{ data: list }] };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: said } });
      return rpc(await post(small.url, body));
    };
    // 20 values are the object, `jsonrpc`, `id`, `method`, `params` and so on, with the list.
    assert.equal((await send(Array.from({ length: 980 }, () => 0))).error, undefined);
    assert.match((await send(Array.from({ length: 981 }, () => 0))).error?.message ?? "", /at most 1000 JSON values .* got 1001/);
  });

  test("in lists of names are bounded", async () => {
    const named = Array.from({ length: 1001 }, () => "urn:x");
    const agent = new Agent(`${worker.url}/demo`);
    for (const [field, params] of [
      ["message.extensions", { message: { ...message("hello"), extensions: named } }],
      ["message.referenceTaskIds", { message: { ...message("hello"), referenceTaskIds: named } }],
      ["configuration.acceptedOutputModes", { message: message("hello"), configuration: { acceptedOutputModes: named } }],
    ] as const) {
      await assert.rejects(agent.call("SendMessage", params), { code: -32602, fields: [field] });
    }
  });

  test("of one task are bounded over all of its messages", async (t) => {
    const small = await startWorker({ vars: { MAX_JSON_VALUES: "1000" } });
    t.after(() => small.stop());
    const agent = new Agent(`${small.url}/demo`);
    const parts = [{ text: "ask" }, { data: Array.from({ length: 900 }, () => 0) }];
    const { id } = await agent.sendForTask({ parts });
    const follow = async (): Promise<unknown> => agent.send({ taskId: id, parts }, { returnImmediately: true });
    await assert.rejects(async () => {
      for (let turn = 0; turn < 30; turn++) await follow();
    }, (error: { code?: number; message: string }) => error.code === -32004 && /MAX_JSON_VALUES|final/.test(error.message));
    // The stored task can be read again.
    await small.restart();
    assert.equal((await agent.getTask(id)).history?.[0]?.parts.length, 2);
  });
});

/** Sends bytes over a new connection, leaves it open or ends its sending side, and returns the whole answer. */
function exchange(path: string, headers: string[], body: string, then: "open" | "end"): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    const socket = connect({ port: Number(new URL(worker.url).port), host: "127.0.0.1", allowHalfOpen: true });
    let text = "";
    socket.on("data", (data) => (text += data.toString())).on("end", () => resolve(text)).on("error", reject);
    socket.on("end", () => socket.end());
    const bytes = [`POST ${path} HTTP/1.1`, "host: x", "a2a-version: 1.0", "connection: close", ...headers, "", body].join("\r\n");
    if (then === "end") socket.end(bytes);
    else socket.write(bytes);
  });
}

const bodyOf = (answer: string): unknown => JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")));

describe("bodies that break off", () => {
  for (const [what, headers, body] of [
    ["at less than their declared length", ["content-length: 100"], '{"jsonrpc"'],
    ["before their last chunk", ["transfer-encoding: chunked"], 'a\r\n{"jsonrpc"\r\n'],
    ["with a chunk that is none", ["transfer-encoding: chunked"], 'a\r\n{"jsonrpc"\r\nxyz\r\n'],
  ] as const) {
    test(`${what} are answered 400 and -32700, as JSON (§9.5)`, async () => {
      const answer = await exchange("/", [...headers], body, "end");
      assert.match(answer, /^HTTP\/1\.1 400 /);
      assert.match(answer, /\r\ncontent-type: application\/json\r\n/i);
      const reply = bodyOf(answer) as Reply;
      assert.deepEqual([reply.id, reply.error?.code, reasonOf(reply)], [null, -32700, "PARSE_ERROR"]);
    });

    test(`${what} are answered 400 by HTTP+JSON (§11.6)`, async () => {
      const answer = await exchange("/message:send", [...headers], body, "end");
      assert.match(answer, /^HTTP\/1\.1 400 /);
      const { error } = bodyOf(answer) as { error: { code: number; details: { reason?: string }[] } };
      assert.deepEqual([error.code, error.details[0]?.reason], [400, "PARSE_ERROR"]);
    });
  }
});

describe("many bodies at once", () => {
  test("beyond the memory for them are answered 503 with Retry-After, and a stranger's stream stays whole", async () => {
    const stream = await sendStreaming(`${worker.url}/demo`, "count 60 every 20");
    const first = await stream.next();
    const body = Buffer.from(Object.values(hostile.tooMany)[0]!());
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(worker.url, body)));
    const refused = answers.filter(({ status }) => status === 503);
    assert.ok(refused.length > 0, "some were refused");
    assert.ok(answers.length > refused.length, "some were read");
    for (const answer of answers) {
      const code = rpc(answer).error?.code;
      assert.equal(code, answer.status === 503 ? -32603 : -32602);
      assert.equal(answer.headers["retry-after"], answer.status === 503 ? "1" : undefined);
      if (answer.status === 503) assert.equal(reasonOf(rpc(answer)), "TOO_MANY_BODIES");
    }

    const ids = [first, ...(await stream.rest())].map(({ id }) => id);
    assert.deepEqual(ids, ids.map((_, index) => index + 1), "every event, in order");
    assert.ok(ids.length > 60);
    // The memory is released after each request.
    for (let again = 0; again < 6; again++) assert.equal(rpc(await post(worker.url, body)).error?.code, -32602);
    const task = await new Agent(`${worker.url}/demo`).sendForTask("hello");
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  });

  test("whose clients leave give their memory back", async () => {
    const port = Number(new URL(worker.url).port);
    const head = `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${4 * MEBIBYTE}\r\n\r\n`;
    for (let round = 0; round < 3; round++) {
      // Five bodies of 3.5 MiB each exceed the room; none of them ever ends.
      const sockets = await Promise.all(Array.from({ length: 5 }, () => new Promise<ReturnType<typeof connect>>((resolve) => {
        const socket = connect({ port, host: "127.0.0.1" }).on("error", () => {});
        socket.write(head + " ".repeat(3.5 * MEBIBYTE), () => resolve(socket));
      })));
      for (const socket of sockets) socket.destroy();
    }
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: message("x".repeat(2 * MEBIBYTE)) } });
    for (;;) {
      const answer = await post(worker.url, body);
      if (answer.status === 200) break;
      assert.equal(answer.status, 503);
    }
    const all = await Promise.all(Array.from({ length: 4 }, () => post(worker.url, " ".repeat(3.9 * MEBIBYTE))));
    assert.deepEqual(all.map(({ status }) => status), [200, 200, 200, 200], "there is room for four again");
  });
});

describe("a large body", () => {
  const large = { data: Array.from({ length: 20_000 }, () => "x".repeat(40)) };

  test("whose send waits for its agent does not hold up another one", async () => {
    const agent = new Agent(`${worker.url}/demo`);
    const slow = message({ parts: [{ text: "hold 20000" }, large] });
    const waiting = agent.sendForTask(slow).then(() => "waiting");
    await until(() => worker.given(), (given) => given.includes(slow.messageId));
    const quick = agent.sendForTask({ parts: [{ text: "hello" }, large] }).then(() => "quick");
    assert.equal(await Promise.race([waiting, quick]), "quick");
  });

  test("takes its turn, and what is sent at once is answered whole", async () => {
    const agent = new Agent(`${worker.url}/demo`);
    const tasks = await Promise.all(Array.from({ length: 8 }, (_, index) => agent.sendForTask({ parts: [{ text: `large ${index}` }, large] })));
    assert.deepEqual(tasks.map(({ history }) => history?.[0]?.parts[0]?.text), tasks.map((_, index) => `large ${index}`));
    for (const { history } of tasks) assert.deepEqual(history?.[0]?.parts[1]?.data, large.data);
  });
});

describe("memory", { skip: process.platform !== "linux" && "the memory of a process is read from /proc" }, () => {
  for (const [kind, make] of Object.entries({ ...hostile.tooMany, ...hostile.most })) {
    test(`grows by at most 32 MB for one body: ${kind}`, async (t) => {
      const fresh = await startWorker({ vars: { DEVELOPMENT: "false" } });
      t.after(() => fresh.stop());
      await warmUp(fresh.url);
      const memory = memoryOf(fresh.pid);
      const answer = await post(fresh.url, make());
      assert.equal(answer.status, 200);
      const grown = memory.grown();
      assert.ok(grown <= 32, `${grown} MB`);
    });
  }

  const atOnce = {
    "of the kinds that are refused": Object.values(hostile.tooMany),
    "with as many nested values as are taken": [hostile.most["as many nested objects as are taken"], hostile.most["as many objects in metadata as are taken"]],
  };
  for (const [kind, made] of Object.entries(atOnce)) {
    test(`grows by at most 64 MB for 20 bodies at once: ${kind}`, async (t) => {
      const fresh = await startWorker({ vars: { DEVELOPMENT: "false" } });
      t.after(() => fresh.stop());
      await warmUp(fresh.url);
      const memory = memoryOf(fresh.pid);
      const bodies = made.map((make) => Buffer.from(make()));
      await Promise.all(Array.from({ length: 20 }, (_, index) => post(fresh.url, bodies[index % bodies.length]!)));
      const grown = memory.grown();
      assert.ok(grown <= 64, `${grown} MB`);
    });
  }
});

// These bodies were sent before all other tests, during which their time limit has passed. A small body with a declared length may
// be stalled for as long as its connection: the platform receives it.
describe("bodies that stand still", () => {
  test("are answered 408 and -32600, as JSON (§9.5)", async () => {
    const answer = await stalled.rpc;
    assert.match(answer, /^HTTP\/1\.1 408 /);
    const reply = bodyOf(answer) as Reply;
    assert.deepEqual([reply.id, reply.error?.code, reasonOf(reply)], [null, -32600, "REQUEST_TIMEOUT"]);
  });

  test("are answered 408 by HTTP+JSON (§11.6)", async () => {
    const answer = await stalled.rest;
    assert.match(answer, /^HTTP\/1\.1 408 /);
    const { error } = bodyOf(answer) as { error: { code: number; details: { reason?: string }[] } };
    assert.deepEqual([error.code, error.details[0]?.reason], [408, "REQUEST_TIMEOUT"]);
  });
});
