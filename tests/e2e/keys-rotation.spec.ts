// Public keys that change: rotation, unknown kids, and servers that are down. The tests set the rows of D1 to other times.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { agentsWith, ask, discovered, IdentityProvider, jwt, makeKey, type Issuer } from "./identity-provider.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NAMES = ["stale", "held", "down", "old", "rotated", "withdrawn", "unknown", "lost", "claimed", "moved", "foreign", "cron"] as const;
type Name = (typeof NAMES)[number];

let provider: IdentityProvider;
let worker: Worker;
const issuers = new Map<Name, Issuer>();
const issuer = (name: Name): Issuer => issuers.get(name) ?? assert.fail(name);
const status = async (name: Name, token = issuer(name).token()) => (await ask(`${worker.url}/${name}`, token)).status;
before(async () => {
  provider = await IdentityProvider.open();
  const schemes = Object.fromEntries(
    NAMES.map((name) => {
      const made = provider.issuer(name);
      issuers.set(name, made);
      return [name, { sso: name === "moved" ? discovered(made) : jwt(made) }];
    }),
  );
  worker = await startWorker({ vars: { AGENTS: agentsWith(schemes) } });
  // Now each key is known, and the tests can set its row to another time.
  for (const name of NAMES) assert.equal(await status(name), 200);
  await until(rows, (rows) => rows.length === NAMES.length);
});
after(async () => {
  await worker.stop();
  provider.close();
});

interface Row {
  key: string;
  value: string;
  fetched_ms: number;
  fresh_until_ms: number;
}
async function rows(): Promise<Row[]> {
  return (await (await worker.d1()).prepare("SELECT * FROM remembered").run<Row>()).results;
}
const keyOf = (name: Name): string => (name === "moved" ? `oidc:${issuer(name).url}` : `jwks:${issuer(name).jwksUrl}`);
async function rowOf(name: Name): Promise<Row> {
  const row = (await rows()).find(({ key }) => key === keyOf(name));
  return row ?? assert.fail(`there is no row of ${name}`);
}

/** Sets the times at which rows were fetched and stay fresh until, relative to now, and clears all other memory. */
async function age(times: Partial<Record<Name, { fetched: number; fresh: number }>>): Promise<void> {
  const [database, now] = [await worker.d1(), Date.now()];
  for (const [name, { fetched, fresh }] of Object.entries(times)) {
    const statement = "UPDATE remembered SET fetched_ms = ?2, fresh_until_ms = ?3 WHERE key = ?1";
    await database.prepare(statement).bind(keyOf(name as Name), now + fetched, now + fresh).run();
  }
  await worker.restart();
}

describe("a stale key set", () => {
  test("is used, and fetched anew by one of many requests", async () => {
    await age({ stale: { fetched: -2 * HOUR, fresh: -HOUR }, held: { fetched: -2 * HOUR, fresh: -HOUR } });
    const before = issuer("stale").fetches;
    const statuses = await Promise.all(Array.from({ length: 20 }, () => status("stale")));
    assert.deepEqual(new Set(statuses), new Set([200]));
    await until(() => rowOf("stale"), ({ fetched_ms }) => fetched_ms > Date.now() - MINUTE);
    assert.equal(await status("stale"), 200);
    assert.equal(issuer("stale").fetches, before + 1);
  });

  test("is used without waiting for the new one", async () => {
    const held = issuer("held");
    const nth = held.fetches + 1;
    held.holdKeys();
    for (let count = 0; count < 3; count++) assert.equal(await status("held"), 200);
    const arrival = await held.asked(nth);
    // The row is claimed, so no other instance fetches it meanwhile.
    const claimed = await rowOf("held");
    assert.ok(claimed.fresh_until_ms > Date.now() && claimed.fresh_until_ms <= Date.now() + MINUTE);
    assert.ok(claimed.fetched_ms < Date.now() - HOUR);
    await worker.restart();
    assert.equal(await status("held"), 200);
    assert.equal(held.fetches, nth);
    arrival.drop();
  });

  test("of a server that is down is used for a day, and no longer", async () => {
    for (const name of ["down", "old"] as const) issuer(name).isDown = true;
    await age({ down: { fetched: MINUTE - 24 * HOUR, fresh: -20 * HOUR }, old: { fetched: -MINUTE - 24 * HOUR, fresh: -20 * HOUR } });
    assert.equal(await status("down"), 200);
    const refused = await ask(`${worker.url}/old`, issuer("old").token());
    assert.equal(refused.status, 503);
    assert.ok(Number(refused.retryAfter) > 0);
    assert.match(refused.message, /are not available at the moment/);
    const forged = issuer("old").token({}, { key: makeKey("ES256", { kid: issuer("old").keys[0]?.kid ?? "" }) });
    assert.equal(await status("old", forged), 503, "nobody can tell");
    assert.equal(await status("down", issuer("down").token({}, { key: makeKey("ES256", { kid: issuer("down").keys[0]?.kid ?? "" }) })), 401);
    const host = new URL(issuer("old").url).host;
    const line = `the public keys of ${host} cannot be fetched: it answered 503`;
    const read = async () => worker.logs.map(({ message }) => message).filter((message) => message.includes("public keys"));
    const lines = await until(read, (found) => found.includes(line));
    assert.ok(lines.every((line) => !line.includes("/old")), "hosts only");
  });
});

describe("keys that change", () => {
  test("a token of a new key is taken at once, once the old keys are a minute old", async () => {
    const rotated = issuer("rotated");
    const old = rotated.token();
    rotated.keys = [makeKey("RS256"), ...rotated.keys];
    await age({ rotated: { fetched: -MINUTE - 1_000, fresh: HOUR } });
    const before = rotated.fetches;
    const statuses = await Promise.all(Array.from({ length: 10 }, () => status("rotated")));
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.equal(rotated.fetches, before + 1);
    assert.equal(await status("rotated", old), 200, "the old key is still shown");
  });

  test("a key that is withdrawn is not used from the next fetch on", async () => {
    const withdrawn = issuer("withdrawn");
    const [key] = withdrawn.keys;
    withdrawn.keys = [makeKey("EdDSA")];
    await age({ withdrawn: { fetched: -2 * MINUTE, fresh: HOUR } });
    assert.equal(await status("withdrawn", withdrawn.token({}, { key })), 200);
    assert.equal(await status("withdrawn"), 200, "which fetches the keys");
    assert.equal(await status("withdrawn", withdrawn.token({}, { key })), 401);
  });

  test("an unknown kid is looked up once a minute, whatever comes", async () => {
    const unknown = issuer("unknown");
    await age({ unknown: { fetched: -2 * MINUTE, fresh: HOUR } });
    const before = unknown.fetches;
    const forged = () => status("unknown", unknown.token({}, { key: makeKey("ES256") }));
    assert.deepEqual(new Set(await Promise.all(Array.from({ length: 10 }, forged))), new Set([401]));
    assert.equal(await forged(), 401);
    await until(() => rowOf("unknown"), ({ fetched_ms }) => fetched_ms > Date.now() - MINUTE);
    await worker.restart();
    assert.equal(await forged(), 401, "another instance knows when it was fetched");
    assert.equal(unknown.fetches, before + 1);
    assert.equal(await status("unknown"), 200);
  });

  test("an unknown kid cannot be told from a new one while the server is down", async () => {
    const lost = issuer("lost");
    await age({ lost: { fetched: -2 * MINUTE, fresh: HOUR } });
    lost.isDown = true;
    const refused = await ask(`${worker.url}/lost`, lost.token({}, { key: makeKey("ES256") }));
    assert.deepEqual([refused.status, Number(refused.retryAfter) > 0], [503, true]);
    assert.equal(await status("lost"), 200, "what is known goes on");
  });

  test("a row that another instance has just claimed is waited for, not fetched", async () => {
    const claimed = issuer("claimed");
    claimed.keys = [makeKey("ES256"), ...claimed.keys];
    const before = claimed.fetches;
    await age({ claimed: { fetched: -2 * MINUTE, fresh: MINUTE - 1_000 } });
    const asked = status("claimed");
    // The work of the other instance.
    const value = JSON.stringify(claimed.keySet());
    const store = "UPDATE remembered SET value = ?2, fetched_ms = ?3, fresh_until_ms = ?3 + 3600000 WHERE key = ?1";
    await (await worker.d1()).prepare(store).bind(keyOf("claimed"), value, Date.now()).run();
    assert.equal(await asked, 200);
    assert.equal(claimed.fetches, before);
  });

  test("an issuer may move its key set", async () => {
    const [moved, place] = [issuer("moved"), provider.issuer("new-place")];
    moved.keys = [makeKey("ES256")];
    place.keys = moved.keys;
    moved.document = { jwks_uri: place.jwksUrl };
    await age({ moved: { fetched: -2 * MINUTE, fresh: HOUR } });
    assert.equal(await status("moved"), 200);
    assert.equal(place.fetches, 1);
  });
});

test("a value that another version has stored is fetched anew", async () => {
  const store = "UPDATE remembered SET value = 'of another form' WHERE key = ?1";
  await (await worker.d1()).prepare(store).bind(keyOf("foreign")).run();
  await age({ foreign: { fetched: -2 * MINUTE, fresh: HOUR } });
  const before = issuer("foreign").fetches;
  for (let nth = 0; nth < 2; nth++) assert.equal(await status("foreign"), 200);
  assert.equal(issuer("foreign").fetches, before + 1);
});

test("rows that nobody has used for a week are deleted by the cron trigger", async () => {
  const DAY = 24 * HOUR;
  await age({ cron: { fetched: -8 * DAY, fresh: -8 * DAY }, stale: { fetched: -6 * DAY, fresh: -6 * DAY } });
  await worker.cron();
  const left = (await rows()).map(({ key }) => key);
  assert.ok(!left.includes(keyOf("cron")) && left.includes(keyOf("stale")));
});
