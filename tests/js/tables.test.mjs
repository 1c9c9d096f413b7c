// Where statements on the index run: in D1, in the shards of an owner, in those of all owners; and what is written to two places.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, test } from "node:test";
import { rowsOfOwner, selectRows, writeRows } from "../../js/tables.js";
import { DIRECTORY, INSERT, Namespace, SCHEMA, shard } from "./index-objects.mjs";

const IDS = JSON.stringify(["SELECT id FROM tasks ORDER BY id"]);

/** A database in place of D1. */
class D1 {
  database = new DatabaseSync(":memory:");
  isDown = false;

  constructor() {
    for (const step of SCHEMA.slice(1)) this.database.exec(step);
  }

  prepare(sql) {
    return {
      bind: (...values) => ({
        all: async () => {
          if (this.isDown) throw new Error("D1 is down");
          return { results: this.database.prepare(sql).all(...values).map((row) => ({ ...row })) };
        },
      }),
    };
  }
}

/** @type {{ DB: D1, TASKS: Namespace }} */
let env;
beforeEach(() => {
  env = { DB: new D1(), TASKS: new Namespace() };
});

const write = (kinds, owner, id, { number = 0, agent = "demo", limits = [1_000, 1e9] } = {}) =>
  writeRows(env, kinds, JSON.stringify({ owner, shard: number, agent, limits }), JSON.stringify([INSERT, owner, agent, 5, id]));
const select = async (kind, whose, statement = IDS) => (await selectRows(env, kind, JSON.stringify(whose), statement)).rows;
const idsOf = (rows) => rows.map(({ id }) => id).sort();

describe("rows of an owner", () => {
  test("are in D1, or in the owner's object", async () => {
    await write("d1", "ann", "a");
    await write("objects", "ann", "b");
    assert.deepEqual(await select("d1", { owner: "ann" }), [{ id: "a" }]);
    assert.deepEqual(await select("objects", { owner: "ann" }), [{ id: "b" }]);
    assert.deepEqual(await select("objects", { owner: "bob" }), []);
    assert.deepEqual([await rowsOfOwner(env, "", IDS), await rowsOfOwner(env, '"ann"', IDS)], [[{ id: "a" }], [{ id: "b" }]]);
  });

  test("come from all shards, each with its shard; a list that one statement cannot give is left to Rust", async () => {
    await write("objects", "ann", "a", { limits: [0, 1e9] });
    const { shards } = await selectRows(env, "objects", '{"owner":"ann"}', IDS);
    assert.equal(shards, 2);
    await write("objects", "ann", "b", { number: 1 });
    assert.deepEqual(await select("objects", { owner: "ann" }), [{ id: "a", shard: 0 }, { id: "b", shard: 1 }]);
    assert.deepEqual(await select("objects", { owner: "ann", shard: 1 }), [{ id: "b" }]);
    assert.equal(await rowsOfOwner(env, '"ann"', IDS), undefined);
  });
});

describe("rows of all owners", () => {
  test("come from the shards that the directory has for the agent", async () => {
    await write("objects", "ann", "a");
    await write("objects", "bob", "b", { agent: "other" });
    await write("objects", "bob", "c");
    assert.deepEqual(idsOf(await select("objects", { agent: "demo" })), ["a", "b", "c"]);
    assert.deepEqual(idsOf(await select("objects", { agent: "other" })), ["b", "c"], "a statement names the agent itself");
    assert.deepEqual(idsOf(await select("objects", {})), ["a", "b", "c"]);
    assert.deepEqual(idsOf(await select("objects", { shards: [["ann", 0]] })), ["a"]);
  });

  test("of more than a thousand are asked by other objects, which store nothing", async () => {
    await write("objects", "ann", "a");
    const many = "INSERT INTO index_shards SELECT 'demo', printf('owner %05d', value), 0, 1 FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 2300) SELECT value FROM n)";
    env.TASKS.at(DIRECTORY).database.exec(many);
    await write("objects", "owner 02000", "b");
    assert.deepEqual(idsOf(await select("objects", { agent: "demo" })), ["a", "b"]);
    for (const nth of [0, 1, 2]) assert.deepEqual(env.TASKS.rows(JSON.stringify({ index: [nth] }), "SELECT name FROM sqlite_master"), []);
  });

  test("are refused if one of them does not answer", async () => {
    for (const owner of ["ann", "bob"]) await write("objects", owner, owner);
    env.TASKS.at(shard("bob", 0)).database.exec("DROP TABLE tasks");
    await assert.rejects(select("objects", { agent: "demo" }), /no such table/);
  });
});

describe("what is written to two places", () => {
  test("is in both", async () => {
    await write("d1 objects", "ann", "a");
    for (const kind of ["d1", "objects"]) assert.deepEqual(await select(kind, { owner: "ann" }), [{ id: "a" }]);
  });

  test("is not known to be written if one of them does not answer", async () => {
    env.DB.isDown = true;
    await assert.rejects(write("objects d1", "ann", "a"), /D1 is down/);
    assert.deepEqual(await select("objects", { owner: "ann" }), [{ id: "a" }], "the next attempt writes it again");
  });
});
