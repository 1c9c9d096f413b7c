// Fourteen jobs that people come to a console with, done in the real console in front of the real Worker, from its first page on (`npm run bench:jobs`).
// It counts clicks, keys and pages, measures how long the console takes, and writes the table of docs/jobs.md. It fails if a job cannot be done.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, until, untilEnded, message } from "../e2e/client.ts";
import { withCoordinators } from "../e2e/coordinators.ts";
import { testAgents } from "../e2e/harness.ts";
import { AgentServer, lines, withHttpAgents } from "../e2e/http-agents.ts";
import { agentsOf, SECRETS } from "../e2e/isolation.ts";
import { calls, ModelServer, say } from "../e2e/model-server.ts";
import { withVariants } from "../e2e/models.ts";
import { Sink } from "../e2e/sink.ts";
import { addSum, beforeMidnight, dayAgo } from "../e2e/usage.ts";
import { startConsole, type Console } from "./console.ts";
import { Person, writeTable, type Done } from "./person.ts";
import type { View } from "./view.ts";

interface Job {
  /** As the first column of the table. */
  name: string;
  /** The spec that tries it, and more of it. */
  spec: string;
  /** What there is before the person comes. */
  before(): Promise<unknown>;
  /** The way from the first page to the answer. */
  way(person: Person): Promise<void>;
  /** Whether the person acts as an operator. */
  isOperator?: boolean;
  /** What the browser complains about while there is no server. */
  complains?: RegExp;
}

const BOOKING = {
  type: "object",
  required: ["guest", "nights", "room"],
  properties: { guest: { type: "string", title: "Guest" }, nights: { type: "integer", title: "Nights", minimum: 1 }, room: { enum: ["single", "double"], title: "Room" } },
};
/** The paths of the receivers: what the first is still sent takes nothing that the second is to answer. */
const HOOKS = ["/shop", "/till"] as const;

let app!: Console;
let killing: Promise<void> | undefined;
const [model, sink] = await Promise.all([ModelServer.start(), Sink.open()]);
const programs = await AgentServer.open(({ turn, path }, response) => {
  if (path === "/booking" && turn.turn === 1) return lines(response, { do: "input_required", parts: [{ data: BOOKING, mediaType: "application/schema+json" }] });
  return lines(response, { do: "artifact", text: `${path} did it` }, { do: "complete", usage: { requests: 1, inputTokens: path === "/swift" ? 900 : 400, outputTokens: 10, costMicros: 300 } });
});
const command = createServer((_, response) => {
  response.writeHead(202).end();
  response.on("close", () => (killing = app.worker.kill9().then(() => app.worker.restart())));
});
const of = (slug: string, headers = {}): Agent => new Agent(`${app.worker.url}/${slug}`, headers);
const listed = (agent: Agent, id: string) => until(() => agent.listTasks({ pageSize: 100 }), ({ tasks }) => tasks.some((one) => one.id === id));

/** The variable `AGENTS`: those of the tests, with a team, programs and agents that know their callers. */
function agents(): string {
  const price = { price: { input: 1, output: 2 } };
  const thinkers = withCoordinators(withVariants({ desk: { table: price }, boss: { table: { ...price, agents: ["desk", "demo"] } } }));
  const known = (JSON.parse(testAgents) as { agents: unknown[] }).agents.length;
  const served = JSON.parse(withHttpAgents({ swift: { url: `${programs.url}/swift` }, frugal: { url: `${programs.url}/frugal` }, booking: { url: `${programs.url}/booking` } })) as { agents: unknown[] };
  const { agents: all, ...built } = JSON.parse(thinkers) as { agents: { slug: string; card: string }[] };
  // A coordinator calls an agent by the name on its card.
  const named = all.map((one) => (one.slug === "desk" ? { ...one, card: JSON.stringify({ ...(JSON.parse(one.card.replaceAll("/thinker", "/desk")) as object), name: "desk" }) } : one));
  return agentsOf(JSON.stringify({ ...built, agents: [...named, ...served.agents.slice(known)] }));
}

/** A task of an agent with a model that has ordered two things, one of which failed. */
async function ordered(text: string): Promise<void> {
  sink.plan("/orders/tea", {});
  sink.plan("/orders/milk", { status: 500, body: "the shop is closed" });
  model.answers(calls([["order", { item: "tea" }, "a"], ["order", { item: "milk" }, "b"]]), say("Here you are.", { usage: [70, 5] }));
  await listed(of("desk"), (await of("desk").sendForTask(text)).id);
}

/** A task of a coordinator, whose second agent fails. */
async function coordinated(text: string): Promise<void> {
  model.answerWith(({ body }) => {
    const { messages, tools } = body as unknown as { messages: { role: string; content: unknown }[]; tools?: { function: { name: string } }[] };
    if (messages.some(({ role }) => role === "tool")) return say("The desk did it.", { usage: [40, 4] });
    const name = (of: string): string => tools?.map((tool) => tool.function.name).find((one) => one.includes(of)) ?? "";
    if (name("desk") === "") return say("Done.", { usage: [30, 3] });
    return calls([[name("desk"), { prompt: "sell" }, "a"], [name("demo"), { prompt: "fail" }, "b"]]);
  });
  await listed(of("boss"), (await of("boss").sendForTask(text)).id);
}

/** A task with a webhook whose receiver refuses the first event. */
async function notified(path: string): Promise<void> {
  sink.plan(path, { status: 422, body: "unknown order", headers: { "content-type": "text/plain" } });
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { id: "shop", url: sink.url + path } };
  const { task } = await of("demo").call<{ task: { id: string } }>("SendMessage", { message: message("chunks"), configuration });
  await untilEnded(of("demo"), task.id);
  const asked = async () => (await (await fetch(`${app.worker.url}/demo/webhooks`, { headers: { "a2a-version": "1.0" } })).json()) as { webhooks: { taskId: string; deadLetters: object[] }[] };
  await until(asked, ({ webhooks }) => webhooks.some((one) => one.taskId === task.id && one.deadLetters.length > 0));
}

const JOBS: Job[] = [
  {
    name: "See in one sentence why a completed task is not well",
    spec: "failed-steps",
    before: () => ordered("why is it not well"),
    async way(person) {
      await person.click("link", "Tasks");
      await person.click("link", /why is it not well/);
      await person.sees(/Completed after [\d.]+ m?s, but 1 of 2 calls failed: order/);
    },
  },
  {
    name: "Find what a failed call of a tool was given, and what it answered",
    spec: "trace",
    before: () => ordered("what was the tool given"),
    async way(person) {
      await person.click("link", "Tasks");
      await person.click("link", /what was the tool given/);
      await person.click("button", /^Tool order , failed/);
      await person.sees(/Input\s.*"milk".*Error\s.*500/s);
    },
  },
  {
    name: "See which task of another agent failed below a coordinator",
    spec: "trace",
    before: () => coordinated("who below failed"),
    async way(person) {
      await person.click("link", "Tasks");
      await person.click("link", /who below failed/);
      await person.click("button", /^Agent demo/);
      await person.click("link", /^demo [0-9a-f]{12}…/);
      await person.sees(/Failed/);
    },
  },
  {
    name: "See what a task has cost, with everything below it",
    spec: "trace",
    before: () => coordinated("what did it cost"),
    async way(person) {
      await person.click("link", "Tasks");
      await person.click("link", /what did it cost/);
      await person.click("button", "Show the tasks of other agents");
      await person.sees(/with 2 tasks of other agents/);
      await person.sees(/cost/i);
    },
  },
  {
    name: "See what each caller has cost this month, and save it as CSV",
    spec: "usage",
    isOperator: true,
    before: async () => addSum(await app.worker.d1(), dayAgo(2), "key:bob", "guarded", 3),
    async way(person) {
      await person.click("link", "Usage");
      await person.choose("By", "owner");
      await person.sees("key:bob");
      const saved = person.saves();
      await person.click("button", "Save as CSV");
      assert.match(await saved, /^owner,.*\r\n(?:.*\r\n)*key:bob,3,/);
    },
  },
  {
    name: "Answer a question that waits, without knowing which agent asks",
    spec: "inbox",
    before: () => of("demo").sendForTask("ask"),
    async way(person) {
      await person.click("link", /^Waiting/);
      await person.fill("Answer to ask", "green");
      await person.press("Enter");
      await person.notices("The answer is sent.");
    },
  },
  {
    name: "Find a task by words of what was asked",
    spec: "finding",
    before: async () => listed(of("demo"), (await of("demo").sendForTask("Reserve a table for Quincy")).id),
    async way(person) {
      await person.chord("k");
      await person.types("quincy");
      await person.picks(/^Task Reserve a table for Quincy/);
      await person.find("heading", /^Task [0-9a-f]{64}/);
    },
  },
  {
    name: "List only tasks with failed steps, and keep that as a view",
    spec: "finding",
    before: () => ordered("a third order"),
    async way(person) {
      await person.click("link", "Tasks");
      await person.choose("Steps", "With failed steps");
      await person.sees(/\d+ with failed steps among the newest/);
      await person.click("button", "Save this view…");
      await person.fill("Name", "Broken");
      await person.press("Enter");
      await person.find("link", "Broken");
    },
  },
  {
    name: "Run the same message at another agent, and compare",
    spec: "run-again",
    before: async () => listed(of("swift"), (await of("swift").sendForTask("build me a house")).id),
    async way(person) {
      await person.click("link", "Tasks");
      await person.click("link", /build me a house/);
      await person.unfold("Run with another agent");
      await person.click("button", /\/frugal$/);
      await person.sees("Both are completed.");
      await person.sees(/tokens 500 fewer/);
    },
  },
  {
    name: "See what the receiver of a webhook answered, and send the event again",
    spec: "webhooks",
    before: () => notified(HOOKS[0]),
    async way(person) {
      await person.click("link", "Webhooks");
      await person.click("link", "Attempts");
      await person.click("button", /^Details of attempt \d+ to send generation 1$/);
      await person.sees("unknown order");
      await person.press("Escape");
      await person.click("button", "Send again from 1");
      await person.click("button", "Send again");
      await person.notices("The events from generation 1 on are sent again.");
    },
  },
  {
    name: "Send a test event, and check the signature that arrived",
    spec: "webhook-attempts",
    before: () => notified(HOOKS[1]),
    async way(person) {
      await person.click("link", "Webhooks");
      await person.click("link", "Attempts");
      await person.click("button", "Send a test…");
      await person.click("button", "Send");
      await person.find("button", "Send another");
      await person.press("Escape");
      const { headers, body } = HOOKS.flatMap((path) => sink.arrivals(path)).filter((one) => one.headers["a2a-generation"] === "0").at(-1)!;
      await person.click("button", "Check a signature…");
      await person.paste("Headers", Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`).join("\n"));
      await person.paste("Body", body);
      await person.click("button", "Check");
      await person.sees("A receiver that refuses it has another secret");
    },
  },
  {
    name: "Say hello to an agent for the first time",
    spec: "first-minute",
    before: () => Promise.resolve(),
    async way(person) {
      await person.click("link", "A first minute");
      await person.click("button", "Say hello");
      await person.find("button", "Say hello again");
      await person.sees("Completed");
    },
  },
  {
    name: "Kill the server in the middle of a streamed answer, and see that nothing is lost",
    spec: "first-minute",
    complains: /ERR_|Failed to load/,
    before: () => Promise.resolve(),
    async way(person) {
      await person.click("link", "A first minute");
      await person.fill(/^Message to \//, "count 30 every 100");
      await person.click("button", "Begin a task");
      await person.ready("button", "Kill the server now and watch");
      await person.click("button", "Kill the server now and watch");
      await person.sees(/each once: nothing was lost\./);
      await killing;
    },
  },
  {
    name: "Answer a question by the form of its JSON schema",
    spec: "forms",
    before: () => of("booking").sendForTask("a room, please"),
    async way(person) {
      await person.click("link", /^Waiting/);
      await person.fill("Guest", "Ana");
      await person.fill("Nights", "3", "spinbutton");
      await person.choose("Room", "double");
      await person.click("button", "Answer");
      await person.notices("The answer is sent.");
    },
  },
];

/** Does a job as somebody who has just opened the console. */
async function perform(job: Job): Promise<Done> {
  await job.before();
  return app.visit("", async (view: View) => {
    await signIn(view, job.isOperator ?? false);
    await view.find("link", "Tasks");
    if (job.complains !== undefined) view.expect(job.complains);
    const person = new Person(view);
    await job.way(person);
    return person.done();
  });
}

/** Agents that want to know who asks have been told before. */
async function signIn(view: View, isOperator: boolean): Promise<void> {
  await view.page.evaluate((secret, role) => {
    sessionStorage.setItem("a2a-edge.credentials", JSON.stringify([{ audience: "*", scheme: "key", slot: { in: "header", name: "X-Api-Key" }, secret }]));
    sessionStorage.setItem("a2a-edge.operator", role);
  }, SECRETS.KEY_OPS, String(isOperator));
  await view.page.reload({ waitUntil: "load" });
}

await once(command.listen(0, "127.0.0.1"), "listening");
try {
  await beforeMidnight();
  const kill = `http://127.0.0.1:${(command.address() as AddressInfo).port}/secret`;
  const vars = { ...SECRETS, AGENTS: agents(), MODEL_URL: model.url, MODEL_KEY: "key", SINK: sink.url, WEBHOOK_ATTEMPTS: "1", DEV_KILL_URL: kill };
  app = await startConsole({ vars });
  const [rows, failures]: [[Job, Done][], string[]] = [[], []];
  const only = process.argv[2];
  for (const job of JOBS.filter(({ name }) => only === undefined || name.includes(only))) {
    try {
      rows.push([job, await perform(job)]);
      console.log(`${job.name}: ${JSON.stringify(rows.at(-1)?.[1])}`);
    } catch (error) {
      failures.push(job.name);
      console.log(`${job.name}: cannot be done: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (failures.length > 0) throw new Error(`${failures.length} of ${JOBS.length} jobs cannot be done: ${failures.join("; ")}`);
  if (only === undefined) writeTable(rows.map(([{ name, spec }, done]) => ({ name, spec, done })));
} finally {
  await killing;
  await (app as Console | undefined)?.stop();
  model.stop();
  sink.close();
  programs.close();
  command.closeAllConnections();
  command.close();
}
