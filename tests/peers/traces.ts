// A receiver of OTLP of OpenTelemetry's SDK: a coordinator asks two agents, is killed once, and is one connected trace all the same.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Agent, textOf, until, untilEnded } from "../e2e/client.ts";
import { startWorker } from "../e2e/harness.ts";
import { clientTrace } from "../e2e/spans.ts";
import { team } from "../e2e/teams-traced.ts";

interface Received {
  trace: string;
  id: string;
  parent: string;
  name: string;
  kind: number;
  links: string[];
}

/** Runs the coordinator of tests/e2e/traces-faults.spec.ts with this program as the receiver. */
export async function receivesTraces(program: string): Promise<void> {
  const receiver = spawn(program, { stdio: ["ignore", "pipe", "inherit"] });
  const spans: Received[] = [];
  let port = 0;
  createInterface(receiver.stdout).on("line", (line) => (port === 0 ? (port = Number(line)) : spans.push(JSON.parse(line) as Received)));
  await until(async () => port, (known) => known > 0);
  const worker = await startWorker({ vars: { AGENTS: team(), OTLP_URL: `http://127.0.0.1:${port}`, KEEP_ALIVE_MS: "1000" }, hasDev: true });
  try {
    const { trace, span, headers } = clientTrace();
    const planner = new Agent(`${worker.url}/planner`, headers);
    const { id } = await planner.sendForTask("Will it rain in Rome, and book a train to Rome", { returnImmediately: true });
    const named = (name: string): Received[] => spans.filter((one) => one.trace === trace && one.name === name);
    const runsOf = (agent: string): Received[] => named(`invoke_agent ${agent}`).filter(({ kind }) => kind === 1);
    await until(async () => runsOf("weather").length === 1 && named("POST").length >= 3, Boolean);
    await worker.kill9();
    await worker.restart();
    const task = await untilEnded(planner, id);
    assert.equal(task.status.state, "TASK_STATE_COMPLETED", textOf(task.status.message));
    await until(async () => runsOf("planner").length === 2 && runsOf("trains").length === 2, Boolean);
    const whole = spans.filter((one) => one.trace === trace);
    const ids = new Set(whole.map((one) => one.id));
    for (const { name, parent, links } of whole) {
      assert.ok(ids.has(parent) || parent === span, `the parent of ${name} is missing`);
      for (const link of links) assert.ok(ids.has(link), `the span that ${name} continues is missing`);
    }
    assert.equal(runsOf("planner").filter(({ links }) => links.length === 1).length, 1);
    assert.equal(receiver.exitCode, null, "every request was one of OTLP");
  } finally {
    await worker.stop();
    receiver.kill();
  }
}
