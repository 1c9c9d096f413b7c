// `a2a-edge keys` in a project whose wrangler is a stand-in: what it lists, makes and replaces, and that it shows no secret.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { once } from "node:events";
import { after, before, beforeEach, describe, test } from "node:test";
import { catalogueOf } from "../../scripts/operate/secrets/catalogue.mjs";
import { factsOfKeys } from "../../scripts/operate/secrets/list.mjs";
import { madeAt, make, withSecond, withoutSecond } from "../../scripts/operate/secrets/values.mjs";
import { makeOwnProject } from "./project.mjs";

const key = (...callers) => ({ kind: "api_key", callers: callers.map(([id, ...secrets]) => ({ id, secrets })) });
const FACTS = {
  agents: [
    { slug: "guarded", access: { schemes: { key: key(["billing", "BILLING_KEY", "BILLING_KEY_NEXT"], ["support", "SUPPORT_KEY"]) } }, needs: [{ name: "BILLING_KEY", by: ["scheme key"], or: ["BILLING_KEY_NEXT"] }, { name: "SUPPORT_KEY", by: ["scheme key"] }] },
    { slug: "session", access: { schemes: { session: { kind: "jwt", secrets: ["SESSION", "SESSION_NEXT"] } } } },
    { slug: "program", executor: { kind: "http", table: { signing_secret: "${PROGRAM_SECRET}" } }, needs: [{ name: "PROGRAM_SECRET", by: ["executor http"] }] },
    { slug: "weather", needs: [{ name: "WEATHER_KEY", by: ["tool weather"] }] },
    { slug: "local", development: true, access: { schemes: { key: key(["dev", "DEV_KEY"]) } } },
  ],
};

let project, plain;
before(() => {
  project = makeOwnProject({ wrangler: "stand-in" });
  plain = project.read("wrangler.toml");
  project.write("facts.json", JSON.stringify(FACTS));
});
beforeEach(() => {
  for (const name of ["values.json", "secrets.json", "versions.json", "refusal.txt", ".dev.vars", ".env", "kept"]) project.remove(name);
  project.write("secrets.json", "[]");
  project.write("wrangler.toml", plain);
  project.write("calls.log", "");
});
after(() => project.remove());

const deployed = () => JSON.parse(project.read("values.json"));
const secrets = () => JSON.parse(project.read("secrets.json")).map(({ name }) => name);
const keys = (...args) => piped("", ...args);
/** A server that publishes these keys, until the test is over; returns its URL. */
async function publishing(t, keysNow) {
  const server = createServer((_, response) => response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: keysNow() }))).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}`;
}

/** Runs the command with this text on stdin. */
async function piped(input, ...args) {
  const running = project.start("keys", ...args);
  running.child.stdin.end(input);
  return { ...(await running.ended), stdout: running.stdout };
}
const linesOf = ({ stdout }) => stdout.trim().split("\n").map((line) => JSON.parse(line));
const assertDone = ({ code, output }) => assert.equal(code, 0, output);
const assertRefused = ({ code, output }, exit, why) => {
  assert.match(output, why);
  assert.equal(code, exit, output);
  assert.doesNotMatch(output, /^ +at /m, "no stack");
};

describe("the list of secrets", () => {
  test("has those of callers, of tokens, of agents' programs and of the Worker, with what accepts a second one", () => {
    const facts = catalogueOf(FACTS).map(({ name, kind, second, alone, isOptional }) => [name, kind, second, alone.length, isOptional]);
    assert.deepEqual(facts, [
      ["BILLING_KEY", "caller", "BILLING_KEY_NEXT", 0, false],
      ["BILLING_KEY_NEXT", "caller", "BILLING_KEY", 0, true],
      ["OTLP_HEADERS", "other", undefined, 0, true],
      ["PROGRAM_SECRET", "request", undefined, 0, false],
      ["SESSION", "shared", "SESSION_NEXT", 0, false],
      ["SESSION_NEXT", "shared", "SESSION", 0, true],
      ["SIGNING_JWK", "signing", undefined, 0, true],
      ["STATE_KEY", "state", undefined, 0, true],
      ["SUPPORT_KEY", "caller", undefined, 1, false],
      ["WEATHER_KEY", "other", undefined, 0, false],
      ["WEBHOOK_JWK", "other", undefined, 0, true],
    ]);
    assert.equal(catalogueOf(FACTS, { isLocal: true }).filter(({ name }) => name === "DEV_KEY").length, 1);
    // Of two lists only what both have is a second name.
    const agents = [["a", "ONE", "TWO"], ["b", "ONE", "THREE"]].map(([slug, ...names]) => ({ slug, access: { schemes: { key: key(["x", ...names]) } } }));
    assert.equal(catalogueOf({ agents }).find(({ name }) => name === "ONE").second, undefined);
  });

  test("has all secrets that the Worker itself reads, a former one where it is set", async () => {
    const read = [...readFileSync(new URL("../../src/edge/bindings.rs", import.meta.url), "utf8").matchAll(/\bsecret\("([A-Z_]+)"\)/g)].map(([, name]) => name);
    assert.ok(read.includes("STATE_KEY"));
    const entries = catalogueOf({ agents: [] });
    for (const name of read) assert.ok(entries.some((entry) => entry.name === name), name);
    const listed = async (...names) => (await factsOfKeys(entries, { names: async () => ({ names: new Set(names), isWhole: true }) }, { maxAgeDays: 1 })).map(({ name }) => name);
    assert.deepEqual([(await listed()).includes("WEBHOOK_JWK"), (await listed("WEBHOOK_JWK")).includes("WEBHOOK_JWK")], [false, true]);
  });

  test("says which are set and due, as a table and as JSON lines", async () => {
    project.write("secrets.json", JSON.stringify(["BILLING_KEY", "BILLING_KEY_NEXT", "WEATHER_KEY"].map((name) => ({ name }))));
    const found = await keys("--json");
    assertDone(found);
    const told = Object.fromEntries(linesOf(found).map(({ name, set, second, both, due }) => [name, [set, second, both, due]]));
    assert.deepEqual(told.BILLING_KEY, [true, "BILLING_KEY_NEXT", true, "take the old one away"]);
    assert.deepEqual(told.SUPPORT_KEY, [false, null, false, "set it"]);
    assert.deepEqual(told.SESSION_NEXT, [false, "SESSION", false, null]);
    assert.deepEqual(told.WEATHER_KEY, [true, null, false, null]);
    assert.deepEqual(told.STATE_KEY, [false, "in the value", false, null]);
    const table = await keys();
    assertDone(table);
    assert.match(table.stdout, /^SUPPORT_KEY +no +set it +caller support of the agent guarded \(api_key, scheme key\)$/m);
    const asked = ["wrangler secret list --format=json", "wrangler versions list --json"];
    assert.deepEqual(project.calls().map((call) => call.join(" ")), [...asked, ...asked]);
  });

  test("says since when no secret was changed, by the versions of the Worker", async () => {
    project.write("secrets.json", '[{"name": "WEATHER_KEY"}, {"name": "SUPPORT_KEY"}]');
    project.write("wrangler.toml", plain.replace(/^\[vars\]$/m, '[vars]\nSESSION = "no secret"'));
    const version = (day, trigger) => ({ id: day, metadata: { created_on: `${day}T10:00:00Z` }, annotations: { "workers/triggered_by": trigger } });
    const known = async (...versions) => {
      project.write("versions.json", JSON.stringify(versions));
      const found = linesOf(await keys("--json", "--max-age", "300"));
      return ["WEATHER_KEY", "SESSION", "BILLING_KEY"].map((name) => found.find((one) => one.name === name)).map(({ setBefore, due }) => [setBefore, due]);
    };
    const old = ["2020-01-01T10:00:00.000Z", "rotate WEATHER_KEY"];
    assert.deepEqual(await known(version("2020-01-01", "secret"), version("2019-01-01", "secret"), version("2099-01-01", "upload")), [old, [null, null], [null, "set it"]]);
    assert.deepEqual(await known(version("2020-01-01", "upload"), version("2099-01-01", "upload")), [old, [null, null], [null, "set it"]]);
    assert.deepEqual((await known(version("2099-01-01", "secret"), version("2020-01-01", "secret")))[0], ["2099-01-01T10:00:00.000Z", null]);
    assert.deepEqual((await known())[0], [null, null]);
    assert.match((await keys()).output, /^WEATHER_KEY +yes +tool/m);
  });

  test("says so where wrangler cannot list what is set", async () => {
    project.remove("secrets.json");
    assertRefused(await keys("--env", "staging"), 2, /wrangler\.toml has no environment "staging"/);
    const table = await keys();
    assertDone(table);
    assert.match(table.output, /^BILLING_KEY +not known /m);
    assert.match(table.output, /sign in with: npx a2a-edge wrangler login/);
    assert.equal(linesOf(await keys("--json")).find(({ name }) => name === "BILLING_KEY").set, null);
  });

  test("knows the age of a signing key by the keys that the server publishes", async (t) => {
    const entries = catalogueOf({ agents: [] });
    const place = { names: async () => ({ names: new Set(["SIGNING_JWK"]), isWhole: true }) };
    const of = async (published, now) => (await factsOfKeys(entries, place, { published, maxAgeDays: 365, now: Date.parse(now) })).find(({ name }) => name === "SIGNING_JWK");
    const [kid] = [JSON.parse(make("signing", new Date("2025-03-04T23:00:00Z"))).kid];
    assert.match(kid, /^2025-03-04-[0-9a-f]{8}$/);
    assert.deepEqual([(await of([{ kid }], "2026-03-04T00:00:00Z")).due, (await of([{ kid }], "2026-03-05T00:00:00Z")).due], [undefined, "rotate SIGNING_JWK"]);
    assert.deepEqual([(await of([{ kid }, { kid: "old" }], "2025-03-05T00:00:00Z")).due, (await of(undefined, "2030-01-01T00:00:00Z")).due], ["take the old one away", undefined]);
    for (const other of [undefined, "", "2025-13-04-01234567", "2025-03-04", "thumbprint"]) assert.equal(madeAt(other), undefined, other);

    project.write("secrets.json", '[{"name": "SIGNING_JWK"}]');
    const found = await keys("--json", "--max-age", "1", "--url", await publishing(t, () => [{ kid, x: "x" }]));
    assertDone(found);
    const { madeAt: at, due } = linesOf(found).find(({ name }) => name === "SIGNING_JWK");
    assert.deepEqual([at, due], ["2025-03-04T00:00:00.000Z", "rotate SIGNING_JWK"]);
  });
});

describe("a new secret", () => {
  test("has the form of its kind", () => {
    assert.match(make("caller"), /^[0-9a-f]{48}$/);
    for (const kind of ["shared", "state"]) assert.equal(Buffer.from(make(kind), "base64").length, 32);
    assert.equal(Buffer.from(make("request").slice("whsec_".length), "base64").length, 32);
    const jwk = JSON.parse(make("signing"));
    const text = Buffer.from("text");
    const signature = sign("sha256", text, createPrivateKey({ key: jwk, format: "jwk" }));
    const { d: _, ...half } = jwk;
    assert.ok(verify("sha256", text, createPublicKey({ key: half, format: "jwk" }), signature));
    assert.notEqual(make("caller"), make("caller"));
  });

  test("goes to the deployment and into a new file, and is not shown", async () => {
    const made = await keys("make", "SUPPORT_KEY", "--save", "kept");
    assertDone(made);
    const { SUPPORT_KEY: value } = deployed();
    assert.equal(project.read("kept"), `${value}\n`);
    assert.equal(statSync(project.at("kept")).mode & 0o777, 0o600);
    assert.ok(!made.output.includes(value), made.output);
    assert.match(made.output, /SUPPORT_KEY is set, and stands in kept\. Hand it over: caller support of the agent guarded .*Then delete the file\./);
    assert.deepEqual(project.calls().map((call) => call.join(" ")), ["wrangler secret list --format=json", "wrangler secret put SUPPORT_KEY"]);
  });

  test("is not made where it would be lost, hides another one, or is not ours", async () => {
    assertRefused(await keys("make", "SUPPORT_KEY"), 2, /does not give SUPPORT_KEY back: add --save FILE/);
    project.write("kept", "something");
    assertRefused(await keys("make", "SUPPORT_KEY", "--save", "kept"), 2, /kept exists already/);
    assertRefused(await keys("make", "SUPPORT_KEY", "--save", "no/folder"), 2, /cannot be written \(ENOENT\)/);
    assert.equal(project.read("kept"), "something");
    assertRefused(await keys("make", "WEATHER_KEY", "--save", "new"), 1, /WEATHER_KEY is not made here \(tool weather of the agent weather\)/);
    assertRefused(await keys("make", "OTHER", "--save", "new"), 4, /Nothing in this project uses OTHER; it uses BILLING_KEY, /);
    assertRefused(await keys("make", "DEV_KEY", "--save", "new"), 4, /Only agents that are not deployed use DEV_KEY/);
    assert.ok(!project.exists("values.json") && !project.exists("new"));
  });

  test("does not replace one that is set unless that is wanted", async () => {
    project.write("secrets.json", '[{"name": "SUPPORT_KEY"}]');
    assertRefused(await keys("make", "SUPPORT_KEY", "--save", "kept"), 1, /SUPPORT_KEY is set already.*keys rotate SUPPORT_KEY/);
    assertRefused(await keys("make", "SUPPORT_KEY", "--save", "kept", "--replace"), 2, /add --yes/);
    assertDone(await keys("make", "SUPPORT_KEY", "--save", "kept", "--replace", "--yes"));
    project.remove("kept");
    project.remove("secrets.json");
    assertRefused(await keys("make", "SUPPORT_KEY", "--save", "kept"), 3, /wrangler cannot list what is set/);
  });

  test("leaves no file where wrangler refuses it", async () => {
    project.write("refusal.txt", "Authentication error [code: 10000]");
    project.write("secrets.json", "[]");
    assertRefused(await keys("make", "SUPPORT_KEY", "--save", "kept"), 3, /wrangler cannot list/);
    project.write("refusal.txt", "This Worker does not exist on your account. [code: 10007]");
    const refused = await keys("make", "SUPPORT_KEY", "--save", "kept");
    assertRefused(refused, 1, /SUPPORT_KEY was not set; wrangler said:\nThis Worker does not exist/);
    assert.ok(!project.exists("kept"));
  });

  test("is printed where that is asked for, and then not set", async () => {
    const printed = await keys("make", "BILLING_KEY", "--print");
    assertDone(printed);
    assert.match(printed.output, /^[0-9a-f]{48}\n$/);
    assert.deepEqual(project.calls(), []);
    assertRefused(await keys("make", "BILLING_KEY", "--print", "--save", "kept"), 2, /--print sets nothing/);
  });

  test("for this machine goes into .dev.vars, whose other lines stay", async () => {
    project.write(".dev.vars", "# of mine\nWEATHER_KEY = \"a b\" # from them\nBILLING_KEY=\n", 0o644);
    assertDone(await keys("make", "BILLING_KEY", "--local"));
    assert.match(project.read(".dev.vars"), /^# of mine\nWEATHER_KEY = "a b" # from them\nBILLING_KEY='[0-9a-f]{48}'\n$/);
    assert.equal(statSync(project.at(".dev.vars")).mode & 0o777, 0o600);
    assertDone(await keys("make", "SIGNING_JWK", "--local"));
    assertDone(await keys("make", "DEV_KEY", "--local"));
    const listed = linesOf(await keys("--local", "--json"));
    assert.deepEqual(listed.filter(({ set }) => set).map(({ name }) => name), ["BILLING_KEY", "DEV_KEY", "SIGNING_JWK", "WEATHER_KEY"]);
    assert.equal(listed.find(({ name }) => name === "SIGNING_JWK").madeAt, `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`);
    for (const text of ["BILLING_KEY='one\ntwo'\n", "WEATHER_KEY='one\nBILLING_KEY=two'\n"]) {
      project.write(".dev.vars", text);
      assertRefused(await keys("make", "BILLING_KEY", "--local", "--replace", "--yes"), 1, /a value over several lines; change the file by hand/);
      assert.equal(project.read(".dev.vars"), text);
    }
    assert.ok(!project.files().some((name) => /^\.dev\.vars\.\d/.test(name)));
  });
});

describe("a secret that is replaced", () => {
  test("by one under its second name is accepted until it is taken away", async () => {
    assertDone(await keys("make", "BILLING_KEY", "--save", "kept"));
    project.remove("kept");
    const rotated = await keys("rotate", "BILLING_KEY", "--save", "kept");
    assertDone(rotated);
    assert.match(rotated.output, /Both BILLING_KEY and BILLING_KEY_NEXT are accepted now\..*Hand it over: caller billing.*\nWhen nobody uses the old one any more: npx a2a-edge keys rotate BILLING_KEY --finish/);
    assert.deepEqual(secrets().sort(), ["BILLING_KEY", "BILLING_KEY_NEXT"]);
    assert.equal(project.read("kept"), `${deployed().BILLING_KEY_NEXT}\n`);
    assertRefused(await keys("rotate", "BILLING_KEY", "--save", "other"), 1, /are both set/);
    assertRefused(await keys("rotate", "BILLING_KEY", "--finish"), 2, /add --yes/);
    assertRefused(await keys("rotate", "BILLING_KEY", "--finish", "--print"), 2, /nothing to print/);
    assertDone(await keys("rotate", "BILLING_KEY", "--finish", "--yes"));
    assert.deepEqual(secrets(), ["BILLING_KEY_NEXT"]);
    assertRefused(await keys("rotate", "BILLING_KEY", "--finish", "--yes"), 1, /is not set at the deployment any more/);
    assertRefused(await keys("rotate", "BILLING_KEY", "--save", "other"), 1, /BILLING_KEY_NEXT is: npx a2a-edge keys rotate BILLING_KEY_NEXT/);
    // The next time the first name is free.
    assertDone(await keys("rotate", "BILLING_KEY_NEXT", "--save", "other"));
    assert.deepEqual(secrets().sort(), ["BILLING_KEY", "BILLING_KEY_NEXT"]);
    project.remove("other");
  });

  test("needs a second name, a value, or whom it is from", async () => {
    project.write("secrets.json", '[{"name": "SUPPORT_KEY"}]');
    assertRefused(await keys("rotate", "SUPPORT_KEY", "--save", "kept"), 1, /has no second name in caller support of the agent guarded.*secrets = \["SUPPORT_KEY", "SUPPORT_KEY_NEXT"\], and deploy/);
    assertRefused(await keys("rotate", "SESSION", "--save", "kept"), 1, /SESSION is not set at the deployment.*keys make SESSION/);
    assertRefused(await keys("rotate", "SESSION", "--finish", "--yes"), 1, /SESSION_NEXT, which replaces SESSION, is not set/);
    assertRefused(await keys("rotate", "WEATHER_KEY"), 1, /Get a new one where it comes from, set it with: npx a2a-edge wrangler secret put WEATHER_KEY/);
    assertRefused(await keys("rotate", "PROGRAM_SECRET"), 1, /let the program accept both/);
    assert.ok(!project.exists("kept"));
  });

  test("within its value is read from stdin, and kept beside the new one until it is taken away", async () => {
    for (const [name, read] of [["SIGNING_JWK", (value) => JSON.parse(value).keys?.map(({ kid }) => kid) ?? [JSON.parse(value).kid]], ["STATE_KEY", (value) => value.split(" ")]]) {
      assertDone(await keys("make", name, "--save", "first"));
      const [old] = read(project.read("first").trim());
      assertRefused(await piped("", "rotate", name), 2, /add --save FILE/);
      assertRefused(await piped("", "rotate", name, "--save", "second"), 2, /was not given/);
      for (const wrong of ["nothing", "{}", '{"keys": []}']) assertRefused(await piped(wrong, "rotate", name, "--save", "second"), 2, /What was given is no value of/);
      const rotated = await piped(project.read("first"), "rotate", name, "--save", "second");
      assertDone(rotated);
      assert.match(rotated.output, new RegExp(`Wait an hour.*\\nThen: npx a2a-edge keys rotate ${name} --finish, with the value in second`));
      const value = deployed()[name];
      assert.equal(project.read("second"), `${value}\n`);
      const both = read(value);
      assert.deepEqual([both.length, both[1]], [2, old]);
      assertRefused(await piped(value, "rotate", name, "--save", "third"), 1, /holds two keys already/);
      assertDone(await piped(value, "rotate", name, "--finish", "--yes"));
      assert.deepEqual(read(deployed()[name]), [both[0]]);
      assertRefused(await piped(deployed()[name], "rotate", name, "--finish", "--yes"), 1, /holds one key only/);
      for (const file of ["first", "second"]) project.remove(file);
      assert.ok(!project.exists("third"));
    }
  });

  test("is not replaced where the server publishes another key than the one that was given", async (t) => {
    const [given, other] = [make("signing"), make("signing")];
    let published = other;
    const url = await publishing(t, () => [{ x: JSON.parse(published).x }]);
    const rotate = () => piped(given, "rotate", "SIGNING_JWK", "--save", "kept", "--url", url);
    const refused = await rotate();
    assertRefused(refused, 1, /is not the one that the server publishes.*nothing was changed/);
    assert.ok(!project.exists("values.json") && !project.exists("kept"));
    for (const part of [JSON.parse(given).d, JSON.parse(given).x]) assert.ok(!refused.output.includes(part));
    published = given;
    assertDone(await rotate());
  });

  test("on this machine is read from its file", async () => {
    assertDone(await keys("make", "STATE_KEY", "--local"));
    const [old] = /STATE_KEY='(.*)'/.exec(project.read(".dev.vars")).slice(1);
    const rotated = await keys("rotate", "STATE_KEY", "--local");
    assertDone(rotated);
    assert.match(rotated.output, /Then: npx a2a-edge keys rotate STATE_KEY --finish --local$/m);
    assert.match(project.read(".dev.vars"), new RegExp(`^STATE_KEY='\\S+ ${old.replace(/[+/]/g, "\\$&")}'$`, "m"));
    assert.equal(linesOf(await keys("--local", "--json")).find(({ name }) => name === "STATE_KEY").due, "take the old one away");
    assertDone(await keys("rotate", "STATE_KEY", "--local", "--finish", "--yes"));
    assert.match(project.read(".dev.vars"), /^STATE_KEY='\S+'$/m);
    assertDone(await keys("make", "SESSION", "--local"));
    assertDone(await keys("rotate", "SESSION", "--local"));
    assertDone(await keys("rotate", "SESSION", "--local", "--finish", "--yes"));
    assert.doesNotMatch(project.read(".dev.vars"), /^SESSION=/m);
  });
});

test("values with a second key are read and written in the forms that the Worker reads", () => {
  const [signing, state] = [{ name: "SIGNING_JWK", kind: "signing" }, { name: "STATE_KEY", kind: "state" }];
  const [jwk, bytes] = [make("signing"), make("state")];
  const set = withSecond(signing, JSON.stringify({ keys: [JSON.parse(jwk)] }), new Date("2026-01-02"));
  assert.deepEqual(JSON.parse(set).keys.map(({ kid }) => kid.slice(0, 10)), ["2026-01-02", JSON.parse(jwk).kid.slice(0, 10)]);
  assert.equal(JSON.parse(withoutSecond(signing, set)).kid, JSON.parse(set).keys[0].kid);
  assert.match(withSecond(state, ` ${bytes}\n`), new RegExp(`^\\S+ ${bytes.replace(/[+/]/g, "\\$&")}$`));
});

test("arguments that do not belong together are refused", async () => {
  for (const [args, why] of [
    [["melt", "BILLING_KEY"], /There is no argument "melt"; there are make and rotate/],
    [["make"], /NAME is missing/],
    [["make", "BILLING_KEY", "--finish"], /--finish belongs to rotate/],
    [["rotate", "BILLING_KEY", "--replace"], /--replace belongs to make/],
    [["--local", "--env", "staging"], /exclude each other/],
    [["--max-age", "soon"], /--max-age/],
  ]) assertRefused(await keys(...args), 2, why);
});
