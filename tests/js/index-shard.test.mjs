// The objects of the index: shards and the directory, as an object runs their statements.
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { DIRECTORY, INSERT, Namespace, SCHEMA, shard } from "./index-objects.mjs";

/** @type {Namespace} */
let namespace;
beforeEach(() => {
  namespace = new Namespace();
});

const write = (owner, agent, id, { number = 0, writes = 1_000, bytes = 1e9, at = 5 } = {}) =>
  namespace.get(shard(owner, number)).index([INSERT, [owner, agent, at, id], [agent, owner, number, writes, bytes]]);
const read = (owner, sql = "SELECT id FROM tasks ORDER BY id", number = 0) => namespace.get(shard(owner, number)).index([sql, []]);
const entries = () => namespace.rows(DIRECTORY, "SELECT agent, owner, shard, times FROM index_shards");

describe("a shard", () => {
  test("stays empty if it is only read", async () => {
    assert.deepEqual(await read("ann"), { rows: [], shards: 1 });
    assert.deepEqual(namespace.rows(shard("ann", 0), "SELECT name FROM sqlite_master"), []);
  });

  test("has what was written, also after its memory is lost", async () => {
    await write("ann", "demo", "a");
    await write("ann", "demo", "b");
    namespace.evict(shard("ann", 0));
    assert.deepEqual(await read("ann"), { rows: [{ id: "a" }, { id: "b" }], shards: 1 });
  });

  test("is in the directory before its first row of an agent, and is entered once", async () => {
    namespace.isDown = true;
    await assert.rejects(write("ann", "demo", "a"), /down/);
    assert.deepEqual(await read("ann"), { rows: [], shards: 1 });
    namespace.isDown = false;
    await write("ann", "demo", "a");
    await write("ann", "other", "b");
    namespace.evict(shard("ann", 0));
    await write("ann", "demo", "c");
    assert.deepEqual(entries(), [
      { agent: "demo", owner: "ann", shard: 0, times: 1 },
      { agent: "other", owner: "ann", shard: 0, times: 1 },
    ]);
  });

  test("that forgot that it is in the directory enters itself again", async () => {
    await write("ann", "demo", "a");
    await namespace.get(shard("ann", 0)).index(["UPDATE index_state SET value = 0 WHERE name = 'agent demo'", [], []]);
    await write("ann", "demo", "b");
    assert.deepEqual(entries(), [{ agent: "demo", owner: "ann", shard: 0, times: 2 }]);
  });

  test("takes the steps of a later schema, and only those", async () => {
    await write("ann", "demo", "a");
    namespace.schema = [...SCHEMA, "ALTER TABLE tasks ADD COLUMN more TEXT"];
    namespace.evict(shard("ann", 0));
    assert.deepEqual((await read("ann", "SELECT id, more FROM tasks")).rows, [{ id: "a", more: null }]);
    namespace.evict(shard("ann", 0));
    assert.deepEqual((await read("ann", "SELECT id, more FROM tasks")).rows, [{ id: "a", more: null }]);
  });

  test("refuses a statement that SQLite refuses, and goes on", async () => {
    await write("ann", "demo", "a");
    await assert.rejects(write("ann", "demo", "a"), /UNIQUE/);
    await assert.rejects(read("ann", "SELECT missing FROM tasks"), /no such column/);
    assert.deepEqual((await read("ann")).rows, [{ id: "a" }]);
  });
});

describe("the number of shards", () => {
  test("doubles with more writes than shard 0 may take in ten seconds, up to 64", async (context) => {
    context.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
    const seen = [];
    for (let number = 0; number < 40; number++) seen.push((await write("ann", "demo", `${number}`, { writes: 4 })).shards);
    assert.deepEqual(seen.slice(0, 5), [1, 1, 1, 1, 2]);
    assert.equal(seen.at(-1), 64);
    namespace.evict(shard("ann", 0));
    assert.equal((await read("ann")).shards, 64);
  });

  test("stays as it is while writes come slowly, and if another shard takes many", async (context) => {
    context.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
    for (let number = 0; number < 20; number++) {
      await write("ann", "demo", `${number}`, { writes: 4 });
      context.mock.timers.tick(2_500);
      await write("ann", "demo", `other ${number}`, { writes: 4, number: 1 });
      await write("ann", "demo", `third ${number}`, { writes: 4, number: 1 });
    }
    assert.equal((await read("ann")).shards, 1);
  });

  test("doubles when shard 0 is too large, and again when it has grown as much for each shard", async () => {
    await write("ann", "demo", "a", { bytes: 100 });
    const object = namespace.at(shard("ann", 0));
    const after = async (size, id) => {
      object.size = size;
      return (await write("ann", "demo", id, { bytes: 100 })).shards;
    };
    assert.deepEqual([await after(100, "b"), await after(101, "c"), await after(200, "d"), await after(201, "e")], [1, 2, 2, 4]);
  });
});
