// Bodies that are refused before they are read, under `npm start`: the client sees the answer, whatever it still sends (dev/body.js).
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { message } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { MEBIBYTE, post } from "./hostile-bodies.ts";

/** How often a body is sent: without dev/body.js, some of its answers arrive by chance. */
const TIMES = 5;

let worker: Worker;
before(async () => (worker = await startWorker({ hasDev: true })));
after(() => worker.stop());

/** How a body is sent. */
interface Manner {
  /** False to send the body without its length. */
  isDeclared?: boolean;
  /** The body is sent in pieces of this many bytes, with this pause between two. */
  piece?: number;
  pauseMs?: number;
  /** The body stops after this many bytes, and the connection stays open. */
  stopsAfter?: number;
}

/** Posts a body of spaces over a new connection; returns the status, and the time until it arrives. */
function send(path: string, bytes: number, { isDeclared = true, piece = 64 * 1024, pauseMs = 0, stopsAfter = bytes }: Manner = {}): Promise<{ status: number; ms: number }> {
  const begun = performance.now();
  const length = isDeclared ? { "content-length": bytes } : { "transfer-encoding": "chunked" };
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "a2a-version": "1.0", ...length };
    const sent = request(worker.url + path, { method: "POST", headers, agent: false }, (response) => {
      const ms = performance.now() - begun;
      response.resume().on("error", reject).on("end", () => {
        resolve({ status: response.statusCode ?? 0, ms });
        sent.destroy();
      });
    }).on("error", reject);
    const write = async (): Promise<void> => {
      for (let at = 0; at < stopsAfter && !sent.destroyed; at += piece) {
        const isTaken = sent.write(Buffer.alloc(Math.min(piece, stopsAfter - at), " "));
        if (pauseMs > 0) await wait(pauseMs);
        else if (!isTaken) await once(sent, "drain");
      }
      if (stopsAfter === bytes) sent.end();
    };
    write().catch(reject);
  });
}

describe("a body beyond its bound is answered each time", () => {
  for (const isDeclared of [true, false]) {
    for (const bytes of [4 * MEBIBYTE + 1, 5 * MEBIBYTE, 30 * MEBIBYTE]) {
      test(`${bytes} bytes ${isDeclared ? "with" : "without"} their length: 413`, async () => {
        for (let time = 0; time < TIMES; time++) assert.equal((await send("/demo", bytes, { isDeclared })).status, 413);
      });
    }
  }

  for (const [path, status] of [["/nowhere/at/all", 404], ["/_dev/received", 405]] as const) {
    test(`at ${path}, where no body is read: ${status}`, async () => {
      for (let time = 0; time < TIMES; time++) assert.equal((await send(path, 5 * MEBIBYTE)).status, status);
    });
  }

  test("sent slowly: 413 once it is sent", async () => {
    const { status, ms } = await send("/demo", 5 * MEBIBYTE, { piece: 256 * 1024, pauseMs: 100 });
    assert.equal(status, 413);
    assert.ok(ms > 1_500, `after ${ms} ms`);
  });
});

describe("a client that does not come to its end is answered", () => {
  test("when it has stopped for two seconds", async () => {
    const { status, ms } = await send("/demo", 5 * MEBIBYTE, { stopsAfter: MEBIBYTE });
    assert.equal(status, 413);
    assert.ok(ms > 1_900 && ms < 6_000, `after ${ms} ms`);
  });

  test("after ten seconds, however slowly it sends", async () => {
    const { status, ms } = await send("/demo", 100 * MEBIBYTE, { piece: 1024, pauseMs: 100 });
    assert.equal(status, 413);
    assert.ok(ms > 9_000 && ms < 20_000, `after ${ms} ms`);
  });
});

test("a body within its bound arrives whole, in one piece and in many, and slowly", async () => {
  const text = "ä".repeat(MEBIBYTE);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: message(text) } });
  const answer = await post(`${worker.url}/demo`, body);
  const { result } = JSON.parse(answer.text) as { result: { task: { artifacts: { parts: { text: string }[] }[] } } };
  assert.equal(result.task.artifacts[0]?.parts[0]?.text, text);
  // Spaces alone are not JSON: 200 with the error of the parser, after all of them have arrived.
  assert.equal((await send("/demo", 3 * MEBIBYTE, { piece: 512 * 1024, pauseMs: 100 })).status, 200);
  assert.equal((await send("/demo", 300, { piece: 100, pauseMs: 100, isDeclared: false })).status, 200);
});
