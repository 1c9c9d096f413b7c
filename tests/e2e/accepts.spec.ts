// Agents with `accepts = "declared"` refuse parts with media types that their card does not list, before the message has any effect (spec §3.1.1).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bearer, caller, secretsOf } from "./access.ts";
import { Agent, message, type Part, type RpcError } from "./client.ts";
import { Elsewhere, skill, withLearners } from "./elsewhere.ts";
import { startWorker, type Worker } from "./harness.ts";
import { modern } from "./mcp.ts";
import { speakingAll } from "./speech.ts";

const { ALICE, BOB } = secretsOf("ALICE", "BOB");

let elsewhere: Elsewhere;
let worker: Worker;
before(async () => {
  elsewhere = await Elsewhere.open();
  elsewhere.has("hearing", [skill("listen", { inputModes: ["audio/*"] })]);
  const agents = withCopies(withLearners(elsewhere, { hearing: {} }));
  worker = await startWorker({ vars: { AGENTS: speakingAll(agents), NEXT_URL: `${elsewhere.url}/hearing`, ALICE, BOB }, hasTwin: true, notes: true });
});
after(async () => {
  await worker.stop();
  elsewhere.close();
});

interface Embedded {
  slug: string;
  card: string;
  [member: string]: unknown;
}

/**
 * The agents of tests/agents, with `hearing` changed to accept only the listed types; and copies of `choosy`: one accepts only texts, one has a
 * skill for some callers.
 */
function withCopies(all: string): string {
  const embedded = JSON.parse(all) as { agents: Embedded[] };
  const agents = embedded.agents.map((agent) => (agent.slug === "hearing" ? { ...agent, accepts: "declared" } : agent));
  const choosy = agents.find(({ slug }) => slug === "choosy");
  assert.ok(choosy !== undefined);
  const copy = (slug: string, card: object, more: object): Embedded =>
    ({ ...choosy, slug, card: JSON.stringify({ ...(JSON.parse(choosy.card.replaceAll("/choosy", `/${slug}`)) as object), ...card }), ...more });
  const access = { schemes: { token: { kind: "bearer", callers: [caller("alice", ["ALICE"], { permissions: ["hear"] }), caller("bob", ["BOB"])] } } };
  const hear = { id: "hear", name: "Hear", description: "Hears.", tags: [], inputModes: ["audio/ogg"] };
  const members = copy("members", {}, { access, restricted: [{ permissions: ["hear"], position: 1, skill: hear }] });
  return JSON.stringify({ ...embedded, agents: [...agents, members, copy("texts", { defaultInputModes: ["text/plain"], skills: [] }, {})] });
}

const agent = (slug: string, headers: Record<string, string> = {}): Agent => new Agent(`${worker.url}/${slug}`, headers);

/** A refusal: its code, its status and its text. */
interface Refusal {
  status: number;
  code: unknown;
  text: string;
}

/** A file with a media type in the form of a version, and a file without one. */
interface Files {
  of(mediaType: string): object;
  without: object;
}

const url = "https://files.example.com/a";
const files1: Files = { of: (mediaType) => ({ url, mediaType }), without: { raw: "aGk=" } };
const files03: Files = { of: (mimeType) => ({ kind: "file", file: { uri: url, mimeType } }), without: { kind: "file", file: { bytes: "aGk=" } } };
const files03Rest: Files = { of: (mimeType) => ({ file: { fileWithUri: url, mimeType } }), without: { file: { fileWithUri: url } } };
const files01: Files = { of: (mimeType) => ({ type: "file", file: { uri: url, mimeType } }), without: { type: "file", file: { bytes: "aGk=" } } };

const said03 = (parts: object[]) => ({ message: { kind: "message", messageId: crypto.randomUUID(), role: "user", parts } });
const said03Rest = (content: object[]) => ({ message: { messageId: crypto.randomUUID(), role: "ROLE_USER", content } });
const said01 = (parts: object[]) => ({ id: crypto.randomUUID(), message: { role: "user", parts } });
const said1 = (parts: object[]) => ({ message: message({ parts: parts as Part[] }) });
const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });

/** The ways to send a message: the version, the path, the body with these parts, and the forms of files and texts. */
const WAYS: [name: string, version: string, path: string, body: (parts: object[]) => object, files: Files, text: object, field: string][] = [
  ["SendMessage", "1.0", "", (parts) => rpc("SendMessage", said1(parts)), files1, { text: "a" }, "message.parts"],
  ["SendStreamingMessage", "1.0", "", (parts) => rpc("SendStreamingMessage", said1(parts)), files1, { text: "a" }, "message.parts"],
  ["message:send", "1.0", "/message:send", said1, files1, { text: "a" }, "message.parts"],
  ["message:stream", "1.0", "/message:stream", said1, files1, { text: "a" }, "message.parts"],
  ["message/send of 0.3", "0.3", "", (parts) => rpc("message/send", said03(parts)), files03, { kind: "text", text: "a" }, "message.parts"],
  ["message/stream of 0.3", "0.3", "", (parts) => rpc("message/stream", said03(parts)), files03, { kind: "text", text: "a" }, "message.parts"],
  ["message:send of 0.3", "", "/v1/message:send", said03Rest, files03Rest, { text: "a" }, "message.content"],
  ["message:stream of 0.3", "", "/v1/message:stream", said03Rest, files03Rest, { text: "a" }, "message.content"],
  ["tasks/send of 0.1", "", "", (parts) => rpc("tasks/send", said01(parts)), files01, { type: "text", text: "a" }, "message.parts"],
  ["tasks/sendSubscribe of 0.1", "", "", (parts) => rpc("tasks/sendSubscribe", said01(parts)), files01, { type: "text", text: "a" }, "message.parts"],
];

async function post(path: string, version: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const sent = { "content-type": "application/json", ...(version === "" ? {} : { "a2a-version": version }), ...headers };
  return fetch(`${worker.url}${path}`, { method: "POST", headers: sent, body: JSON.stringify(body) });
}

/** The refusal in an answer; it must not contain a task. */
async function refusalIn(response: Response): Promise<Refusal> {
  const text = await response.text();
  const [, data] = /^data: (.*)$/m.exec(text) ?? [undefined, text];
  const { error } = JSON.parse(data ?? "") as { error?: { code?: number; message?: string } };
  return { status: response.status, code: error?.code, text };
}

describe("a part of a media type that the card does not list", () => {
  for (const [name, version, path, body, files, text, field] of WAYS) {
    test(`is refused in ${name}, and leaves nothing behind (§3.1.1, §5.4)`, async () => {
      const before = [await agent("choosy").listTasks(), await worker.given()];
      for (const [parts, index, mediaType] of [
        [[files.of("application/pdf")], 0, "application/pdf"],
        [[text, files.of("image/png"), files.of("Application/PDF; a=b")], 2, "application/pdf"],
        [[text, files.without], 1, "application/octet-stream"],
      ] as const) {
        const { status, code, text: told } = await refusalIn(await post(`/choosy${path}`, version, body([...parts])));
        const isRest = path !== "";
        assert.deepEqual([status, code], isRest ? [400, 400] : [200, -32005], told);
        assert.match(told, /CONTENT_TYPE_NOT_SUPPORTED/);
        const says = `${field}[${index}] is of the media type ${mediaType}, which this agent does not take; it takes text/plain, application/json, image/*`;
        assert.ok(told.includes(says), told);
      }
      assert.deepEqual([await agent("choosy").listTasks(), await worker.given()], before);
    });

    test(`of ${name} that it lists are taken, and any by an agent whose file does not say so`, async () => {
      for (const [slug, parts] of [
        ["choosy", [text]],
        ["choosy", [text, files.of("image/png"), files.of("IMAGE/webp;a=b"), files.of("Text/Plain")]],
        ["double", [text, files.of("application/pdf"), files.without]],
      ] as const) {
        const answer = await (await post(`/${slug}${path}`, version, body([...parts]))).text();
        assert.match(answer, /completed/i, `${slug} ${answer}`);
      }
    });
  }

  test("is refused in the plain pair of 0.1", async () => {
    const response = await post("/choosy/a2a/tasks/send", "", { message: { parts: [{ file: { uri: url, mimeType: "application/pdf" } }] } });
    const text = await response.text();
    assert.equal(response.status, 400, text);
    assert.match(text, /message\.parts\[0\] is of the media type application\/pdf/);
  });

  test("is refused in a message to a task that waits, and the task waits on", async () => {
    const { id } = await agent("choosy").sendForTask("ask");
    const parts = [{ text: "this" }, { raw: "aGk=", mediaType: "video/mp4" }];
    await assert.rejects(agent("choosy").send({ taskId: id, parts }), (error: RpcError) => {
      assert.deepEqual([error.code, error.reason, error.fields], [-32005, "CONTENT_TYPE_NOT_SUPPORTED", ["message.parts[1]"]]);
      return true;
    });
    const waiting = await agent("choosy").getTask(id);
    assert.deepEqual([waiting.status.state, waiting.history?.length], ["TASK_STATE_INPUT_REQUIRED", 1]);
    assert.equal((await agent("choosy").sendForTask({ taskId: id, parts: [{ data: { a: 1 } }] })).status.state, "TASK_STATE_COMPLETED");
  });
});

test("what a skill for some callers takes is taken from them, and not told to others", async () => {
  const heard = { parts: [{ raw: "aGk=", mediaType: "audio/ogg" }] };
  const task = await agent("members", bearer(ALICE)).sendForTask(heard);
  assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  await assert.rejects(agent("members", bearer(BOB)).send(heard), (error: RpcError) => {
    assert.equal(error.code, -32005);
    assert.match(error.message, /audio\/ogg, which this agent does not take; it takes text\/plain, application\/json, image\/\*$/);
    return true;
  });
});

test("what a skill takes that the agent learns is taken by an instance that has shown no card yet", async () => {
  const begun = await agent("hearing").send({ parts: [{ raw: "aGk=", mediaType: "audio/ogg" }] }, { returnImmediately: true });
  assert.ok(begun.task !== undefined);
  await assert.rejects(agent("hearing").send({ parts: [{ raw: "aGk=", mediaType: "video/mp4" }] }), { code: -32005 });
});

test("a part that is not listed is refused when a client of MCP sends it", async () => {
  const call = async (args: object) => JSON.stringify((await modern(`${worker.url}/texts/mcp`, "tools/call", { name: "texts", arguments: args })).body);
  assert.match(await call({ message: "a", data: { b: 1 } }), /message\.parts\[1\] is of the media type application\/json/);
  assert.match(await call({ message: "a" }), /completed/);
});
