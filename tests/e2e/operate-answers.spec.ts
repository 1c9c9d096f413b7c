// The commands for operators and servers that answer badly: nothing, garbage, too much, redirects, texts that attack terminals, lists without end.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ServerResponse } from "node:http";
import { until } from "./client.ts";
import { secret } from "./harness.ts";
import { answerJson, GUARDED, linesOf, listed, Operator, standIn, type StandIn } from "./operate.ts";

const KEY = secret("OPERATE_KEY", "a-key-that-nobody-may-see");
const TASKS = 10_000;

/** The agents of the server, and what answers other paths than the list of agents. */
let agents: object[] = [];
let answer: (path: string, response: ServerResponse, query: URLSearchParams) => void = () => undefined;
let server: StandIn;
let operator: Operator;
before(async () => {
  server = await standIn((path, response, request) => {
    if (path === "/console/api/agents" && agents.length > 0) answerJson(response, { version: "1", agents });
    else answer(path, response, new URL(request.url ?? "", "http://a").searchParams);
  });
  operator = new Operator(server.url);
});
after(() => {
  server.close();
  operator.remove();
});

const task = (id: string, about: object = {}) => ({ id, contextId: "c", status: { state: "TASK_STATE_COMPLETED", timestamp: "2026-11-20T22:17:45.339Z" }, ...about });

/** Every text of a hostile server. */
const HOSTILE = "evil\u001b]0;title\u0007\u001b[2J\u009b31m\u202etxt\u2066\r\nrow\u0000";
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

test("a server that is not there, is silent or breaks off is unreachable", async () => {
  agents = [];
  const gone = await standIn(() => undefined);
  gone.close();
  const refused = await operator.run(["tasks", "--url", gone.url]);
  assert.deepEqual([refused.code, refused.stdout], [5, ""]);
  assert.equal(refused.stderr, `${gone.url} cannot be reached (nothing listens there). Is the URL right, and does the server run?\n`);
  const answers: [(response: ServerResponse) => void, RegExp][] = [
    [() => undefined, /did not answer in time/],
    [(response) => void response.writeHead(200).write('{"agents": ['), /did not answer in time/],
    [(response) => void response.destroy(), /cannot be reached \(the connection broke\)/],
    [(response) => answerJson(response, { error: { message: "too busy" } }, 503), /cannot answer now: too busy\. Try again later/],
  ];
  for (const [deed, why] of answers) {
    answer = (_, response) => deed(response);
    const { code, stdout, stderr } = await operator.run(["tasks"], { env: { A2A_EDGE_TIMEOUT_MS: "1000" } });
    assert.deepEqual([code, stdout], [5, ""], stderr);
    assert.match(stderr, why);
  }
});

test("answers that are no JSON, of another shape, or without end are told", async () => {
  const ofList: [string, RegExp][] = [
    ["<html>", /did not answer with JSON/],
    ["", /did not answer with JSON/],
    ["null", /is no server of a2a-edge/],
    ['{"agents": 1}', /is no server of a2a-edge/],
    [`{"agents": ${"[".repeat(100_000)}`, /did not answer with JSON/],
  ];
  agents = [];
  for (const [body, why] of ofList) {
    answer = (_, response) => void response.writeHead(200).end(body);
    const { code, stderr } = await operator.run(["agents"]);
    assert.equal(code, 5, stderr);
    assert.match(stderr, why);
  }
  answer = (_, response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(1 << 20, " ")));
    };
    response.on("drain", more);
    more();
  };
  const endless = await operator.run(["agents"], { node: ["--max-old-space-size=64"] });
  assert.equal(endless.code, 5);
  assert.match(endless.stderr, /is larger than 16 MiB and was not read/);
});

test("pages that are none, and a token that leads nowhere, end a list", async () => {
  agents = [listed("one")];
  for (const page of ["[]", "1", '{"tasks": {}}', '{"tasks": [], "nextPageToken": "same"}']) {
    answer = (_, response) => void response.writeHead(200).end(page);
    const { code, stderr } = await operator.run(["tasks", "--all"]);
    assert.equal(code, 5);
    assert.match(stderr, /one answered with something that is no page of tasks/);
  }
  answer = (_, response) => answerJson(response, { tasks: [null, 1, {}, { id: 3, status: [] }] });
  const { code, stdout, stderr } = await operator.run(["tasks", "--json"]);
  assert.equal(code, 0, stderr);
  assert.equal(linesOf<{ id: string }>({ code, stdout, stderr }).length, 4);
});

test("a redirect is not followed, and the key goes nowhere else", async () => {
  const elsewhere = await standIn((_, response) => answerJson(response, { agents: [] }));
  agents = [];
  answer = (path, response) => void response.writeHead(302, { location: `${elsewhere.url}${path}` }).end();
  const { code, stderr } = await operator.run(["tasks"]);
  assert.equal(code, 5);
  assert.ok(stderr.includes(`leads elsewhere (to ${elsewhere.url}). Redirects are not followed`), stderr);

  agents = [listed("one", GUARDED)];
  const signed = await operator.run(["login"], { input: KEY });
  assert.equal(signed.code, 5, "a redirect says nothing of a key");
  assert.deepEqual([operator.kept(), elsewhere.requests], [[], []]);
  elsewhere.close();
});

test("behind Cloudflare Access every request has the service token, and a redirect to sign in says what is missing", async () => {
  const env = { CLOUDFLARE_ACCESS_CLIENT_ID: "an-id.access", CLOUDFLARE_ACCESS_CLIENT_SECRET: secret("ACCESS_SECRET", "a-service-token-of-access") };
  agents = [];
  answer = (_, response) => void response.writeHead(302, { location: "https://team.cloudflareaccess.com/cdn-cgi/access/login/a?kid=1" }).end();
  for (const [given, why] of [[{}, /is behind Cloudflare Access, which wants a service token\. Set CLOUDFLARE_ACCESS_CLIENT_ID and/], [env, /which does not take the service token/]] as const) {
    const { code, stderr } = await operator.run(["tasks"], { env: given });
    assert.equal(code, 3);
    assert.match(stderr, why);
  }
  agents = [listed("one", { ...GUARDED, access: { securitySchemes: {}, hasOperators: true } })];
  answer = (_, response) => answerJson(response, { tasks: [] });
  const from = server.requests.length;
  assert.equal((await operator.run(["tasks"], { env })).code, 0);
  const sent = server.requests.slice(from).map(({ url, headers }) => [url.split("?")[0], headers["cf-access-client-id"], headers["cf-access-client-secret"], headers["act-as"]]);
  const token = Object.values(env);
  assert.deepEqual(sent, [["/console/api/agents", ...token, undefined], ["/one/tasks", ...token, "operator"]]);
  const wrong = await operator.run(["tasks"], { env: { ...env, CLOUDFLARE_ACCESS_CLIENT_ID: "a\u0001b" } });
  assert.equal(wrong.code, 2);
  assert.equal((await operator.run(["tasks", "--url", "http://agents.example.com"], { env })).code, 2);
});

test("a key is sent to agents alone, and a server that gives it back does not make it seen", async () => {
  agents = [listed("one", GUARDED)];
  answer = (path, response) => (path.endsWith("/overview") ? answerJson(response, {}) : answerJson(response, { tasks: [task(KEY, { metadata: { "urn:a2a-edge:owner": `x${KEY}y` } })] }));
  const signed = await operator.run(["login"], { input: KEY });
  assert.equal(signed.code, 0, signed.stderr);
  const shown = [signed, await operator.run(["tasks"]), await operator.run(["tasks", "--json"]), await operator.run(["whoami", "--json"])];
  answer = (_, response) => answerJson(response, { error: { message: `no: ${KEY}` } }, 400);
  shown.push(await operator.run(["tasks"]), await operator.run(["show", KEY]));
  for (const { stdout, stderr } of shown) assert.ok(!`${stdout}${stderr}`.replaceAll(`task ${KEY}`, "").includes(KEY), stdout + stderr);
  for (const { url, headers } of server.requests) if (!url.startsWith("/one/")) assert.equal(headers["x-api-key"], undefined, url);
  assert.ok(server.requests.some(({ headers }) => headers["x-api-key"] === KEY && headers["act-as"] === "operator"));
  await operator.run(["logout"]);
});

test("texts of agents and callers reach neither terminals nor pipes as they are", async () => {
  agents = [listed("one", { name: HOSTILE, version: HOSTILE, health: { state: HOSTILE, reason: HOSTILE }, capabilities: { pushNotifications: true } })];
  const parts = [{ text: HOSTILE, type: "text", bytes: 1 }];
  const entries = ["task", "status", "message", "artifact", "run", "step", "webhookAttempt", "parked", "callback", "called", HOSTILE].map((kind) => ({
    kind, at: 1, generation: 1, state: HOSTILE, message: { parts }, parts, name: HOSTILE, artifactId: HOSTILE, caller: HOSTILE, error: HOSTILE, origin: HOSTILE, outcome: HOSTILE, webhook: HOSTILE, calls: [HOSTILE], body: parts[0],
  }));
  const hooks = [{ id: HOSTILE, taskId: HOSTILE, url: "https://a.example", health: HOSTILE, lastError: HOSTILE, owner: HOSTILE, deadLetters: [] }];
  answer = (path, response) => {
    if (path.endsWith("/timeline")) answerJson(response, { taskId: HOSTILE, contextId: HOSTILE, state: HOSTILE, owner: HOSTILE, generation: HOSTILE, entries, nextPageToken: "" });
    else if (path.endsWith("/webhooks")) answerJson(response, { webhooks: hooks, nextPageToken: "" });
    else if (path.endsWith("/pushNotificationConfigs")) answerJson(response, { configs: hooks });
    else if (path.endsWith("/usage")) answerJson(response, { days: [{ day: HOSTILE, owner: HOSTILE, turns: HOSTILE, requests: 1 }, HOSTILE, null], isAtLeast: HOSTILE, before: HOSTILE });
    else if (path.endsWith("/tasks")) answerJson(response, { tasks: [task(HOSTILE, { status: { state: HOSTILE, message: { parts } }, metadata: { "urn:a2a-edge:owner": HOSTILE, "urn:a2a-edge:usage": { requests: 1 } } })] });
    else answerJson(response, path.includes("/tasks/") ? task("a") : hooks[0]);
  };
  const commands = [["agents"], ["tasks"], ["show", "a"], ["webhooks"], ["usage"], ["usage", "--csv"], ["redeliver", "a", "--from", "1", "--yes"]];
  for (const args of [...commands, ...commands.filter((args) => !args.includes("--csv")).map((args) => [...args, "--json"])]) {
    const { code, stdout, stderr } = await operator.run(args);
    assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
    assert.match(stdout, /evil/, args.join(" "));
    assert.doesNotMatch(`${stdout}${stderr}`, UNSAFE, args.join(" "));
  }
});

test("10,000 tasks of 20 KB are listed, and days of 100,000 callers added up, in 64 MB", async () => {
  agents = [listed("one"), listed("two")];
  const said = "x".repeat(20_000);
  let pages = 0;
  const days = ["2026-01-09", "2026-01-08", "2026-01-07", "2026-01-06", "2026-01-05"];
  const usage = (before: string | null) => {
    const at = before === null ? 0 : days.indexOf(before) + 1;
    const rows = Array.from({ length: 10_000 }, (_, nth) => ({ day: days[at], owner: `key:${nth}`, turns: 1, requests: 2, inputTokens: 3, outputTokens: 4, costMicros: 5 }));
    return { days: rows, isAtLeast: false, ...(at + 1 < days.length ? { before: days[at] } : {}) };
  };
  answer = (path, response, query) => {
    if (path.endsWith("/usage")) return answerJson(response, usage(query.get("before")));
    pages += 1;
    const [slug, from] = [path.split("/")[1], Number(query.get("pageToken") ?? 0)];
    const size = Number(query.get("pageSize"));
    const tasks = Array.from({ length: size }, (_, at) => {
      const timestamp = new Date(1_800_000_000_000 - 1000 * (from + at)).toISOString();
      return task(`${slug}-${from + at}`, { status: { state: "TASK_STATE_COMPLETED", timestamp }, history: [{ parts: [{ text: said }] }] });
    });
    const next = from + size;
    answerJson(response, { tasks, nextPageToken: next < TASKS / 2 ? String(next) : "", totalSize: TASKS / 2 });
  };
  const node = ["--max-old-space-size=64"];
  const all = await operator.run(["tasks", "--all", "--json"], { node });
  assert.equal(all.code, 0, all.stderr);
  const ids = linesOf<{ id: string }>(all).map(({ id }) => id);
  assert.deepEqual([ids.length, new Set(ids).size], [TASKS, TASKS]);
  assert.deepEqual(ids.slice(0, 4), ["one-0", "two-0", "one-1", "two-1"]);
  const sums = linesOf(await operator.run(["usage", "--by", "agent", "--json"], { node }));
  assert.deepEqual(sums, ["one", "two"].map((agent) => ({ agent, turns: 50_000, requests: 100_000, inputTokens: 150_000, outputTokens: 200_000, cost: 0.25 })));
  pages = 0;
  const few = await operator.run(["tasks", "--limit", "3", "--json"]);
  assert.deepEqual([linesOf(few).length, pages], [3, 2], "a page of each agent");
});

test("10,000 tasks of 20 KB that change at once are told, and again, in 64 MB", async () => {
  agents = [listed("one"), listed("two")];
  const said = "x".repeat(20_000);
  const begun = 1_800_000_000_000;
  let rounds = 0;
  answer = (path, response, query) => {
    const slug = path.split("/")[1];
    const told = (nth: number) => task(`${slug}-${nth}`, { status: { state: "TASK_STATE_COMPLETED", timestamp: new Date(begun + nth).toISOString(), message: { parts: [{ text: said }] } } });
    // One task of each agent is there before. In each round 10,000 more change, which are later than all others.
    if (rounds === 0) return answerJson(response, { tasks: [told(0)], nextPageToken: "", totalSize: 1 });
    const [from, size] = [Number(query.get("pageToken") ?? 0), Number(query.get("pageSize"))];
    const last = (rounds * TASKS) / 2;
    const tasks = Array.from({ length: Math.min(size, last - from) }, (_, at) => told(last - from - at));
    const next = from + size;
    answerJson(response, { tasks, nextPageToken: next < last ? String(next) : "", totalSize: last });
  };
  const from = server.requests.length;
  const tailing = operator.start(["tail", "--json", "--every", "1"], { node: ["--max-old-space-size=64"] });
  const count = (): number => tailing.printed().split("\n").length - 1;
  const isLater = ({ url }: { url: string }): boolean => url.includes("statusTimestampAfter");
  await until(async () => server.requests.slice(from).filter(isLater).length, (count) => count >= agents.length);
  for (const round of [1, 2]) {
    rounds = round;
    await until(async () => count(), (lines) => lines >= round * TASKS);
  }
  tailing.stop();
  const { stdout, stderr } = await tailing.ended;
  assert.equal(stderr, "");
  const ids = linesOf<{ id: string }>({ code: 0, stdout, stderr }).map(({ id }) => id);
  assert.equal(ids.length, 2 * TASKS);
  // A round may begin between the requests for the two agents, so only the order of one agent's tasks is known.
  for (const slug of ["one", "two"]) {
    const told = ids.filter((id) => id.startsWith(`${slug}-`));
    assert.deepEqual(told, Array.from({ length: TASKS }, (_, at) => `${slug}-${at + 1}`));
  }
});
