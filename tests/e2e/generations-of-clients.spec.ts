// Clients of three generations at one URL: the unmodified SDKs of 1.0 and 0.3, and a client of 0.1. They follow one task
// at the same time, and continue it in turns and all at once.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Role, TaskState, type Message, type Part } from "@a2a-js/sdk";
import { ClientFactory, type Client } from "@a2a-js/sdk/client";
import type { Part as PartOf03 } from "@a2a-js/sdk-0.3";
import { ClientFactory as ClientFactoryOf03, type Client as ClientOf03 } from "@a2a-js/sdk-0.3/client";
import { EarlyClient, freshId, speakingEarly } from "./early-client.ts";
import type { EarlyPart } from "./early-shapes.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let today: Client;
let yesterday: ClientOf03;
let early: EarlyClient;
before(async () => {
  worker = await startWorker({ vars: speakingEarly() });
  today = await new ClientFactory().createFromUrl(`${worker.url}/demo/`, ".well-known/agent-card.json");
  // Over JSON-RPC the SDK of 0.3 uses method names that also exist in 0.1, where an id chosen by a client selects 0.1.
  yesterday = await new ClientFactoryOf03().createFromAgentCard({
    protocolVersion: "0.3.0", name: "Demo", description: "The demo.", version: "1.0.0", url: `${worker.url}/demo`, preferredTransport: "HTTP+JSON",
    capabilities: { streaming: true }, defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"], skills: [],
  });
  early = new EarlyClient(`${worker.url}/demo`);
});
after(() => worker.stop());

const textsOfToday = (parts: Part[] | undefined) => parts?.map(({ content }) => content?.value as string) ?? [];
const textsOf03 = (parts: PartOf03[] | undefined) => parts?.map((part) => (part.kind === "text" ? part.text : part.kind)) ?? [];
const textsOfEarly = (parts: EarlyPart[] | undefined) => parts?.map(({ type, text }) => text ?? type) ?? [];

/** The texts of a task for each generation; they must be equal. */
async function views(id: string): Promise<string[][]> {
  const [newest, older, oldest] = await Promise.all([today.getTask({ tenant: "", id }), yesterday.getTask({ id }), early.get(id)]);
  return [newest.history.flatMap(({ parts }) => textsOfToday(parts)), older.history?.flatMap(({ parts }) => textsOf03(parts)) ?? [],
    oldest.history?.flatMap(({ parts }) => textsOfEarly(parts)) ?? []];
}

function sayToday(text: string, taskId: string): ReturnType<Client["sendMessage"]> {
  const part: Part = { content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" };
  const message: Message = {
    messageId: randomUUID(), contextId: "", taskId, role: Role.ROLE_USER, parts: [part], metadata: undefined, extensions: [], referenceTaskIds: [],
  };
  return today.sendMessage({ tenant: "", message, configuration: undefined, metadata: undefined });
}

function sayYesterday(text: string, taskId: string): ReturnType<ClientOf03["sendMessage"]> {
  return yesterday.sendMessage({ message: { kind: "message", messageId: randomUUID(), role: "user", parts: [{ kind: "text", text }], taskId } });
}

test("clients of three generations follow one task at the same time, and see the same", async () => {
  const id = freshId();
  const begun = early.sendSubscribe("count 40 every 150", { id });
  const first = await begun.next();
  assert.equal(first.value?.event.id, id);

  const followEarly = async (stream: typeof begun) => {
    const told = { text: "", end: "" };
    for await (const { kind, event } of stream) {
      if (kind === "artifact") told.text = (event.artifact.append === true ? told.text : "") + textsOfEarly(event.artifact.parts).join("");
      else told.end = event.final ? event.status.state : "";
    }
    return told;
  };
  const follow03 = async () => {
    const told = { text: "", end: "" };
    for await (const event of yesterday.resubscribeTask({ id })) {
      if (event.kind === "task") told.text = event.artifacts?.flatMap(({ parts }) => textsOf03(parts)).join("") ?? "";
      // Over HTTP+JSON the client leaves `append` out; this task only appends.
      if (event.kind === "artifact-update") told.text += textsOf03(event.artifact.parts).join("");
      if (event.kind === "status-update" && event.final) told.end = event.status.state;
    }
    return told;
  };
  const followToday = async () => {
    const told = { text: "", end: "" };
    for await (const { payload } of today.resubscribeTask({ tenant: "", id })) {
      if (payload?.$case === "task") told.text = payload.value.artifacts.flatMap(({ parts }) => textsOfToday(parts)).join("");
      if (payload?.$case === "artifactUpdate") told.text += textsOfToday(payload.value.artifact?.parts).join("");
      if (payload?.$case === "statusUpdate" && payload.value.status?.state === TaskState.TASK_STATE_COMPLETED) told.end = "completed";
    }
    return told;
  };
  const all = await Promise.all([followEarly(begun), followEarly(early.resubscribe(id)), follow03(), followToday()]);
  const expected = { text: "tick ".repeat(40), end: "completed" };
  assert.deepEqual(all, [expected, expected, expected, expected]);
});

test("clients of three generations go on with a task in turns, and all at once", async () => {
  const id = freshId();
  const asked = await early.send("guess", { id });
  assert.deepEqual(textsOfEarly(asked.status.message?.parts), ["Which number?"]);
  const helped = await sayYesterday("help", id);
  assert.equal(helped.kind === "task" && helped.status.state, "input-required");
  const said = await sayToday("yes", id);
  assert.ok("status" in said && said.status?.state === TaskState.TASK_STATE_INPUT_REQUIRED);
  const before = ["guess", "Which number?", "help", "It is below ten. Another hint?", "yes"];
  assert.deepEqual(await views(id), [before, before, before]);

  await Promise.all([early.send("1", { id }), sayYesterday("2", id), sayToday("3", id)]);
  const done = await early.send("7", { id });
  assert.deepEqual([done.status.state, textsOfEarly(done.status.message?.parts)], ["completed", ["7 it is."]]);
  const [newest, older, oldest] = await views(id);
  assert.deepEqual([older, oldest], [newest, newest]);
  const guesses = newest?.filter((text) => /^\d$/.test(text)) ?? [];
  assert.deepEqual([guesses.slice(0, -1).sort(), guesses.at(-1)], [["1", "2", "3"], "7"], "each was heard once");
});

test("a task that a client of 1.0 has begun is gone on with by the others, under the id of the server", async () => {
  const begun = await sayToday("ask", "");
  assert.ok("status" in begun);
  const { id } = begun;
  const unsure = await sayYesterday("purple", id);
  assert.equal(unsure.kind === "task" && unsure.status.state, "input-required");
  const done = await early.send("mauve", { id });
  assert.deepEqual([done.id, done.status.state, textsOfEarly(done.artifacts?.[0]?.parts)], [id, "completed", ["mauve"]]);
  const known = await today.getTask({ tenant: "", id });
  assert.deepEqual(known.artifacts.flatMap(({ parts }) => textsOfToday(parts)), ["mauve"]);
});
