// Agents of frameworks behind the kind `http`: the programs of examples/http-agents, as they are. What they ask of a model is answered by provider.ts.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Role, TaskState, type Message, type Part, type SendMessageRequest, type StreamResponse, type Task } from "@a2a-js/sdk";
import { ClientFactory, type Client } from "@a2a-js/sdk/client";
import { startWorker } from "../e2e/harness.ts";
import { only } from "../e2e/mcp.ts";
import { freePort } from "../../scripts/lib/port.mjs";
import { GREETING, REASON, WEATHER, startProvider, type Provider } from "./provider.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Has the agent in this folder of examples/http-agents answer clients of A2A; `interpreter` runs it if it is in Python. */
export async function answersTurns(folder: string, interpreter?: string): Promise<void> {
  const provider = await startProvider();
  const agent = await startAgent(folder, interpreter, provider.variables);
  const executor = { kind: "http", table: { url: agent.url, event_interval_ms: 0 }, run: {} };
  const worker = await startWorker({ vars: { AGENTS: only({ weather: { of: "demo", executor } }) } });
  try {
    const client = await new ClientFactory().createFromUrl(`${worker.url}/weather/`, ".well-known/agent-card.json");
    await streams(client);
    await converses(client, provider);
    await callsItsTool(client, provider);
    await fails(client);
    for (const what of ["slow", "silent"]) await isCanceled(client, provider, what);
  } finally {
    await Promise.all([worker.stop(), agent.stop(), provider.stop()]);
  }
}

/** The answer comes as a stream, in at least so many chunks. */
export async function streams(client: Client, least = 2): Promise<void> {
  const chunks: string[] = [];
  const states: (TaskState | undefined)[] = [];
  for await (const { payload } of client.sendMessageStream(saying("hello"))) {
    if (payload?.$case === "artifactUpdate") chunks.push(textOf(payload.value.artifact?.parts));
    if (payload?.$case === "statusUpdate") states.push(payload.value.status?.state);
  }
  assert.ok(chunks.length >= least, "the whole answer came at once");
  assert.equal(chunks.join(""), GREETING);
  assert.equal(states.at(-1), TaskState.TASK_STATE_COMPLETED);
}

/** What a task of the same context was answered is part of the conversation. */
async function converses(client: Client, provider: Provider): Promise<void> {
  const first = await send(client, saying("my name is Ada"));
  await send(client, saying("who am I?", { contextId: first.contextId }));
  assert.deepEqual(provider.asked().at(-1), [["user", "my name is Ada"], ["assistant", GREETING], ["user", "who am I?"]]);
}

export async function callsItsTool(client: Client, provider: Provider): Promise<void> {
  const task = await send(client, saying("how is the weather?"));
  assert.equal(textOf(task.artifacts[0]?.parts), WEATHER);
  const [role, text] = provider.asked().at(-1)?.at(-1) ?? [];
  assert.equal(role, "tool");
  assert.match(text ?? "", /21\.5 degrees in Rome/);
}

/** An error of the framework is the reason of the failure, also in the middle of an answer. */
export async function fails(client: Client): Promise<void> {
  const broken = await send(client, saying("broken"));
  assert.equal(broken.status?.state, TaskState.TASK_STATE_FAILED);
  assert.match(textOf(broken.status?.message?.parts), new RegExp(REASON));
  assert.deepEqual(broken.artifacts, []);
  const torn = await send(client, saying("torn"));
  assert.equal(torn.status?.state, TaskState.TASK_STATE_FAILED);
  assert.match(textOf(torn.status?.message?.parts), /\w/);
}

/** A cancel closes the connection to the agent, which drops its request to the model: while text comes, and before any has come. */
export async function isCanceled(client: Client, provider: Provider, what: string): Promise<void> {
  const [dropped, asked] = [provider.dropped(), provider.asked().length];
  const events = client.sendMessageStream(saying(what))[Symbol.asyncIterator]();
  let id = "";
  let begun = false;
  while (!begun) {
    const { value } = (await events.next()) as { value: StreamResponse };
    if (value.payload?.$case === "task") id = value.payload.value.id;
    begun = what === "silent" ? id !== "" : value.payload?.$case === "artifactUpdate";
  }
  await until(() => provider.asked().length > asked || what === "slow", "the model is not asked");
  const canceled = await client.cancelTask({ tenant: "", id, metadata: undefined });
  assert.equal(canceled.status?.state, TaskState.TASK_STATE_CANCELED);
  await until(() => provider.dropped() > dropped, `the request to the model goes on after a cancel (${what})`);
  await events.return?.();
}

/** Waits for a condition, which must hold at some time. */
export async function until(holds: () => boolean, otherwise: string): Promise<void> {
  for (const deadline = Date.now() + 15_000; !holds(); await new Promise((done) => setTimeout(done, 20))) {
    assert.ok(Date.now() < deadline, otherwise);
  }
}

/** Starts the program as docs/http-agents.md says, and waits until it answers. */
async function startAgent(folder: string, interpreter: string | undefined, variables: Record<string, string>): Promise<{ url: string; stop(): Promise<void> }> {
  const port = String(await freePort());
  const place = here(`../../examples/http-agents/${folder}`);
  const [program, args] = interpreter === undefined
    ? [process.execPath, [`--import=${new URL("frameworks.mjs", import.meta.url).href}`, "agent.ts"]]
    : [interpreter, ["-m", "uvicorn", "agent:app", "--port", port]];
  const env = { ...process.env, ...variables, PORT: port, NO_PROXY: "127.0.0.1", PYTHONDONTWRITEBYTECODE: "1" };
  const child = spawn(program, args, { cwd: place, env, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log = (log + text).slice(-10_000)));
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${port}/`;
  for (const deadline = Date.now() + 60_000; ; await new Promise((done) => setTimeout(done, 50))) {
    if ((await fetch(url).catch(() => undefined)) !== undefined) break;
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${folder} does not answer: ${log}`);
  }
  return {
    url,
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

export function saying(value: string, changes: Partial<Message> = {}): SendMessageRequest {
  const part: Part = { content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "" };
  const message: Message = {
    messageId: randomUUID(), contextId: "", taskId: "", role: Role.ROLE_USER, metadata: undefined, extensions: [], referenceTaskIds: [], parts: [part], ...changes,
  };
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}

/** Sends and gives the task, which is over. */
export async function send(client: Client, request: SendMessageRequest): Promise<Task> {
  const answer = await client.sendMessage(request);
  if (!("status" in answer)) throw new Error("the answer is no task");
  return answer;
}

export const textOf = (parts: Part[] | undefined): string => (parts ?? []).map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");
