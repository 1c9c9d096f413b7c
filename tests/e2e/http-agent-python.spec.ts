// An agent of kind "http" that is a plain Python program: that of docs/http-agents.md, with only Python's own library. Agents of
// frameworks: `npm run test:peers`.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pages } from "../docs/markdown.mjs";
import { Agent, followUp, textOf, until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { withHttpAgents } from "./http-agents.ts";
import { freePort } from "../../scripts/lib/port.mjs";
import { python, withoutPython as skip } from "./python.ts";
import { sendStreaming } from "./stream.ts";

const example = readFileSync(new URL("../../examples/http-agents/python/agent.py", import.meta.url), "utf8");

let program: ChildProcess | undefined, worker: Worker, agent: Agent, folder: string, url: string;
before(async () => {
  if (skip) return;
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  folder = mkdtempSync(join(tmpdir(), "a2a-http-agent-"));
  writeFileSync(join(folder, "agent.py"), example.replace("8000", String(port)));
  program = spawn(python, [join(folder, "agent.py")], { stdio: "ignore" });
  worker = await startWorker({ vars: { AGENTS: withHttpAgents({ poet: { url } }) } });
  agent = new Agent(`${worker.url}/poet`);
  await until(() => fetch(url).then(() => true, () => false), (listens) => listens);
});
after(async () => {
  await worker?.stop();
  if (program !== undefined && program.exitCode === null) {
    program.kill();
    await once(program, "exit");
  }
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

test("the program of the page is the file, and asks, streams and completes", { skip }, async () => {
  const page = pages().find(({ path }) => path === "docs/http-agents.md");
  assert.equal(`${page?.blocks.find(({ lang }) => lang === "python")?.text}\n`, example);
  const asking = await agent.sendForTask("the sea");
  assert.deepEqual([asking.status.state, textOf(asking.status.message)], ["TASK_STATE_INPUT_REQUIRED", "A poem about the sea. For whom?"]);
  const states: unknown[] = [];
  for await (const { data } of await sendStreaming(agent.endpoint, followUp(asking, "Ada"))) states.push(data.result?.statusUpdate?.status.state);
  assert.equal(states.at(-1), "TASK_STATE_COMPLETED");
  const task = await agent.getTask(asking.id);
  assert.deepEqual(task.artifacts?.map(({ parts }) => parts.map(({ text }) => text).join("")), ["Roses are red,\nand this is for Ada.\n"]);
});

test("its message can be tried as the page says", { skip }, async () => {
  const body = '{"turn": 1, "message": {"parts": [{"text": "the sea"}]}}';
  const said = await (await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })).text();
  assert.deepEqual(JSON.parse(said), { do: "input_required", text: "A poem about the sea. For whom?" });
});

test("a task that is sent while it is down is answered when it is back", { skip }, async () => {
  program?.kill();
  if (program !== undefined) await once(program, "exit");
  const { id } = await agent.sendForTask("the sea", { returnImmediately: true });
  await until(() => agent.getTask(id), ({ status }) => status.state === "TASK_STATE_WORKING");
  program = spawn(python, [join(folder, "agent.py")], { stdio: "ignore" });
  const { status } = await until(() => agent.getTask(id), ({ status }) => status.state !== "TASK_STATE_WORKING");
  assert.deepEqual([status.state, textOf(status.message)], ["TASK_STATE_INPUT_REQUIRED", "A poem about the sea. For whom?"]);
});
