// Secrets of remotes.toml: they are sent to the remote agent, and never shown elsewhere, whatever the remote agent
// answers.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { textOf, until, type Task } from "./client.ts";
import { artifact, Liars, status, task, type Asked, type Lie, type Reply } from "./liars.ts";

const MARKERS = {
  REMOTE_PATH_KEY: "marker-path-1",
  REMOTE_BEARER_TOKEN: "marker-bearer-2",
  REMOTE_HEADER_KEY: "marker-header-3",
  REMOTE_QUERY_KEY: "marker&query=4",
};

/** The headers that a remote agent receives, for an answer that repeats them. */
const echo = ({ headers }: Asked): string => JSON.stringify(headers);

/** A server whose remote has every kind of secret. */
const shown = (answer: (asked: Asked, reply: Reply) => false | void, more: Partial<Lie> = {}): Lie => ({
  answer,
  settings: (origin) => ({
    url: `${origin}/NAME/\${REMOTE_PATH_KEY}`, bearer_token: "${REMOTE_BEARER_TOKEN}", headers: { "X-Key": "${REMOTE_HEADER_KEY}" },
    api_key: { in: "query", name: "key", value: "${REMOTE_QUERY_KEY}" }, max_retries: 0,
  }),
  ...more,
});

const lies: Record<string, Lie> = {
  "echo-well": shown((asked, reply) => reply.well(echo(asked))),
  "echo-error": shown((asked, reply) => reply.error(-32603, echo(asked))),
  "echo-status": shown((asked, reply) => reply.raw(401, "text/plain", echo(asked), { "www-authenticate": `Bearer realm=${asked.headers.authorization?.replaceAll(" ", "-")}` })),
  "echo-page": shown((asked, reply) => reply.raw(200, "text/html", echo(asked))),
  "echo-pieces": shown(({ headers, params }, reply) => {
    const id = params.id ?? "r-1";
    const pieces = ["It came with ", ...(headers.authorization ?? "").match(/.{1,5}/gs) ?? [], " and ", String(headers["x-key"]).slice(0, 9), String(headers["x-key"]).slice(9), "."];
    const chunks = pieces.map((piece, at) => artifact(id, piece, { append: at > 0, lastChunk: at + 1 === pieces.length }));
    return reply.stream([{ task: task(id, "WORKING") }, ...chunks, status(id, "COMPLETED")]);
  }),
  "card-missing": shown(() => false, { cardAnswer: (response, request) => void response.writeHead(404).end(request.url) }),
  "card-moved": shown(() => false, { cardAnswer: (response, request) => void response.writeHead(302, { location: `http://elsewhere.example${request.url}` }).end() }),
  "not-there": shown(() => false, { settings: () => ({ url: "http://127.0.0.1:9/${REMOTE_PATH_KEY}", bearer_token: "${REMOTE_BEARER_TOKEN}", max_retries: 0 }) }),
  "not-set": shown(() => false, { settings: { bearer_token: "${REMOTE_NO_SUCH_TOKEN}", headers: { "X-Key": "${REMOTE_HEADER_KEY}" } } }),
  "bad-header": shown(() => false, { settings: { headers: { "X-Key": "${REMOTE_BROKEN_KEY}" } } }),
};
for (const [name, lie] of Object.entries(lies)) {
  const { settings } = lie;
  if (typeof settings !== "function") continue;
  lie.settings = (origin: string) => JSON.parse(JSON.stringify(settings(origin)).replace("/NAME/", `/${name}/`)) as object;
}

const liars = new Liars(lies, { ...MARKERS, REMOTE_BROKEN_KEY: "marker-broken\n5" });
let storage: string;
before(async () => {
  storage = mkdtempSync(join(tmpdir(), "a2a-edge-remote-secrets-"));
  await liars.start(storage);
});
after(async () => {
  await liars.stop();
  rmSync(storage, { recursive: true, force: true });
});

/** Fails if a text contains a marker in any form. */
function assertClean(text: string, where: string): void {
  for (const marker of [...Object.values(MARKERS), "marker-broken"]) {
    for (const form of [marker, encodeURIComponent(marker), JSON.stringify(marker).slice(1, -1), btoa(marker)]) {
      assert.ok(!text.includes(form), `${where} holds ${form}: ${text.slice(0, 2_000)}`);
    }
  }
}

for (const [name, state, said] of [
  ["echo-well", "COMPLETED", undefined],
  ["echo-pieces", "COMPLETED", undefined],
  ["echo-error", "FAILED", /./],
  ["echo-status", "FAILED", /401/],
  ["echo-page", "FAILED", /neither a result nor an error/],
  ["card-missing", "FAILED", /404/],
  ["card-moved", "FAILED", /elsewhere\.example|redirect/],
  ["not-there", "FAILED", /./],
  ["not-set", "FAILED", /REMOTE_NO_SUCH_TOKEN/],
  ["bad-header", "FAILED", /REMOTE_BROKEN_KEY|headers/],
] as const) {
  test(`${name}: the task ends as ${state}, and holds no secret`, async () => {
    const ended: Task = await liars.ended(name);
    assert.equal(ended.status.state, `TASK_STATE_${state}`);
    if (said !== undefined) assert.match(textOf(ended.status.message), said);
    assertClean(JSON.stringify(ended), name);
    for (const { parts } of ended.artifacts ?? []) assertClean(parts.map(({ text }) => text ?? "").join(""), `an artifact of ${name}`);
    const [asked] = liars.asked(name);
    if (asked === undefined) return;
    assert.deepEqual([asked.headers.authorization, asked.headers["x-key"]], [`Bearer ${MARKERS.REMOTE_BEARER_TOKEN}`, MARKERS.REMOTE_HEADER_KEY]);
  });
}

test("a secret that comes in pieces is replaced, and none of it is shown before", async () => {
  const ended = await liars.ended("echo-pieces");
  const shown = ended.artifacts?.[0]?.parts.map(({ text }) => text ?? "") ?? [];
  assert.equal(shown.join(""), "It came with Bearer [REMOTE_BEARER_TOKEN] and [REMOTE_HEADER_KEY].");
  assert.ok(shown.every((piece) => !piece.includes("mark")), shown.join("|"));
});

test("nothing that can be read of the Worker holds a secret", async () => {
  for (const path of ["/echo-well", "/echo-well/.well-known/agent-card.json"]) {
    assertClean(await (await fetch(liars.worker.url + path)).text(), path);
  }
  assertClean(JSON.stringify(await liars.agent("echo-error").listTasks({ includeArtifacts: true })), "a list");
});

test("no log and no file of the storage holds a secret", async () => {
  await until(() => Promise.resolve(liars.worker.logs.length), () => true);
  assertClean(liars.worker.logs.map(({ message }) => message).join("\n"), "the log");
  let files = 0;
  for (const entry of readdirSync(storage, { recursive: true, encoding: "utf8" })) {
    const path = join(storage, entry);
    if (!statSync(path).isFile()) continue;
    files += 1;
    assertClean(readFileSync(path, "latin1"), path);
  }
  assert.ok(files > 5);
});
