// Takes the pictures of docs/console.md and of the README, from the built Worker (`npm run pictures`): tasks are made as callers make them, and each
// picture is a page as somebody sees it. It is no test: nothing compares the pictures.

import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { packageDir } from "../../scripts/lib/paths.mjs";
import { Agent, message, until, type Task } from "../e2e/client.ts";
import { testAgents } from "../e2e/harness.ts";
import { calls, ModelServer, say } from "../e2e/model-server.ts";
import { Sink } from "../e2e/sink.ts";
import { addSum, dayAgo } from "../e2e/usage.ts";
import { startConsole, type Console } from "./console.ts";
import type { View } from "./view.ts";

const FOLDER = join(packageDir, "docs", "pictures");
const LIMIT_KB = 60;
const KEY = "pictures-key-0123456789-abcdefgh";
const ACCESS = { schemes: { key: { kind: "api_key", name: "X-Api-Key", callers: [{ id: "ana", secrets: ["KEY_ANA"], permissions: ["operator"] }] } } };

const PLAN = `The old town is best **before ten**, when the trams are empty:

1. Miradouro da Graça, for the view
2. Alfama on foot, down to the river
3. *Pastéis de Belém*, by tram \`15E\`

| way | walk | price |
|---|--:|--:|
| Graça to Alfama | 1.4 km | free |
| Tram to Belém | 0.3 km | 3.20 € |
`;

interface Embedded {
  slug: string;
  card: string;
  executor: { table: object };
}

/** The variable `AGENTS`: a guide that answers by rules, and two travel desks of a model, the second of a smaller one. */
function agents(): string {
  const { agents: known, ...built } = JSON.parse(testAgents) as { agents: Embedded[] };
  const like = (of: string, slug: string, name: string, description: string, table: object = {}): object => {
    const one = known.find((agent) => agent.slug === of)!;
    const card = { ...(JSON.parse(one.card) as object), name, description, skills: [] };
    return { ...one, slug, default: slug === "guide", development: false, access: ACCESS, card: JSON.stringify(card), executor: { ...one.executor, table: { ...one.executor.table, ...table } } };
  };
  const end = [{ do: "working" }, { do: "artifact", id: "plan", name: "A day in Lisbon", text: PLAN, media_type: "text/markdown" }, { do: "complete", text: "Have a good day." }];
  const rules = [
    { then: [{ do: "input_required", text: "Do you like to walk?" }], follow_up: [{ then: end, follow_up: [] }] },
    { when: { text: "fail" }, then: [{ do: "working" }, { do: "fail", text: "The guide has no map of that place." }], follow_up: [] },
    { when: { text: "quick" }, then: end, follow_up: [] },
  ];
  const all = [
    like("demo", "guide", "City guide", "Plans a day in a city.", { rules }),
    like("thinker", "travel", "Travel desk", "Books what a plan needs.", { price: { input: 2.5, output: 10 } }),
    like("thinker", "travel-small", "Travel desk, small model", "Books what a plan needs, for less.", { price: { input: 0.25, output: 2 } }),
  ];
  return JSON.stringify({ ...built, agents: all });
}

const [model, sink] = await Promise.all([ModelServer.start(), Sink.open()]);
let app: Console | undefined;
try {
  app = await startConsole({ vars: { AGENTS: agents(), KEY_ANA: KEY, MODEL_URL: model.url, MODEL_KEY: "key", SINK: sink.url } });
  await take(app);
} finally {
  await app?.stop();
  model.stop();
  sink.close();
}

async function take({ worker, visit }: Console): Promise<void> {
  const agent = (slug: string): Agent => new Agent(`${worker.url}/${slug}`, { "x-api-key": KEY });
  const [guide, travel, small] = [agent("guide"), agent("travel"), agent("travel-small")];
  const plan = await guide.sendForTask("Plan a day in Lisbon.");
  await guide.sendForTask({ parts: [{ text: "Yes, but no hills." }], taskId: plan.id, contextId: plan.contextId });
  const ask = "Book the tram and the museum for Saturday.";
  const first = await booked(travel, ask, { statuses: [200, 500], usage: [1840, 260] });
  const second = await booked(small, ask, { statuses: [200, 200], usage: [1310, 190] });
  for (const text of ["quick", "quick", "quick", "quick", "fail"]) await guide.send(text);
  await guide.send("Plan a day in Porto.");
  const database = await worker.d1();
  for (let day = 1; day < 7; day += 1) for (const [slug, turns] of [["travel", 900 - 90 * day], ["travel-small", 300 + 120 * (day % 4)]] as const) await addSum(database, dayAgo(day), "key:ana", slug, turns);
  const overview = async () => (await (await fetch(`${worker.url}/guide/overview`, { headers: { "x-api-key": KEY, "act-as": "operator" } })).json()) as { hours: { states: Record<string, number> }[] };
  await until(overview, ({ hours }) => hours.reduce((sum, { states }) => sum + Object.values(states).reduce((one, other) => one + other), 0) >= 6);

  const pictures: [name: string, route: string, shown: RegExp, height: number][] = [
    ["chat", `#/chat/guide/${plan.id}`, /Have a good day/, 880],
    ["task", `#/tasks/travel/${first.id}`, /order-tram|order/, 860],
    ["compare", `#/compare?a=travel/${first.id}&b=travel-small/${second.id}`, /Both are completed/, 780],
    ["overview", "#/overview", /Tasks that ended/, 800],
    ["usage", "#/usage?period=week", /Save as CSV/, 800],
  ];
  for (const [name, route, shown, height] of pictures) {
    await visit("#/agents", async (view) => {
      await signIn(view, route);
      await view.sees(shown);
      await picture(view, name, height);
    });
  }
}

/** A task whose two calls of a tool are answered with these statuses. */
async function booked(agent: Agent, text: string, { statuses, usage }: { statuses: number[]; usage: [number, number] }): Promise<Task> {
  const items = ["tram", "museum"];
  items.forEach((item, at) => sink.plan(`/orders/${item}`, { status: statuses[at]!, body: statuses[at] === 200 ? "booked" : "sold out" }));
  model.answers(calls(items.map((item) => ["order", { item }, item]), { usage }), say(["The tram is booked. ", statuses.includes(500) ? "The museum is sold out on Saturday." : "So is the museum."], { usage: [usage[0] + 120, 60] }));
  return agent.sendForTask(message(text));
}

/** Signs in for all agents, and goes to a page. */
async function signIn(view: View, route: string): Promise<void> {
  const kept = JSON.stringify([{ audience: "*", scheme: "key", slot: { in: "header", name: "X-Api-Key" }, secret: KEY }]);
  await view.page.evaluate((text, hash) => {
    sessionStorage.setItem("a2a-edge.credentials", text);
    history.replaceState(null, "", hash);
  }, kept, route);
  await view.page.reload();
}

async function picture(view: View, name: string, height: number): Promise<void> {
  const path = join(FOLDER, `${name}.webp`);
  mkdirSync(FOLDER, { recursive: true });
  await view.page.setViewport({ width: 1200, height });
  await view.page.screenshot({ path: path as `${string}.webp`, type: "webp", quality: 75 });
  const { size } = statSync(path);
  if (size > LIMIT_KB * 1000) throw new Error(`${name}.webp has ${size} bytes, more than ${LIMIT_KB} KB`);
  console.log(`docs/pictures/${name}.webp ${(size / 1000).toFixed(1)} KB`);
}
