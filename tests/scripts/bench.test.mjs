// What benchmarks make of their measurements: medians, intervals, goals, pages; and that a server that hangs up does not end them.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { chunk, timesIn } from "../../bench/chunk.ts";
import { compare, isMet } from "../../bench/comparison/compared.ts";
import { contest, pooled } from "../../bench/comparison/contest.ts";
import { openStream } from "../../bench/comparison/streams.ts";
import { goals } from "../../bench/comparison/tables.ts";
import { spreadOf } from "../../bench/figures.ts";
import { Connections } from "../../bench/http.ts";
import { withFigures } from "../../bench/results/comparison-page.ts";
import { DISCIPLINES, SECTIONS, selected } from "../../bench/results/keys.ts";
import { page, plots } from "../../bench/results/page.ts";
import { combined, merged, readResults } from "../../bench/results/results.ts";
import { entry } from "../e2e/product.ts";

const docs = (name) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");

test("docs/benchmarks.md, its pictures and the figures of docs/comparison.md are made of bench/results.json", () => {
  const results = readResults();
  assert.equal(docs("benchmarks.md"), page(results));
  for (const { name, svg } of plots(results)) assert.equal(docs(`${name}.svg`), svg);
  assert.equal(docs("comparison.md"), withFigures(docs("comparison.md"), results));
});

const origin = { date: "2026-11-20", revision: "aaaaaaa", machine: "m", storage: "s", software: "w", runs: 1 };
const section = (title, cell) => ({ title, text: "Text.", columns: ["", "p50"], rows: [["row", cell]] });

test("sections that were measured again keep the others, and each says its date and revision", () => {
  const before = { compared: {}, sections: { requests: { origin, tables: [section("Requests", "1 ms")] }, lists: { origin, tables: [section("Lists", "2 ms")] } } };
  const newer = { ...origin, date: "2026-11-26", revision: "bbbbbbb", runs: 3 };
  const text = page(combined(before, { compared: {}, sections: { lists: { origin: newer, tables: [section("Lists", "3 ms")] } } }));
  assert.match(text, /## Requests\n\nText\.\n\nMeasured on 2026-11-20 at aaaaaaa\.\n\n[^#]*1 ms/);
  assert.match(text, /## Lists\n\nText\.\n\nMeasured on 2026-11-26 at bbbbbbb, 3 runs\.\n\n[^#]*3 ms/);
  assert.doesNotMatch(text, /2 ms/);
  assert.match(text, /\| 2026-11-26 \| +bbbbbbb \|.*`lists` \|/);
});

test("the tables of several runs have the medians of their numbers", () => {
  const runs = [["1,200 ms", "2 × 503, 1 × 200", "yes"], ["900 ms", "4 × 503, 1 × 200", "no"], ["1,000 ms", "3 × 503, 1 × 200", "no"]]
    .map((cells) => [{ title: "t", text: "", columns: [], rows: [["100,000", ...cells]] }]);
  assert.deepEqual(merged(runs)[0].rows, [["100,000", "1,000 ms", "3 × 503, 1 × 200", "yes"]]);
});

test("the interval of a median has the ranks of the sign test, and few rounds have none", () => {
  const rounds = (count) => Array.from({ length: count }, (_, index) => index + 1);
  assert.deepEqual(spreadOf(rounds(15)), { value: 8, rounds: 15, low: 4, high: 12 });
  assert.deepEqual(spreadOf(rounds(45).reverse()), { value: 23, rounds: 45, low: 17, high: 29 });
  assert.deepEqual(spreadOf(rounds(5)), { value: 3, rounds: 5, low: 1, high: 5 });
  assert.deepEqual(spreadOf(rounds(4)), { value: 2.5, rounds: 4 });
  assert.equal(spreadOf([]), undefined);
});

test("a goal is met if the farther end of the interval is within 5 % of it, over at least 15 rounds", () => {
  const spread = (low, high, rounds = 15) => ({ value: 1, low, high, rounds });
  for (const [goal, reached, met] of [
    [{ limit: 1 }, spread(0.9, 1.04), true],
    [{ limit: 1 }, spread(0.9, 1.06), false],
    [{ limit: 1, isRate: true }, spread(0.96, 2), true],
    [{ limit: 1, isRate: true }, spread(0.94, 2), false],
    [{ limit: 1 }, spread(0.9, 0.95, 14), undefined],
    [{ limit: 1 }, { value: 0.5, rounds: 15 }, undefined],
  ]) assert.equal(isMet(goal, reached), met, JSON.stringify([goal, reached]));
});

const taken = (role, name, values, figure = "cpuMs") => ({ role, name, rounds: values.map((value) => ({ [figure]: value })) });

test("ratios and differences are taken within a round, to the first entrant of a role", () => {
  const outcome = [
    taken("ours", "a2a-edge", [2, 40, 6, NaN]),
    taken("alternative", "TypeScript", [4, 20, 3, 1]),
    taken("floor", "first", [1, 10, 2, 1]),
    taken("floor", "second", [9, 9, 9, 9]),
  ];
  const figure = (goal) => compare("Row", [{ name: "cpuMs", title: "CPU", unit: " ms", goal }], outcome).figures[0];
  const ratio = figure({ to: "floor", limit: 3 });
  assert.deepEqual([ratio.values.ours, ratio.values.floor, ratio.ratios.alternative.value, ratio.ratios.floor.value], [6, 1.5, 2, 3]);
  assert.equal(ratio.reached.value, 3);
  assert.equal(figure({ to: "floor", by: "difference", limit: 3 }).reached.value, 4);
  assert.equal(figure({ limit: 3 }).reached.value, 6);
  assert.equal(ratio.values.agents, undefined);
});

test("the table of goals says what limits them, the interval, and whether there were enough rounds", () => {
  const fifteen = Array.from({ length: 15 }, (_, index) => 100 + index);
  const shown = (goal, rounds = fifteen) => {
    const compared = compare("Start", [{ name: "firstMs", title: "first answer", unit: " ms", goal }],
      [taken("ours", "a2a-edge", rounds, "firstMs"), taken("floor", "nothing", rounds.map(() => 50), "firstMs")]);
    return goals([compared]).rows[0].slice(2, 6);
  };
  assert.deepEqual(shown({ to: "floor", by: "difference", limit: 70 }), ["≤ 70 ms more than the floor", "57 ms", "53 to 61", "yes"]);
  assert.deepEqual(shown({ to: "floor", limit: 2 }), ["≤ 2× floor", "2.14×", "2.06 to 2.22", "no"]);
  assert.deepEqual(shown({ limit: 300 }, [100, 101]), ["≤ 300 ms", "101 ms", "", "2 of 15 rounds"]);
});

test("the rounds of several runs are put together", () => {
  const runs = [[1, 2], [3]].map((values) => [taken("ours", "a2a-edge", values), taken("floor", "floor", values)]);
  assert.deepEqual(pooled(runs).map(({ name, rounds }) => [name, rounds.map(({ cpuMs }) => cpuMs)]), [["a2a-edge", [1, 2, 3]], ["floor", [1, 2, 3]]]);
});

test("an entrant that fails in a contest is started again, and no round is lost", async (t) => {
  const errors = t.mock.method(process.stderr, "write", () => true);
  let [starts, stops] = [0, 0];
  const failing = {
    role: "ours",
    name: "failing",
    start: async () => ({ pid: starts++, stop: async () => void stops++ }),
    prepare: async ({ pid }) => {
      if (pid === 0) throw new Error("hung up while it was prepared");
      let round = 0;
      return async () => {
        round += 1;
        if (pid === 1 && round === 2) throw new Error("hung up");
        return { of: pid, round };
      };
    },
  };
  const steady = { role: "floor", name: "steady", start: async () => ({ pid: 100, stop: async () => {} }), prepare: async () => async () => ({ cpuMs: 1 }) };
  const outcome = await contest([failing, steady], 3, { giveTo: () => {} });
  assert.deepEqual(outcome[0].rounds, [{ of: 1, round: 1 }, { of: 2, round: 1 }, { of: 2, round: 2 }]);
  assert.equal(outcome[1].rounds.length, 3);
  assert.deepEqual([starts, stops], [3, 3]);
  assert.equal(errors.mock.callCount(), 2);
});

test("an entrant that always fails ends its contest with its error", async (t) => {
  t.mock.method(process.stderr, "write", () => true);
  const broken = { role: "ours", name: "broken", start: async () => ({ pid: 1, stop: async () => {} }), prepare: async () => Promise.reject(new Error("broken")) };
  await assert.rejects(contest([broken], 1, { giveTo: () => {} }), /broken/);
});

test("a request over a connection that the server has just closed is sent again", async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    let requests = 0;
    socket.on("error", () => {});
    socket.on("data", () => {
      requests += 1;
      // As workerd does with a connection that was idle for 15 seconds: closes it without having read the request.
      if (requests > 1) socket.destroy();
      else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  using pool = new Connections(1);
  const exchange = { url: `http://127.0.0.1:${server.address().port}/`, body: () => "{}", answer: "ok" };
  assert.equal(await pool.once(exchange), "ok");
  assert.equal(await pool.once(exchange), "ok");
  assert.equal(connections, 2);
  server.close();
  pool[Symbol.dispose]();
  await assert.rejects(pool.once(exchange), /ECONNREFUSED/);
});

test("a stream whose server hangs up fails, before its first event and after it", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (request) => {
      const event = "data: {}\n\n";
      socket.write(String(request).startsWith("GET /early") ? head : `${head}${event.length.toString(16)}\r\n${event}\r\n`, () => setImmediate(() => socket.destroy()));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  await assert.rejects(openStream(`${url}/early`));
  const { ended } = await openStream(`${url}/late`);
  await assert.rejects(ended);
  server.close();
});

test("--only selects rows and sections in the order of the page, and names unknown ones", () => {
  assert.deepEqual(selected(["console", "get", "send"]), ["send", "get", "console"]);
  assert.deepEqual(selected(["comparison"]), [...DISCIPLINES]);
  assert.throws(() => selected(["speed"]), new RegExp(`no section "speed".*${SECTIONS[0]}`));
});

test("the times of chunks are found in any text, and ids are not taken for them", () => {
  const text = JSON.stringify({ id: "1764150000000", text: chunk(1764150000123) + chunk(1764150000143) });
  assert.deepEqual(timesIn(text), [1764150000123, 1764150000143]);
});

test("an engine of another version is started by the js/ beside it, with agents of its version", async () => {
  const home = mkdtempSync(join(tmpdir(), "a2a-edge-other-"));
  try {
    const write = (path, text) => writeFileSync(join(home, path), text);
    for (const folder of ["js", "build"]) mkdirSync(join(home, folder));
    write("package.json", JSON.stringify({ name: "a2a-edge", version: "0.9.9" }));
    write("js/index.js", 'import { bridge } from "a2a-edge/engine"; export const TaskObject = bridge; export const executor = () => "the other interface"; export const tool = executor; export class Failure {} export class RunOver {} export const worker = ({ agents }) => agents;');
    write("build/engine.js", "const bridge = {}; export { bridge };");
    const made = await entry(join(home, "build"), undefined, { version: "0.5.0", index: "{}", agents: {} });
    assert.match(made, /the other interface/);
    assert.match(made, /"version": ?"0\.9\.9"/);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
