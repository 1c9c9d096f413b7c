// Deliberate faults between a scripted agent and its clients, as bytes on the wire.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, message } from "./client.ts";
import { Double } from "./double.ts";
import { startWorker, type Worker } from "./harness.ts";
import { call, send } from "./rest.ts";
import { EventStream } from "./stream.ts";

let worker: Worker;
let double: Double;
before(async () => {
  worker = await startWorker({ hasDev: true, notes: true });
  double = new Double(worker.url);
});
after(() => worker.stop());

const sent = (text = "x", headers: Record<string, string> = {}): Promise<Response> =>
  call("POST", `${double.url}/message:send`, { message: message(text) }, headers);

/** The text of a stream over HTTP+JSON; if the stream breaks off, the text before that. */
async function streamed(said = message("x")): Promise<{ text: string; isBroken: boolean }> {
  let text = "";
  try {
    const response = await call("POST", `${double.url}/message:stream`, { message: said });
    assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
    for await (const piece of response.body ?? []) text += new TextDecoder().decode(piece);
    return { text, isBroken: false };
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return { text, isBroken: true };
  }
}

const idsIn = (text: string): string[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id ?? "");

describe("an answer in place of the agent's", () => {
  test("comes as often as it is to, with its headers, and the agent gets nothing", async () => {
    const body = '{"error":{"code":503,"message":"later"}}';
    const first = (await worker.given()).length;
    await double.play({ faults: [{ on: ["SendMessage"], times: 2, status: 503, headers: { "Retry-After": "1", "content-type": "application/json" }, body }] });
    for (const nth of [1, 2]) {
      const answer = await sent();
      assert.deepEqual([answer.status, answer.headers.get("retry-after"), await answer.text()], [503, "1", body], `${nth}`);
    }
    assert.equal((await worker.given()).length, first);
    assert.equal((await sent()).status, 200);
    assert.equal((await worker.given()).length, first + 1);
    const noted = (await double.requests()).map(({ fault }) => (fault as { status: number } | null)?.status);
    assert.deepEqual(noted, [503, 503, undefined]);
  });

  test("comes for the operations and the bodies that it is for, over either binding", async () => {
    await double.play({ faults: [{ on: ["GetTask"], status: 500 }, { containing: "pay", status: 429, headers: { "retry-after": "3" } }] });
    const { id } = await send(double.url, "free");
    const rpc = new Agent(double.url);
    assert.equal((await call("GET", `${double.url}/tasks/${id}`)).status, 500);
    await assert.rejects(rpc.getTask(id), /500/);
    assert.equal((await rpc.listTasks()).tasks.length > 0, true);
    assert.equal((await sent("pay me")).headers.get("retry-after"), "3");
    await assert.rejects(rpc.send("please pay"), /429/);
    assert.equal((await call("GET", `${double.url}/.well-known/agent-card.json`)).status, 200, "not for the card");
  });

  test("of several, the first that is not used up comes", async () => {
    await double.play({ faults: [{ status: 500, times: 1 }, { status: 502, times: 1 }] });
    assert.deepEqual([(await sent()).status, (await sent()).status, (await sent()).status], [500, 502, 200]);
  });

  test("need not be JSON, or what its type says", async () => {
    await double.play({ faults: [{ times: 1, body: "<html>Welcome</html>", headers: { "content-type": "text/html" } }, { body: "{", headers: { "content-type": "application/json" } }] });
    const page = await sent();
    assert.deepEqual([page.status, page.headers.get("content-type"), await page.text()], [200, "text/html", "<html>Welcome</html>"]);
    await assert.rejects(new Agent(double.url).send("x"), SyntaxError);
  });

  test("may come after the agent has done its work, whose answer is lost", async () => {
    await double.play({ faults: [{ on: ["SendMessage"], times: 1, lost: true, status: 504 }] });
    const key = { "idempotency-key": `lost-${Date.now()}` };
    const said = message("pay once");
    const post = () => call("POST", `${double.url}/message:send`, { message: said }, key);
    assert.equal((await post()).status, 504);
    assert.equal((await post()).status, 200);
    assert.equal((await worker.given()).filter((id) => id === said.messageId).length, 1, "one task, as it was sent with a key");
  });

  test("comes for bodies that are received in pieces, too", async () => {
    await double.play({ faults: [{ status: 500, times: 1 }] });
    const text = "x".repeat(100_000);
    assert.equal((await sent(text)).status, 500);
    assert.equal((await sent(text)).status, 200);
  });
});

describe("an answer that is slow", () => {
  test("comes when it is to", async () => {
    await double.play({ faults: [{ on: ["SendMessage"], times: 1, wait_ms: 600_000 }] });
    const aborted = new AbortController();
    const slow = fetch(`${double.url}/message:send`, {
      method: "POST", headers: { "a2a-version": "1.0", "content-type": "application/json" },
      body: JSON.stringify({ message: message("x") }), signal: aborted.signal,
    });
    const refused = assert.rejects(slow, { name: "AbortError" });
    // Waits until the first request was received; the next one is answered earlier.
    while ((await double.requests()).length === 0) await new Promise((resume) => setTimeout(resume, 10));
    assert.equal((await sent()).status, 200);
    aborted.abort();
    await refused;
  });

  test("comes whole, as does a stream whose events are slow", async () => {
    await double.play({ faults: [{ on: ["SendMessage"], wait_ms: 5 }, { event_wait_ms: 5 }] });
    assert.equal((await sent()).status, 200);
    assert.deepEqual(idsIn((await streamed()).text), ["1", "2", "3", "4"]);
  });
});

describe("a card that lies", () => {
  const card = (path = "/.well-known/agent-card.json", headers = {}) => call("GET", double.url + path, undefined, headers);

  test("names another host, another version and other capabilities, to clients of any version", async () => {
    const truth = (await (await card()).json()) as { name: string; capabilities: object };
    const lies = {
      supportedInterfaces: [{ url: "http://internal.example/x", protocolBinding: "JSONRPC", protocolVersion: "9.9" }],
      url: "{origin}/elsewhere", capabilities: { streaming: false },
    };
    await double.play({ faults: [{ card: lies, card_without: ["skills"] }] });
    const told = await card();
    assert.deepEqual([told.headers.get("etag"), told.headers.get("cache-control")], [null, "no-store"]);
    const others = (await told.json()) as typeof truth & typeof lies & { skills?: object };
    assert.deepEqual([others.name, others.skills, others.url], [truth.name, undefined, `${worker.url}/elsewhere`]);
    assert.deepEqual(others.supportedInterfaces, lies.supportedInterfaces);
    assert.deepEqual(others.capabilities, { ...truth.capabilities, streaming: false });
    const older = (await (await card("/.well-known/agent.json", { "a2a-version": "0.3" })).json()) as typeof lies;
    assert.equal(older.url, `${worker.url}/elsewhere`);
    assert.equal((await sent()).status, 200, "for the card alone");
  });

  test("lies only as often as it is to", async () => {
    await double.play({ faults: [{ card: { name: "Other" }, times: 1 }] });
    const names = [];
    for (let asked = 0; asked < 2; asked++) names.push(((await (await card()).json()) as { name: string }).name);
    assert.deepEqual(names, ["Other", "Double"]);
  });

  test("is not there at all", async () => {
    await double.play({ faults: [{ on: ["card"], status: 404 }] });
    assert.equal((await card()).status, 404);
    assert.equal((await sent()).status, 200);
  });
});

describe("a stream", () => {
  test("is closed after some events, and goes on where the client asks", async () => {
    await double.play({ faults: [{ on: ["SendStreamingMessage"], close_after: 2 }] });
    const cut = await streamed();
    assert.deepEqual([idsIn(cut.text), cut.isBroken], [["1", "2"], false]);
    const id = /"id":"([0-9a-f]{64})"/.exec(cut.text)?.[1] ?? "";
    const rest = await call("POST", `${double.url}/tasks/${id}:subscribe`, {}, { "last-event-id": "2" });
    assert.deepEqual(idsIn(await rest.text()), ["3", "4"]);
  });

  test("is closed before any event, or breaks off", async () => {
    await double.play({ faults: [{ close_after: 0, times: 1 }, { close_after: 1, abort: true }] });
    assert.deepEqual(await streamed(), { text: "", isBroken: false });
    const broken = await streamed();
    assert.deepEqual([idsIn(broken.text).filter((id) => id !== "1"), broken.isBroken], [[], true]);
  });

  test("ends with half an event", async () => {
    await double.play({ faults: [{ close_after: 1, half_event: true }] });
    const { text, isBroken } = await streamed();
    const [first, half, none] = text.split("\n\n");
    assert.match(first ?? "", /"task"/);
    assert.match(half ?? "", /^id: 2\ndata: \{/);
    assert.throws(() => JSON.parse((half ?? "").slice("id: 2\ndata: ".length)) as unknown, SyntaxError);
    assert.deepEqual([none, isBroken], [undefined, false]);
  });

  test("has events that are not JSON, of a wrong shape, or missing, over either binding and in 0.3", async () => {
    const events = { 1: "", 2: "{not json", 3: '{"statusUpdate":5}' };
    await double.play({ faults: [{ events }] });
    const { text } = await streamed();
    assert.deepEqual(idsIn(text), ["2", "3", "4"]);
    assert.match(text, /^id: 2\ndata: \{not json\n\nid: 3\ndata: \{"statusUpdate":5\}\n\nid: 4\ndata: \{"statusUpdate":\{/);
    const data = async (method: string, headers: Record<string, string>): Promise<unknown[]> => {
      await double.play({ faults: [{ events: { 2: '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}' } }] });
      const said = { kind: "message", ...message("x"), ...(method === "message/stream" && { role: "user", parts: [{ kind: "text", text: "x" }] }) };
      const stream = await EventStream.open(double.url, method, { message: said }, headers);
      return (await stream.rest()).map((event) => "error" in event.data);
    };
    assert.deepEqual(await data("SendStreamingMessage", {}), [false, true, false, false]);
    assert.deepEqual(await data("message/stream", { "a2a-version": "0.3" }), [false, true, false, false]);
  });
});

test("faults of a file happen, and a script without any ends them", async () => {
  await double.script("DELETE");
  assert.equal((await sent("the file's own fault")).status, 418);
  await double.play({});
  assert.equal((await sent("the file's own fault")).status, 200);
});
