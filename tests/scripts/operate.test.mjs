// The commands for operators by their parts: texts for terminals, tables, times, where a key goes and how it is kept.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { OPERATE } from "../../scripts/lib/commands.mjs";
import { forget, keep, keptKeys, keysFolder, originsKept } from "../../scripts/operate/keys.mjs";
import { commandOf } from "../../scripts/operate/operate.mjs";
import { chosenOrigin, mayHaveKey, originOf } from "../../scripts/operate/origin.mjs";
import { fitting, place, schemesOf } from "../../scripts/operate/slots.mjs";
import { Table } from "../../scripts/operate/table.mjs";
import { clean, cleanLines, cut, jsonLine, padded, widthOf } from "../../scripts/operate/text.mjs";
import { usageWord } from "../../scripts/operate/timeline.mjs";
import { withInstants } from "../../scripts/operate/values.mjs";
import { firstOwed } from "../../scripts/operate/webhooks.mjs";
import { durationWord, numberOf, rfc3339, sinceOf, stateCell, stateOf, timeWord } from "../../scripts/operate/words.mjs";

describe("texts for terminals", () => {
  test("show controls by their numbers, and keep letters of all scripts", () => {
    assert.equal(clean("a\u001b[31mb\u0007\u009bc\u007f"), "a\\x1b[31mb\\x07\\x9bc\\x7f");
    assert.equal(clean("\u202eabc\u2066\ufeff\u200b\u00ad"), "\\u{202e}abc\\u{2066}\\u{feff}\\u{200b}\\xad");
    assert.equal(clean("\u{e0041}\ud800"), "\\u{e0041}\\u{d800}");
    assert.equal(clean(" a\r\n\tb\u2028c  d"), " a b c d");
    for (const text of ["Größe", "漢字", "👩‍👩‍👧", "عربى", "e\u0301", "🇩🇪", "नमस्ते", "می‌خواهم"]) assert.equal(clean(text), text);
    assert.deepEqual(cleanLines("a\tb\r\nc\u001b\n\n"), ["a    b", "c\\x1b"]);
  });

  test("as JSON say the same, without a letter that a terminal obeys", () => {
    for (const text of ["\u001b\u009b\u202e\u{e0041}\u2028\u007f", "漢字 👩‍👩‍👧", "\ud800"]) {
      const line = jsonLine({ text });
      assert.equal(JSON.parse(line).text, text);
      assert.doesNotMatch(line, /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}]/u);
    }
  });

  test("have the width that terminals give them, and are cut between letters", () => {
    for (const [text, width] of [["abc", 3], ["漢字", 4], ["👩‍👩‍👧", 2], ["🇩🇪", 2], ["e\u0301", 1], ["", 0], ["ａ", 2], ["❤️", 2], ["각", 2]]) assert.equal(widthOf(text), width, text);
    assert.equal(cut("abcdef", 6), "abcdef");
    assert.equal(cut("abcdef", 5), "abcd…");
    assert.equal(cut("漢字漢字", 6), "漢字…");
    assert.equal(cut("漢字", 1), "…");
    assert.equal(cut("abc", 0), "");
    assert.ok(cut(`a${"\u0301".repeat(1_000_000)}`, 10).length <= 4001, "a letter with marks without end");
    assert.equal(padded("漢", 4), "漢  ");
    assert.equal(padded("7", 3, true), "  7");
  });
});

/** The lines of a table of a width; without one, as in a pipe. */
async function tableOf(columns, rows, width) {
  const lines = [];
  const table = new Table({ columns: width, line: async (text) => void lines.push(text), toned: (text) => text }, columns);
  for (const row of rows) await table.row(row);
  await table.flush();
  return lines;
}

describe("tables", () => {
  const columns = [{ name: "Id", isWhole: true }, { name: "State" }, { name: "Count", isRight: true }, { name: "Said" }];

  test("align their columns by the widths of letters, and in pipes nothing is cut", async () => {
    const long = "x".repeat(300);
    assert.deepEqual(await tableOf(columns, [["漢", "ok", "7", "a\nb"], ["abcd", { text: "failed", tone: "bad" }, "12", long]]), [
      "Id    State   Count  Said",
      "漢    ok          7  a b",
      `abcd  failed     12  ${long}`,
    ]);
    assert.deepEqual(await tableOf(columns, []), []);
  });

  test("fit a terminal by cutting the last columns first, and never those that must be whole", async () => {
    const id = "0123456789abcdef";
    const lines = await tableOf(columns, [[id, "Authentication required", "1", "x".repeat(100)]], 60);
    assert.equal(lines[1].length, 60);
    assert.match(lines[1], new RegExp(`^${id}  Authentication required +1  x+…$`));
    const narrow = await tableOf(columns, [[id, "Authentication required", "1", "x".repeat(100)]], 20);
    assert.match(narrow[1], new RegExp(`^${id}  Authent…  `));
  });

  test("leave out what a terminal has no room for, as they were told, and nothing in pipes", async () => {
    const some = [{ name: "Id", isWhole: true }, { name: "Owner", extra: 1 }, { name: "Next try", extra: 2 }, { name: "Why" }];
    const rows = [["abc", "key:billing", "2026-11-20", "the receiver answered 503 and more"]];
    const heads = async (width) => (await tableOf(some, rows, width))[0].trim().split(/ {2,}/);
    assert.deepEqual(await heads(undefined), ["Id", "Owner", "Next try", "Why"]);
    assert.deepEqual(await heads(60), ["Id", "Owner", "Next try", "Why"]);
    assert.deepEqual(await heads(45), ["Id", "Owner", "Why"]);
    assert.deepEqual(await heads(30), ["Id", "Why"]);
    assert.equal((await tableOf(some, rows, 30))[1], "abc  the receiver answered 50…");
  });

  test("print rows as they come once the first hundred have decided on the widths", async () => {
    const lines = [];
    const table = new Table({ columns: 40, line: async (text) => void lines.push(text), toned: (text) => text }, [{ name: "A" }, { name: "B" }]);
    for (let at = 0; at < 99; at += 1) await table.row(["a", "b"]);
    assert.equal(lines.length, 0);
    await table.row(["a", "b"]);
    assert.equal(lines.length, 101);
    await table.row(["longer", "the last column has the room that is left"]);
    assert.match(lines.at(-1), /^…  the last column has the room that is…$/);
  });
});

test("times are local for people and RFC 3339 for programs, and what is none is unknown", () => {
  assert.equal(rfc3339(0), "1970-01-01T00:00:00.000Z");
  assert.match(timeWord(1_795_703_015_084), /^2026-11-2\d \d\d:\d\d:35$/);
  for (const at of [undefined, null, NaN, 1e300, "nonsense", {}]) assert.deepEqual([timeWord(at), rfc3339(at)], ["unknown", undefined]);
  assert.deepEqual(withInstants({ at: 0, n: 0, in: [{ until: 0 }], since: 1e300 }), { at: "1970-01-01T00:00:00.000Z", n: 0, in: [{ until: "1970-01-01T00:00:00.000Z" }], since: 1e300 });
  const now = Date.parse("2026-11-20T12:00:00Z");
  for (const [given, at] of [["90s", "2026-11-20T11:58:30.000Z"], ["2h", "2026-11-20T10:00:00.000Z"], ["7d", "2026-11-13T12:00:00.000Z"], ["2026-11-19T10:00:00Z", "2026-11-19T10:00:00.000Z"]]) assert.equal(sinceOf(given, now), at);
  assert.equal(sinceOf("2026-11-19", now), new Date(2026, 10, 19).toISOString(), "the local day");
  for (const given of ["", "2", "h", "2 hours", "1", "2026-13-01", "99999999999d"]) assert.throws(() => sinceOf(given, now), { exit: 2 }, given);
  assert.deepEqual([12, 3400, 125_000, 7_260_000].map(durationWord), ["12 ms", "3.4 s", "2 min 5 s", "2 h 1 min"]);
  for (const given of ["0", "-1", "1.5", "x", ""]) assert.throws(() => numberOf("limit", given), { exit: 2 }, given);
});

test("states and use of models are told in the words of the console", () => {
  assert.deepEqual([stateCell("TASK_STATE_AUTH_REQUIRED").text, stateCell("TASK_STATE_NEW").text, stateCell(undefined).text, stateCell("__proto__").text], ["Authentication required", "TASK_STATE_NEW", "unknown", "__proto__"]);
  for (const name of ["input-required", "INPUT_REQUIRED", "TASK_STATE_INPUT_REQUIRED"]) assert.equal(stateOf(name), "TASK_STATE_INPUT_REQUIRED");
  assert.throws(() => stateOf("done"), { exit: 2 });
  assert.equal(usageWord({ inputTokens: 1, outputTokens: 2, costMicros: 1160 }), "1 tokens in, 2 out, cost 0.0012");
});

test("a webhook is owed what it has given up, and a suspended one all behind its last event", () => {
  assert.equal(firstOwed({ health: "active", deadLetters: [{ generation: 4 }, { generation: 3 }] }), 3);
  assert.equal(firstOwed({ health: "suspended", deadLetters: [], deliveredGeneration: 0 }), 1);
  assert.equal(firstOwed({ health: "suspended", deadLetters: [{ generation: 2 }], deliveredGeneration: 5 }), 2);
  for (const owed of [{ health: "failing", deadLetters: [], deliveredGeneration: 1 }, { health: "active" }, { deadLetters: "x" }]) assert.equal(firstOwed(owed), undefined);
});

describe("servers", () => {
  test("are named by any URL of theirs", () => {
    for (const given of ["https://a.example", "https://a.example/console/#/tasks", "a.example", "HTTPS://A.example/demo"]) assert.equal(originOf(given), "https://a.example");
    for (const given of ["", "ftp://a.example", "https://user:secret@a.example", "https://", "a b"]) assert.throws(() => originOf(given), ({ exit, message }) => exit === 2 && !message.includes("secret"), given);
  });

  test("get a key over https, or on this machine", () => {
    for (const origin of ["https://a.example", "http://localhost:1", "http://127.0.0.1:8787", "http://[::1]:1", "http://a.localhost"]) assert.ok(mayHaveKey(origin), origin);
    for (const origin of ["http://a.example", "http://127.0.0.1.example", "http://localhost.example", "http://10.0.0.1", "http://0.0.0.0"]) assert.ok(!mayHaveKey(origin), origin);
  });

  test("are those of --url, of A2A_EDGE_URL, of the last sign-in, and this machine, in this order", () => {
    const lastOrigin = () => "https://last.example";
    assert.equal(chosenOrigin("https://given.example", { env: { A2A_EDGE_URL: "https://env.example" }, lastOrigin }), "https://given.example");
    assert.equal(chosenOrigin(undefined, { env: { A2A_EDGE_URL: "https://env.example" }, lastOrigin }), "https://env.example");
    assert.equal(chosenOrigin(undefined, { env: {}, lastOrigin }), "https://last.example");
    assert.match(chosenOrigin(undefined, { env: {} }), /^http:\/\/localhost:\d+$/);
    for (const env of [{ A2A_EDGE_KEY: "k" }, { CLOUDFLARE_ACCESS_CLIENT_ID: "i", CLOUDFLARE_ACCESS_CLIENT_SECRET: "s" }]) {
      assert.throws(() => chosenOrigin(undefined, { env, lastOrigin }), { exit: 2 });
    }
  });
});

describe("keys", () => {
  const jwt = "eyJhbGciOiJIUzI1NiJ9.e30.c2ln";
  const slots = [{ in: "query", name: "k" }, { in: "authorization", scheme: "Basic" }, { in: "authorization", scheme: "Bearer" }, { in: "header", name: "X-K" }, { in: "cookie", name: "s" }];
  const places = (secret) => fitting(slots, secret).map((slot) => slot.name ?? slot.scheme);

  test("are tried where they are likely to belong first", () => {
    assert.deepEqual(places("plain"), ["X-K", "Bearer", "s", "k"]);
    assert.deepEqual(places("ada:password"), ["X-K", "Bearer", "Basic", "s", "k"]);
    assert.equal(places(jwt)[0], "Bearer");
    assert.deepEqual(places("ada:pässword"), ["Basic"], "a header has ASCII alone");
  });

  test("stand where the card says, and nowhere that it must not name", () => {
    const put = (slot, secret) => {
      const [url, headers] = [new URL("https://a.example/x"), new Headers()];
      place(slot, secret, url, headers);
      return [url.search, Object.fromEntries(headers)];
    };
    assert.deepEqual(put(slots[0], "a&b"), ["?k=a%26b", {}]);
    assert.deepEqual(put(slots[1], "ada:pässword"), ["", { authorization: `Basic ${Buffer.from("ada:pässword").toString("base64")}` }]);
    assert.deepEqual(put(slots[2], "t"), ["", { authorization: "Bearer t" }]);
    assert.deepEqual(put(slots[4], "t"), ["", { cookie: "s=t" }]);
    const scheme = (value) => schemesOf({ access: { securitySchemes: { one: value } } });
    assert.equal(scheme({ apiKeySecurityScheme: { location: "header", name: "X-K" } })[0].slot.name, "X-K");
    assert.equal(scheme({ openIdConnectSecurityScheme: {} })[0].slot.scheme, "Bearer");
    for (const value of [null, 1, {}, { mtlsSecurityScheme: {} }, { apiKeySecurityScheme: { location: "header", name: "a\r\nb: c" } }, { apiKeySecurityScheme: { location: "header", name: "Cf-Access-Jwt-Assertion" } }, { httpAuthSecurityScheme: { scheme: "a b" } }]) {
      assert.deepEqual(scheme(value), []);
    }
  });

  describe("that are kept", () => {
    const { XDG_CONFIG_HOME } = process.env;
    before(() => (process.env.XDG_CONFIG_HOME = mkdtempSync(join(tmpdir(), "a2a-edge-keys-"))));
    after(() => {
      rmSync(process.env.XDG_CONFIG_HOME, { recursive: true });
      if (XDG_CONFIG_HOME === undefined) delete process.env.XDG_CONFIG_HOME;
      else process.env.XDG_CONFIG_HOME = XDG_CONFIG_HOME;
    });
    const key = (agent, secret) => ({ agent, scheme: "key", slot: { in: "header", name: "X-K" }, secret });
    const file = () => join(keysFolder(), readdirSync(keysFolder())[0]);
    const secrets = (origin) => keptKeys(origin).map(({ agent, secret }) => [agent, secret]);

    test("belong to an origin and an agent, and one for all agents replaces them", () => {
      const [one, two] = ["https://a.example", "http://localhost:8787"];
      assert.deepEqual([keptKeys(one), originsKept(), forget(one)], [[], [], false]);
      keep(one, key("x", "1"));
      keep(one, key("y", "2"));
      keep(one, key("x", "3"));
      assert.deepEqual(secrets(one), [["y", "2"], ["x", "3"]]);
      keep(one, key("*", "4"));
      assert.deepEqual(secrets(one), [["*", "4"]]);
      keep(two, key("*", "5"));
      assert.deepEqual(new Set(originsKept()), new Set([one, two]));
      assert.deepEqual([forget(two, "x"), forget(two, "*"), keptKeys(two)], [false, true, []]);
      assert.deepEqual(originsKept(), [one]);
    });

    test("are for their user alone, also where others could read them before", () => {
      keep("https://a.example", key("*", "4"));
      assert.deepEqual([statSync(file()).mode & 0o777, statSync(keysFolder()).mode & 0o777], [0o600, 0o700]);
      chmodSync(file(), 0o644);
      assert.equal(keptKeys("https://a.example").length, 1);
      assert.equal(statSync(file()).mode & 0o777, 0o600);
      assert.equal(readdirSync(keysFolder()).length, 1, "no part of a write is left");
    });

    test("in a file that is damaged are asked for again", () => {
      writeFileSync(file(), "{");
      assert.throws(() => keptKeys("https://a.example"), { message: /is damaged; sign in again with: npx a2a-edge login --url https:\/\/a\.example$/ });
      keep("https://a.example", key("*", "6"));
      assert.deepEqual(secrets("https://a.example"), [["*", "6"]]);
      writeFileSync(file(), JSON.stringify({ keys: [1, null, { agent: "*", secret: "x", slot: { in: "header", name: "a\nb" } }, key("*", "k\n"), key("*", "")] }));
      assert.deepEqual(keptKeys("https://a.example"), []);
      assert.match(readFileSync(file(), "utf8"), /keys/);
    });
  });
});

test("every command tells what it does, and what its options do", async () => {
  for (const name of Object.keys(OPERATE)) {
    const { does, options = {}, run } = await commandOf(name);
    assert.match(does, /^[A-Z].*\.$/, name);
    assert.equal(typeof run, "function");
    for (const [option, { type, value, does }] of Object.entries(options)) assert.ok(does && (type === "boolean") === (value === undefined), `${name} --${option}`);
  }
});
