import assert from "node:assert/strict";
import { test } from "node:test";
import { testAgent } from "a2a-edge/testing";
import { archive } from "../src/archive.ts";

/** A bucket in memory, as far as the executor uses one. */
function bucket(files = new Map<string, string>()): R2Bucket {
  return {
    put: async (key: string, text: string) => void files.set(key, text),
    list: async ({ prefix = "" }) => ({ objects: [...files].filter(([key]) => key.startsWith(prefix)).map(([key, text]) => ({ key, size: text.length })) }),
  } as unknown as R2Bucket;
}

test("each caller sees what it has given", async () => {
  const FILES = bucket();
  for (const caller of ["key:ada", "key:bob"]) {
    const agent = await testAgent(archive, { env: { FILES }, caller: { id: caller, owner: caller } });
    const { id, artifacts } = await agent.send([{ data: { hello: caller } }]);
    assert.deepEqual(artifacts["result"]?.parts, [{ data: [{ key: `${caller}/${id}.json`, size: 19 }] }]);
  }
});
