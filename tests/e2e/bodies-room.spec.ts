// The memory for simultaneous bodies: stalled bodies do not keep other bodies out.
import assert from "node:assert/strict";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { slowBodies } from "../../bench/attacks/slow-bodies.ts";
import { message, type Reply } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { MEBIBYTE, post } from "./hostile-bodies.ts";

const KIBIBYTE = 1024;

let worker: Worker;
before(async () => (worker = await startWorker()));
after(() => worker.stop());

/** A send of a text with this number of characters. */
function send(length: number): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: message("x".repeat(length)) } });
}

/** Sends a body in two pieces, without its length, and returns the status of the answer. */
function postChunked(body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "a2a-version": "1.0", "transfer-encoding": "chunked" };
    const sent = request(`${worker.url}/demo`, { method: "POST", headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode)).on("error", reject);
    });
    sent.on("error", reject).write(body.slice(0, 100));
    sent.end(body.slice(100));
  });
}

/** Requests of honest callers during an attack, repeated for a while: each must be answered. */
async function assertAnswered(): Promise<void> {
  const ends = performance.now() + 3_000;
  const repeat = async (what: string, sent: () => Promise<number | undefined>) => {
    do assert.equal(await sent(), 200, what);
    while (performance.now() < ends);
  };
  await Promise.all([
    repeat("1 MB", async () => (await post(`${worker.url}/demo`, send(MEBIBYTE))).status),
    repeat("300 KB", async () => (await post(`${worker.url}/demo`, send(300_000))).status),
    repeat("a few bytes in pieces", () => postChunked(send(10))),
    repeat("40 KB in pieces", () => postChunked(send(40_000))),
    repeat("300 KB in pieces", () => postChunked(send(300_000))),
  ]);
}

/** Begins a post over a new connection, with this part of its body. */
function begin(headers: string[], body: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(new URL(worker.url).port), host: "127.0.0.1" }).on("error", () => {});
    const head = ["POST /demo HTTP/1.1", "host: x", "a2a-version: 1.0", "content-type: application/json", ...headers, "", ""];
    socket.write(head.join("\r\n") + body, () => resolve(socket));
  });
}

describe("honest bodies are answered", () => {
  for (const attack of slowBodies) {
    test(`beside ${attack.name}`, async () => {
      const running = await attack.begin(worker);
      // Waits until all bytes sent at once have arrived.
      await wait(SETTLED_MS);
      await assertAnswered().finally(() => running.stop());
    });
  }

  test("beside 300 small bodies without a length that stand still, from many addresses", async () => {
    const size = 60 * KIBIBYTE;
    const chunk = `${size.toString(16)}\r\n${" ".repeat(size)}\r\n`;
    const address = (index: number) => `198.51.100.${index % 100}`;
    const begun = Array.from({ length: 300 }, (_, index) => begin(["transfer-encoding: chunked", `cf-connecting-ip: ${address(index)}`], chunk));
    const still = await Promise.all(begun);
    await wait(SETTLED_MS);
    await assertAnswered().finally(() => still.forEach((socket) => socket.destroy()));
  });
});

test("a body that stands still gives way, and is answered 503 with Retry-After and what to do when it ends (§9.5)", async () => {
  const [length, missing] = [4 * MEBIBYTE, 100];
  const head = [`content-length: ${length}`, "connection: close"];
  const still = await Promise.all(Array.from({ length: 4 }, () => begin(head, " ".repeat(length - missing))));
  const answers = still.map((socket) => new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (data) => (text += data.toString())).on("close", () => resolve(text));
  }));
  await wait(SETTLED_MS);
  assert.equal((await post(`${worker.url}/demo`, send(MEBIBYTE))).status, 200);
  for (const socket of still) socket.write(" ".repeat(missing));
  const refused = (await Promise.all(answers)).filter((answer) => !answer.startsWith("HTTP/1.1 200 "));
  assert.ok(refused.length > 0 && refused.length < still.length, `${refused.length} gave way`);
  for (const answer of refused) {
    assert.match(answer, /^HTTP\/1\.1 503 /);
    assert.match(answer, /\r\nretry-after: 1\r\n/i);
    const reply = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))) as Reply;
    assert.equal(reply.error?.message, "too many bodies are being received; send this one again, without pauses in it");
  }
});

/** How long attacks are stalled before the other requests are sent. */
const SETTLED_MS = 2_000;
