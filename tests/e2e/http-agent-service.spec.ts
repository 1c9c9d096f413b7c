// An agent of kind "http" that is another Worker, bound to this one: the plain JavaScript of docs/http-agents.md.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { pages } from "../docs/markdown.mjs";
import { Agent, textOf, until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { turnProblem, withHttpAgents } from "./http-agents.ts";
import { sendStreaming } from "./stream.ts";

const example = readFileSync(new URL("../../examples/http-agents/worker/agent.js", import.meta.url), "utf8");

/** Another Worker, which returns its received turn, never answers on request, and records the canceled tasks. */
const MIRROR = `
  const canceled = [];
  export default {
    async fetch(request) {
      const turn = await request.json();
      if (turn.canceled) {
        canceled.push([turn.taskId, new URL(request.url).pathname]);
        return new Response(null, { status: 204 });
      }
      const text = turn.message.parts[0].text;
      const answer = (verb) => new Response(JSON.stringify(verb), { headers: { "content-type": "application/json" } });
      if (text === "canceled") return answer({ do: "reply", data: canceled });
      if (text === "wait") {
        const encoder = new TextEncoder();
        const body = new ReadableStream({
          start: (controller) => controller.enqueue(encoder.encode('data: {"do":"working","text":"waiting"}\\n\\n')),
        });
        return new Response(body, { headers: { "content-type": "text/event-stream" } });
      }
      return answer([
        { do: "artifact", id: "asked", data: { url: request.url, headers: Object.fromEntries(request.headers), turn } },
        { do: "complete" },
      ]);
    },
  };`;

let worker: Worker, words: Agent, mirror: Agent;
before(async () => {
  const tables = { words: { service: "WORDS" }, mirror: { service: "MIRROR", path: "/a/turn?b=c", headers: { "x-key": "${AGENT_KEY}" }, cancel_url: "/stop" } };
  worker = await startWorker({ vars: { AGENTS: withHttpAgents(tables), AGENT_KEY: "a-key-of-ours" }, services: { WORDS: example, MIRROR } });
  [words, mirror] = [new Agent(`${worker.url}/words`), new Agent(`${worker.url}/mirror`)];
});
after(() => worker?.stop());

test("the Worker of the page is the file, and answers", async () => {
  const page = pages().find(({ path }) => path === "docs/http-agents.md");
  const shown = page?.blocks.find(({ lang, text }) => lang === "js" && text.includes("export default"));
  assert.equal(`${shown?.text}\n`, example);
  const task = await words.sendForTask("to be or not to be");
  assert.deepEqual([task.status.state, textOf(task.status.message)], ["TASK_STATE_COMPLETED", "6 words"]);
  assert.deepEqual(task.artifacts?.map(({ artifactId, parts }) => [artifactId, parts[0]?.data]), [["words", { count: 6, caller: "anonymous" }]]);
  assert.equal((await words.sendForTask(" ")).status.state, "TASK_STATE_REJECTED");
});

test("its stream is ours", async () => {
  const said: unknown[] = [];
  for await (const { data } of await sendStreaming(words.endpoint, "one two")) {
    said.push(data.result?.statusUpdate?.status.state ?? data.result?.artifactUpdate?.artifact.artifactId);
  }
  assert.deepEqual(said.slice(-2), ["words", "TASK_STATE_COMPLETED"]);
});

test("it is told the turn at its path, with headers", async () => {
  const task = await mirror.sendForTask("hello");
  const { url, headers, turn } = task.artifacts?.[0]?.parts[0]?.data as { url: string; headers: Record<string, string>; turn: object };
  const { pathname, search } = new URL(url);
  assert.deepEqual([pathname, search], ["/a/turn", "?b=c"]);
  assert.deepEqual([headers["x-key"], headers["content-type"]], ["[AGENT_KEY]", "application/json"]);
  assert.match(headers["idempotency-key"] ?? "", /^[0-9a-f]{64}$/);
  assert.equal(turnProblem(turn), undefined);
});

test("a cancel is told there (§3.1.5)", async () => {
  const { id } = await mirror.sendForTask("wait", { returnImmediately: true });
  await until(() => mirror.getTask(id), ({ status }) => textOf(status.message) === "waiting");
  await mirror.cancelTask(id);
  const told = async (): Promise<unknown> => (await mirror.send("canceled")).message?.parts[0]?.data;
  assert.deepEqual(await until(told, (canceled) => (canceled as unknown[]).length > 0), [[id, "/stop"]]);
});
