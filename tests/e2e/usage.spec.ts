// `GET /<agent>/usage`: what callers have used by day, in D1 and in objects; for a caller its own, for operators that of all callers.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { Agent, logged } from "./client.ts";
import { INDEX, ONLY_D1, startWorker, testAgents, type Database, type Worker } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { addSum, beforeMidnight, countsOf, dayAgo, DAY_MS, usageAt, withQuotas, type Day } from "./usage.ts";

const BOB = "key:bob";
/** Of alice, by her group. */
const BLUE = "@key:blue";
const OPS = { "x-api-key": SECRETS.KEY_OPS, "act-as": "operator" };
const own = (key: string): Record<string, string> => ({ "x-api-key": key });
const VARS = { ...SECRETS, AGENTS: agentsOf(testAgents) };

let worker: Worker;
before(async () => {
  worker = await startWorker({ vars: VARS, notes: true });
  // The first task of an owner makes its tables, and its entry in the directory, where the index is in objects.
  for (const key of [SECRETS.KEY_BOB, SECRETS.KEY_ALICE]) for (const slug of ["guarded", "other"]) await new Agent(`${worker.url}/${slug}`, own(key)).sendForTask("hello");
  await new Agent(`${worker.url}/demo`).sendForTask("hello");
});
after(() => worker.stop());
beforeEach(beforeMidnight);

const usage = (slug: string, query = "", headers: Record<string, string> = OPS) => usageAt(worker, slug, query, headers);
const entry = (days: number, turns: number, owner?: string): Day =>
  ({ day: dayAgo(days), ...(owner === undefined ? {} : { owner }), ...countsOf(turns), models: [] });

/** The answer to a request that is refused, without a statement. */
async function refused(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<{ status: number; message: string; headers: Headers }> {
  const before = (await worker.statements()).length;
  const response = await fetch(worker.url + path, { method, headers });
  const { error } = (await response.json()) as { error: { message: string } };
  assert.equal((await worker.statements()).length, before, "a refusal asks D1 nothing");
  return { status: response.status, message: error.message, headers: response.headers };
}

describe("the usage of an agent", () => {
  before(async () => {
    const [bobs, blues] = [await worker.index(BOB), await worker.index(BLUE)];
    for (const [days, turns] of [[0, 1], [2, 3], [29, 5], [30, 7], [399, 9], [400, 11]] as const) await addSum(bobs, dayAgo(days), BOB, "guarded", turns);
    await addSum(bobs, dayAgo(0), BOB, "other", 100);
    for (const [days, turns] of [[0, 2], [1, 4]] as const) await addSum(blues, dayAgo(days), BLUE, "guarded", turns);
    await addSum(await worker.index(), dayAgo(0), "anonymous", "demo", 6);
  });

  test("is for a caller its own, by day, the newest day first", async () => {
    const shown = await usage("guarded", "", own(SECRETS.KEY_BOB));
    assert.deepEqual(shown, { agent: "guarded", from: dayAgo(29), to: dayAgo(0), days: [entry(0, 1), entry(2, 3), entry(29, 5)], isAtLeast: false });
    assert.deepEqual((await usage("guarded", "?days=1", own(SECRETS.KEY_BOB))).days, [entry(0, 1)]);
    assert.deepEqual((await usage("guarded", "?days=400", own(SECRETS.KEY_BOB))).days.map(({ turns }) => turns), [1, 3, 5, 7, 9]);
    assert.deepEqual((await usage("guarded", `?before=${dayAgo(2)}`, own(SECRETS.KEY_BOB))).days, [entry(29, 5)]);
    assert.deepEqual((await usage("other", "?days=2", own(SECRETS.KEY_BOB))).days, [entry(0, 100)]);
    assert.deepEqual((await usage("guarded", "", own(SECRETS.KEY_ALICE))).days, [entry(0, 2), entry(1, 4)], "callers that share tasks share their usage");
    assert.deepEqual((await usage("guarded", "", own(SECRETS.KEY_OPS))).days, [], "an operator is a caller like any other");
  });

  test("is for operators that of all callers, with their names, or of one", async () => {
    const shown = await usage("guarded", "?days=3");
    assert.deepEqual(shown, { agent: "guarded", from: dayAgo(2), to: dayAgo(0), days: [entry(0, 2, BLUE), entry(0, 1, BOB), entry(1, 4, BLUE), entry(2, 3, BOB)], isAtLeast: false });
    assert.deepEqual((await usage("other")).days, [entry(0, 100, BOB)]);
    const one = { ...OPS, "act-as": "operator; owner=%40key%3Ablue" };
    assert.deepEqual((await usage("guarded", "", one)).days, [entry(0, 2), entry(1, 4)]);
    assert.deepEqual((await usage("guarded", "", { ...OPS, "act-as": "operator; owner=nobody" })).days, []);
    const line = await logged(worker, /"event":"operator acted","agent":"guarded","caller":"key:ops"/);
    assert.doesNotMatch(line, /bob|blue/, "the line names nobody else");
  });

  test("reads one or two rows for each day of a caller, and no task", ONLY_D1, async () => {
    const statements = async (work: () => Promise<unknown>) => {
      const before = (await worker.statements()).length;
      await work();
      return (await worker.statements()).slice(before);
    };
    const [mine, ...others] = await statements(() => usage("guarded", "?days=30", own(SECRETS.KEY_BOB)));
    assert.deepEqual(others, []);
    assert.match(mine?.sql ?? "", /FROM days CROSS JOIN usage/);
    assert.ok((mine?.rowsRead ?? Infinity) <= 2 * 30 + 1, `rows read: ${mine?.rowsRead}`);
    const [all, ...more] = await statements(() => usage("guarded", "?days=30"));
    assert.deepEqual(more, []);
    assert.ok((all?.rowsRead ?? Infinity) <= 20, `rows read: ${all?.rowsRead}`);
  });

  test("is the same after tasks were deleted", async () => {
    const shown = await usage("guarded", "?days=400");
    for (const { id } of ((await new Agent(`${worker.url}/guarded`, own(SECRETS.KEY_BOB)).listTasks()) as { tasks: { id: string }[] }).tasks) {
      const response = await fetch(`${worker.url}/guarded/tasks/${id}`, { method: "DELETE", headers: { "a2a-version": "1.0", ...own(SECRETS.KEY_BOB) } });
      assert.equal(response.status, 200, await response.text());
    }
    assert.deepEqual((await usage("guarded", "?days=400")).days, shown.days);
  });

  test("of callers without credentials is shown where their tasks are listed, and in development", async () => {
    assert.deepEqual((await usage("demo", "", {})).days, [entry(0, 6)]);
    assert.deepEqual((await usage("demo", "", { "act-as": "operator" })).days, [entry(0, 6, "anonymous")]);
    for (const [access, days] of [[{ open: true }, []], [{ open: true, open_listing: true }, [entry(0, 6)]]] as const) {
      const embedded = JSON.parse(VARS.AGENTS) as { agents: { slug: string }[] };
      const agents = embedded.agents.map((agent) => (agent.slug === "demo" ? { ...agent, access } : agent));
      const deployed = await startWorker({ vars: { ...VARS, AGENTS: JSON.stringify({ ...embedded, agents }), DEVELOPMENT: "false" } });
      try {
        await new Agent(`${deployed.url}/demo`).sendForTask("hello");
        await addSum(await deployed.index(), dayAgo(0), "anonymous", "demo", 6);
        assert.deepEqual((await usageAt(deployed, "demo")).days, days);
        const response = await fetch(`${deployed.url}/demo/usage`, { headers: { "act-as": "operator" } });
        assert.equal(response.status, 403);
        assert.match(await response.text(), /no schemes by which it could know one/);
      } finally {
        await deployed.stop();
      }
    }
  });
});

test("strangers, and callers without the permission, see nothing", async () => {
  const stranger = await refused("/guarded/usage");
  assert.equal(stranger.status, 401);
  assert.match(stranger.headers.get("www-authenticate") ?? "", /ApiKey/i);
  for (const role of ["operator", "operator; owner=key%3Aalice"]) {
    const { status, message } = await refused("/guarded/usage", { ...own(SECRETS.KEY_BOB), "act-as": role });
    assert.equal(status, 403);
    assert.match(message, /needs the permission operator/);
  }
});

test("a request that means something else is told what", async () => {
  for (const days of ["0", "401", "-1", "1.5", "", "week", "9".repeat(30)]) {
    const { status, message } = await refused(`/demo/usage?days=${days}`);
    assert.equal(status, 400);
    assert.match(message, /days must be a whole number from 1 to 400/);
  }
  for (const before of ["", "yesterday", "2026-02-30", "2026-1-5", "2026-01-05T00:00:00Z", "'; DROP TABLE usage; --"]) {
    const { status, message } = await refused(`/demo/usage?before=${encodeURIComponent(before)}`);
    assert.equal(status, 400);
    assert.match(message, /before must be a date as 2026-01-05/);
  }
  assert.match((await refused("/demo/usage", { "act-as": "admin" })).message, /Act-As must be operator/);
  assert.equal((await refused("/nobody/usage")).status, 404);
  const { status, headers } = await refused("/demo/usage", {}, "POST");
  assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
  const head = await fetch(`${worker.url}/demo/usage`, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
  for (const before of ["0001-01-01", "9999-12-31"]) assert.ok((await usage("demo", `?before=${before}`, {})).days.length <= 1, "any day is taken");
});

test("an answer has the parts of models, the currency of the settings, and the limits in force", async () => {
  // The lower limit of [quota] and of the model's own counts.
  const limited = withQuotas(VARS.AGENTS, { guarded: { tokens_per_day: 900, cost_per_day: 0.5 } });
  const priced = await startWorker({ vars: { ...VARS, USAGE_CURRENCY: "EUR", AGENTS: limited } });
  try {
    for (const slug of ["guarded", "other"]) await new Agent(`${priced.url}/${slug}`, own(SECRETS.KEY_BOB)).sendForTask("hello");
    const bobs = await priced.index(BOB);
    await addSum(bobs, dayAgo(0), BOB, "guarded", 5, { "z-2": 1, 'a "1"': 2 });
    // An object of before counts without models, one of now with several; one that is counted again changes nothing.
    const count = (task: string, columns: string, values: string) =>
      bobs.prepare(`INSERT INTO usage_turns (day, task, turn, owner, agent, requests, input_tokens, output_tokens, cost_micros${columns}) VALUES (?1, ?2, 1, ?3, 'guarded', 1, 20, 3, 4${values}) ON CONFLICT (day, task, turn) DO NOTHING`).bind(dayAgo(0), task, BOB).run();
    await count("old", "", "");
    for (let times = 0; times < 2; times += 1) await count("new", ", models", `, '{"z-2":[1,20,3,0],"new":[0,0,0,4]}'`);
    const shown = await usageAt(priced, "guarded", "?days=1", own(SECRETS.KEY_BOB));
    const parts = [{ model: 'a "1"', ...countsOf(2) }, { model: "new", ...countsOf(0), turns: 1, costMicros: 4 }, { model: "z-2", ...countsOf(2), costMicros: 4 }];
    assert.deepEqual(shown.days, [{ ...entry(0, 7), models: parts }]);
    const midnight = new Date((Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS).toISOString();
    assert.deepEqual([shown.currency, shown.limits], ["EUR", { tokensPerDay: 900, costMicrosPerDay: 500_000, resetsAt: midnight }]);
    assert.deepEqual((await usageAt(priced, "guarded", "?days=1", OPS)).limits, shown.limits, "operators see the limits of each caller");
    const other = await usageAt(priced, "other", "?days=1", own(SECRETS.KEY_BOB));
    assert.deepEqual([other.currency, other.limits], ["EUR", undefined]);
    const catalogue = (await (await fetch(`${priced.url}/console/api/agents`)).json()) as { currency: string };
    assert.equal(catalogue.currency, "EUR");
  } finally {
    await priced.stop();
  }
});

describe("an answer for operators has up to 10,000 rows of all agents", () => {
  const insert = async (database: Database, days: number, owners: string, agents: number) => {
    const numbers = (name: string, most: number) => `${name} (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM ${name} WHERE n < ${most - 1})`;
    await database
      .prepare(`WITH RECURSIVE ${numbers("days", days)}, ${numbers("agents", agents)}, ${numbers("owners", owners === BOB ? 1 : 10_100)}
        INSERT INTO usage SELECT date('now', (-100 - days.n) || ' days'), iif(?1 = '${BOB}', ?1, ?1 || owners.n), iif(agents.n = 0, 'guarded', 'x' || agents.n), 1, 1, 20, 3, 4, '{}' FROM days, agents, owners`)
      .bind(owners)
      .run();
  };

  test("and days that do not fit are in the next one, whole", async () => {
    await insert(await worker.index(BOB), 250, BOB, 50);
    const pages: Awaited<ReturnType<typeof usage>>[] = [];
    for (let before: string | undefined = dayAgo(99); before !== undefined; before = pages.at(-1)?.before) pages.push(await usage("guarded", `?days=350&before=${before}`));
    assert.equal(pages.length, 2);
    assert.ok(pages.every(({ isAtLeast }) => !isAtLeast));
    const days = pages.flatMap(({ days }) => days.map(({ day, owner }) => `${day} ${owner}`));
    assert.deepEqual(days, Array.from({ length: 250 }, (_, nth) => `${dayAgo(100 + nth)} ${BOB}`));
    assert.ok((pages[0]?.days.length ?? 0) >= 199, "as many days as fit");
  });

  test("a day with more than that is cut, and says so", ONLY_D1, async () => {
    const busy = await startWorker({ vars: VARS });
    try {
      const database = await busy.index();
      await insert(database, 2, "user ", 1);
      const shown = await usageAt(busy, "guarded", "?days=110", OPS);
      assert.deepEqual([shown.days.length, shown.isAtLeast, shown.before], [10_000, true, dayAgo(100)]);
      const next = await usageAt(busy, "guarded", `?days=110&before=${shown.before}`, OPS);
      assert.deepEqual([next.days.length, next.isAtLeast, next.days[0]?.day], [10_000, true, dayAgo(101)]);
    } finally {
      await busy.stop();
    }
  });
});

test("without its tables it is not available, and says so", { skip: INDEX === "objects" ? "objects make their tables" : false }, async () => {
  const early = await startWorker({ vars: VARS });
  try {
    await (await early.index()).prepare("DROP TABLE usage").run();
    const response = await fetch(`${early.url}/demo/usage`);
    assert.deepEqual([response.status, response.headers.has("retry-after")], [503, true]);
    assert.match(await response.text(), /the index is not available at the moment/);
  } finally {
    await early.stop();
  }
});
