// Bodies posted to callbacks: bodies that exceed the room of a task, large bodies, and bodies that every callback
// refuses.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { beginAt, bodiesOf, CHUNK, chunk, DECLARED, MEBIBYTE, MINUTE_MS, post, postPart, statusOf } from "./callback.ts";
import { Agent, textOf, until, untilEnded } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { only } from "./mcp.ts";

let worker: Worker;
let patient: Agent;
before(async () => {
  worker = await startWorker();
  patient = new Agent(`${worker.url}/patient`);
});
after(() => worker.stop());

describe("a callback of a task that is full", () => {
  const KIBIBYTE = 1024;
  let small: Worker;
  let agent: Agent;
  before(async () => {
    small = await startWorker({ vars: { MAX_TASK_BYTES: String(256 * KIBIBYTE) } });
    agent = new Agent(`${small.url}/patient`);
  });
  after(() => small.stop());

  for (const [what, contentType, body] of [
    ["text", "text/plain", (fill: string, bytes: number): string | Uint8Array<ArrayBuffer> => fill.repeat(bytes)],
    ["bytes", "image/png", (fill: string, bytes: number): string | Uint8Array<ArrayBuffer> => new Uint8Array(bytes * 0.75).fill(255 - fill.charCodeAt(0) % 8)],
  ] as const) {
    test(`refuses ${what} for which there is no room, and takes what fits; the task goes on to its end`, async () => {
      const { id, url } = await beginAt(agent, `callbacks ${MINUTE_MS}`);
      const given: number[] = [];
      const take = async (fill: string, kibibytes: number): Promise<void> => {
        assert.equal(await statusOf(post(url, body(fill, kibibytes * KIBIBYTE), { "content-type": contentType })), 202);
        given.push(kibibytes);
        await until(() => agent.getTask(id), (task) => bodiesOf(task).length === given.length);
      };
      await take("a", 90);
      await small.evict(id);
      await take("b", 90);
      const refused = await post(url, body("c", 90 * KIBIBYTE), { "content-type": contentType });
      const { error } = (await refused.json()) as { error: { message: string; status: string } };
      assert.deepEqual([refused.status, error.status], [413, "RESOURCE_EXHAUSTED"]);
      assert.match(error.message, /has no room for \d+ bytes more: it holds \d+ of the 229376 that posts may fill; post a smaller body/);
      assert.equal((await agent.getTask(id)).status.state, "TASK_STATE_SUBMITTED");
      await small.kill9();
      await small.restart();
      await take("d", 20);
      const ended = await untilEnded(agent, id);
      assert.equal(ended.status.state, "TASK_STATE_COMPLETED", textOf(ended.status.message));
      assert.deepEqual(bodiesOf(ended).map((part) => Math.round((part?.text ?? part?.raw ?? "").length / KIBIBYTE)), given);
    });
  }
});

describe("a large body", () => {
  test("to what is no callback is answered before it was sent", async () => {
    const { id, url } = await beginAt(patient);
    const foreign = `${url.slice(0, -128)}${"0".repeat(64)}${url.slice(-64)}`;
    const used = await beginAt(patient);
    assert.equal(await statusOf(post(used.url, "paid")), 202);
    for (const wrong of [`${url.slice(0, -64)}${"0".repeat(64)}`, foreign, used.url, `${url}0`]) {
      for (const [headers, part] of [[[DECLARED], "x"], [["transfer-encoding: chunked"], chunk("x".repeat(CHUNK))]] as const) {
        const asked = await postPart(wrong, [...headers], part);
        assert.equal(asked.status, 404, `${wrong} ${headers[0]}`);
        asked.close();
      }
    }
    assert.equal((await patient.getTask(id)).status.state, "TASK_STATE_SUBMITTED");
    await patient.cancelTask(id);
  });

  test("to a callback is waited for, and taken when it is there", async () => {
    for (const [headers, part, rest] of [
      [[DECLARED], "x", "x".repeat(MEBIBYTE - 1)],
      [["transfer-encoding: chunked"], chunk("x".repeat(CHUNK)), `${chunk("x".repeat(MEBIBYTE - CHUNK))}0\r\n\r\n`],
    ] as const) {
      const { id, url } = await beginAt(patient);
      await worker.evict(id);
      const asked = await postPart(url, [...headers], part);
      assert.equal(asked.status, undefined, "nothing is answered before it is there");
      asked.send(rest);
      assert.equal(await asked.answer, 202);
      asked.close();
      assert.equal(bodiesOf(await untilEnded(patient, id))[0]?.text?.length, MEBIBYTE);
    }
  });
});

test("posts that no callback takes count for their address, which is then refused by the head of its request", async () => {
  const access = { open: true, rate_limits: [{ by: "failures", binding: "GUESSES", period_s: 60 }] };
  const agents = only({ patient: { of: "patient", access } });
  const limited = await startWorker({ vars: { AGENTS: agents }, rateLimits: { GUESSES: { limit: 3, period: 60 } } });
  try {
    // The emulation of rate limits counts in full minutes.
    const left = MINUTE_MS - (Date.now() % MINUTE_MS);
    if (left < 20_000) await new Promise((resolve) => setTimeout(resolve, left));
    const agent = new Agent(`${limited.url}/patient`);
    const { id, url } = await beginAt(agent);
    const from = (address: string): Record<string, string> => ({ "cf-connecting-ip": address });
    const unknown = `${url.slice(0, -64)}${"0".repeat(64)}`;
    const tries = [
      (address: string) => post(`${url}0`, "x", from(address)),
      (address: string) => post(unknown, "x", from(address)),
      (address: string) => post(unknown, "x".repeat(70_000), from(address)),
    ];
    for (const [index, post] of tries.entries()) {
      const address = `192.0.2.${index + 1}`;
      for (let count = 0; count < 3; count++) assert.equal(await statusOf(post(address)), 404);
      const held = await post(address);
      assert.deepEqual([held.status, held.headers.get("retry-after")], [429, "60"], String(index));
      await held.text();
      const right = await postPart(url, [DECLARED, `cf-connecting-ip: ${address}`], "x");
      assert.equal(right.status, 429, "no answer tells that a guess is right, and its body is not waited for");
      right.close();
    }
    assert.equal(await statusOf(post(url, "paid", from("192.0.2.9"))), 202, "other addresses are not refused");
    assert.equal((await untilEnded(agent, id)).status.state, "TASK_STATE_COMPLETED");
  } finally {
    await limited.stop();
  }
});
