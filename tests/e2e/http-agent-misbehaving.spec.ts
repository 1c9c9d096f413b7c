// Misbehaving programs behind agents of kind "http", over real connections: the final state of the task, and the number of calls. Many
// more cases, in memory: tests/all/http_agent.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Agent, textOf } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { AgentServer, events, lines, withHttpAgents } from "./http-agents.ts";

interface Lie {
  /** Answers the program's `nth` request, counted from 1. */
  answer(response: ServerResponse, nth: number): unknown;
  state?: string;
  /** The text in the status of the task. */
  tells: RegExp;
  requests?: number;
  /** The text of the artifact. */
  artifact?: string;
  /** The agent that calls the program, if not the one with a long time limit. */
  agent?: "hasty";
}

const raw = (response: ServerResponse, status: number, type: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  response.writeHead(status, { "content-type": type, ...headers }).end(body);
const begun = { do: "artifact", id: "a", text: "half", more: true };
const done = { do: "complete", text: "done" };

const LIES: Record<string, Lie> = {
  "answers 400": { answer: (response) => raw(response, 400, "text/plain", "no such field"), tells: /answered 400: no such field$/ },
  "answers 500 each time": { answer: (response) => raw(response, 500, "text/plain", "oops"), tells: /answered 500: oops \(asked 3 times\)$/, requests: 3 },
  "answers 503 once": {
    answer: (response, nth) => (nth === 1 ? raw(response, 503, "text/plain", "", { "retry-after": "0" }) : lines(response, done)),
    state: "COMPLETED", tells: /^done$/, requests: 2,
  },
  "redirects": { answer: (response) => raw(response, 308, "text/plain", "", { location: "https://other.example/turn" }), tells: /answered 308, a redirect to https:\/\/other\.example\/turn/ },
  "answers a page": { answer: (response) => raw(response, 200, "text/html", "<h1>Welcome</h1>"), tells: /its content-type is text\/html; it must be application\/json/ },
  "answers nothing": { answer: (response) => raw(response, 200, "application/json", ""), tells: /it is empty/ },
  "says an unknown verb": { answer: (response) => lines(response, { do: "dance" }, done), tells: /line 1: there is no verb "dance"; there are: working/ },
  "says what is not JSON": { answer: (response) => raw(response, 200, "application/x-ndjson", `${JSON.stringify(begun)}\nTraceback`), tells: /it ends in the middle of line 2: Traceback/, artifact: "half" },
  "speaks behind its end": { answer: (response) => lines(response, done, begun), tells: /line 2: it stands behind the end/ },
  "has no end": { answer: (response) => (events(response, begun), response.end()), tells: /it has no end; one of complete, fail/, artifact: "half" },
  "stops in the middle": { answer: (response) => events(response, begun), tells: /nothing came for 1000 ms \(idle_timeout_ms\)/, artifact: "half", agent: "hasty" },
  "never begins": { answer: () => undefined, tells: /did not begin its answer within 1000 ms \(timeout_ms\)/, agent: "hasty" },
  "sends a line of 10 MB": { answer: (response) => lines(response, { do: "artifact", text: "x".repeat(10_000_000) }, done), tells: /line 1 has more than 8388608 bytes/ },
  "breaks off once": {
    answer: (response, nth) => {
      if (nth > 1) return lines(response, { do: "artifact", id: "a", text: "whole" }, done);
      events(response, begun);
      setTimeout(() => response.destroy(), 300);
      return undefined;
    },
    state: "COMPLETED", tells: /^done$/, requests: 2, artifact: "whole",
  },
  "drops the connection": { answer: (response) => response.destroy(), tells: /did not answer: .*\(asked 3 times\)$/, requests: 3 },
  "calls nonsense gzip": { answer: (response) => raw(response, 200, "application/json", Buffer.from("nonsense"), { "content-encoding": "gzip" }), tells: /cannot be used|broke off/, requests: NaN },
  "is compressed": { answer: (response) => raw(response, 200, "application/json", gzipSync(JSON.stringify(done)), { "content-encoding": "gzip" }), state: "COMPLETED", tells: /^done$/ },
  "stays open behind its end": { answer: (response) => events(response, begun, done), state: "COMPLETED", tells: /^done$/, artifact: "half" },
};

let server: AgentServer, worker: Worker;
before(async () => {
  server = await AgentServer.open(({ turn, text }, response) => LIES[text]?.answer(response, server.of(turn.taskId).length));
  const table = { url: server.url, timeout_ms: 20_000, idle_timeout_ms: 20_000, attempts: 3, unreachable_wait_ms: 0 };
  const hasty = { ...table, timeout_ms: 1_000, idle_timeout_ms: 1_000 };
  worker = await startWorker({ vars: { AGENTS: withHttpAgents({ liar: table, hasty, gone: { url: "http://127.0.0.1:9/turn", unreachable_wait_ms: 1_000 }, unbound: { service: "NOWHERE" }, unset: { url: "${AGENT_URL}" } }) } });
});
after(async () => {
  await worker?.stop();
  server?.close();
});

for (const [name, { state = "FAILED", tells, requests = 1, artifact, agent = "liar" }] of Object.entries(LIES)) {
  test(`one that ${name}`, async () => {
    const task = await new Agent(`${worker.url}/${agent}`).sendForTask(name);
    assert.match(textOf(task.status.message), tells);
    assert.equal(task.status.state, `TASK_STATE_${state}`);
    const asked = server.of(task.id);
    if (!Number.isNaN(requests)) assert.equal(asked.length, requests, "requests");
    assert.equal(new Set(asked.map(({ headers }) => headers["idempotency-key"])).size, 1, "one key");
    assert.equal(task.artifacts?.map(textOf).join(), artifact);
    // All connections to the program are closed.
    await Promise.all(asked.map(({ closed }) => closed));
  });
}

for (const [slug, tells] of [
  ["gone", /^the agent's program at 127\.0\.0\.1:9 refused or lost the connection, [34] times in \d s; is it running\?$/],
  ["unbound", /^the service NOWHERE did not answer: this Worker has no service binding "NOWHERE"/],
  ["unset", /AGENT_URL/],
] as const) {
  test(`one that is not there: ${slug}`, async () => {
    const task = await new Agent(`${worker.url}/${slug}`).sendForTask("hello");
    assert.equal(task.status.state, "TASK_STATE_FAILED");
    assert.match(textOf(task.status.message), tells);
  });
}
