// Callback URLs of a run, and posts to them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { beginAt, bodiesOf, MEBIBYTE, MINUTE_MS, post, statusOf } from "./callback.ts";
import { Agent, textOf, until, untilEnded } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { attemptOf } from "./steps.ts";

let worker: Worker;
let patient: Agent;
before(async () => {
  worker = await startWorker();
  patient = new Agent(`${worker.url}/patient`);
});
after(() => worker.stop());

/** Begins a task that waits for a callback; returns its id and the URL of the callback. */
async function begin(text?: string): Promise<{ id: string; url: string }> {
  const { id, url } = await beginAt(patient, text);
  assert.ok(url.startsWith(`${worker.url}/patient/callbacks/${id}`), url);
  return { id, url };
}

/** JSON beyond the limits of bodies. */
const [MANY, DEEP] = [`[${"0,".repeat(100_000)}0]`, "[".repeat(101) + "]".repeat(101)];

/** The answer of a callback that has ended or never existed. */
async function over(response: Promise<Response>): Promise<{ status: number; body: string }> {
  const answer = await response;
  return { status: answer.status, body: await answer.text() };
}

describe("a callback", () => {
  test("wakes the run with its body, from an object that was evicted, and is over then", async () => {
    const { id, url } = await begin();
    await worker.evict(id);
    const answer = await post(url, JSON.stringify({ amount: 49 }), { "content-type": "application/json" });
    assert.deepEqual([answer.status, await answer.json()], [202, { accepted: true }]);
    const ended = await untilEnded(patient, id);
    assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(bodiesOf(ended), [{ data: { amount: 49 }, mediaType: "application/json" }]);
    assert.equal(attemptOf(ended), 1);
    assert.equal(await statusOf(post(url, "again")), 404);
  });

  for (const [what, body, contentType, expected] of [
    ["text", "paid", "text/plain;charset=UTF-8", { text: "paid", mediaType: "text/plain;charset=UTF-8" }],
    ["a form", "a=1&b=2", "application/x-www-form-urlencoded", { text: "a=1&b=2", mediaType: "application/x-www-form-urlencoded" }],
    ["bytes", new Uint8Array([0, 255, 1]), "image/png", { raw: "AP8B", mediaType: "image/png" }],
    ["JSON that is none", "{", "application/json", { text: "{", mediaType: "application/json" }],
    ["JSON of too many values", MANY, "application/json", { text: MANY, mediaType: "application/json" }],
    ["JSON that is nested too deep", DEEP, "application/json", { text: DEEP, mediaType: "application/json" }],
    ["an event as JSON", "[null]", "application/cloudevents+json", { data: [null], mediaType: "application/cloudevents+json" }],
  ] as const) {
    test(`takes ${what}`, async () => {
      const { id, url } = await begin();
      assert.equal(await statusOf(post(url, body as string, { "content-type": contentType })), 202);
      assert.deepEqual(bodiesOf(await untilEnded(patient, id)), [expected]);
    });
  }

  test("takes a body of 1 MiB and none that is larger, declared or not", async () => {
    const { id, url } = await begin();
    const large = "x".repeat(MEBIBYTE + 1);
    assert.equal(await statusOf(post(url, large)), 413);
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(large));
        controller.close();
      },
    });
    assert.equal(await statusOf(fetch(url, { method: "POST", body: stream, duplex: "half" } as RequestInit)), 413);
    assert.equal((await patient.getTask(id)).status.state, "TASK_STATE_SUBMITTED");
    const full = large.slice(1);
    assert.equal(await statusOf(post(url, full)), 202);
    assert.equal(bodiesOf(await untilEnded(patient, id))[0]?.text?.length, MEBIBYTE);
  });

  test("that is to be used once takes one of three posts at the same time", async () => {
    for (const isEvicted of [true, false]) {
      const { id, url } = await begin();
      if (isEvicted) await worker.evict(id);
      const statuses = await Promise.all(["one", "two", "three"].map((body) => statusOf(post(url, body))));
      assert.deepEqual(statuses.sort(), [202, 404, 404]);
      assert.equal(bodiesOf(await untilEnded(patient, id)).length, 1);
    }
  });

  test("counts a post once that is repeated under its Idempotency-Key, also when it is used up", async () => {
    const { id, url } = await begin(`callbacks ${MINUTE_MS}`);
    for (const key of ["a", "a", "b", "b", "c", "c", "a"]) assert.equal(await statusOf(post(url, key, { "idempotency-key": key })), 202, key);
    assert.equal(await statusOf(post(url, "d", { "idempotency-key": "d" })), 404);
    assert.deepEqual(bodiesOf(await untilEnded(patient, id)).map((part) => part?.text), ["a", "b", "c"]);
  });

  test("of several uses gives the bodies in their order, through crashes", async () => {
    const { id, url } = await begin(`callbacks ${MINUTE_MS}`);
    for (const body of ["one", "two", "three"]) {
      await worker.kill9();
      await worker.restart();
      assert.equal(await statusOf(post(url, body)), 202);
    }
    await worker.kill9();
    await worker.restart();
    const ended = await untilEnded(patient, id);
    assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(bodiesOf(ended).map((part) => part?.text), ["one", "two", "three"]);
    assert.equal((ended.artifacts?.[0]?.parts[0]?.data as { url: string }).url, url);
  });

  test("takes a post, or says when to post again, right behind a crash", async () => {
    const { id, url } = await begin(`callback later 2000 ${MINUTE_MS}`);
    assert.equal(await statusOf(post(url, "one")), 202);
    // The run was woken, and parks again for the next body: the kill may happen before or after it parks.
    await worker.kill9();
    await worker.restart();
    const statuses = await until(async () => {
      const answer = await post(url, "two", { "idempotency-key": "two" });
      await answer.body?.cancel();
      return [answer.status, answer.headers.has("retry-after")] as const;
    }, ([status]) => status !== 503);
    assert.deepEqual(statuses, [202, false]);
    const ended = await untilEnded(patient, id);
    assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(bodiesOf(ended).map((part) => part?.text), ["one", "two"]);
  });

  test("that nobody posts to lets the run go on when its time is over", async () => {
    const { id, url } = await begin("callback 700");
    const ended = await untilEnded(patient, id);
    assert.equal(textOf(ended.status.message), "nobody has posted to the callback in time");
    assert.equal(await statusOf(post(url, "late")), 404);
  });
});

describe("what is no callback, or none any more", () => {
  test("is answered alike, whatever the reason", async () => {
    const { id, url } = await begin();
    const [path, token] = [url.slice(0, -128), url.slice(-64)];
    const finished = await begin();
    await patient.cancelTask(finished.id);
    const unused = await begin();
    const foreign = await new Agent(`${worker.url}/demo`).sendForTask("hello");
    const wrong = [
      url.replace("/patient/", "/demo/"),
      `${url.slice(0, -1)}${url.endsWith("0") ? "1" : "0"}`,
      `${path}${id}${"0".repeat(64)}`,
      `${path}${unused.id}${token}`,
      `${path}${foreign.id}${token}`,
      `${path}${"0".repeat(64)}${token}`,
      `${path}${id}`,
      `${path}${token}`,
      url.slice(0, -1),
      `${url}0`,
      url.toUpperCase().replace(`${worker.url}/patient/callbacks/`.toUpperCase(), path),
      `${path}tasks`,
      finished.url,
    ];
    const answers = await Promise.all(wrong.map((other) => over(post(other, "x"))));
    for (const [index, answer] of answers.entries()) {
      assert.equal(answer.status, 404, wrong[index]);
      assert.equal(answer.body, answers[0]?.body, wrong[index]);
    }
    assert.equal(await statusOf(post(url, "right")), 202, "and has used nothing up");
    await patient.cancelTask(unused.id);
  });

  test("of an agent that is not there is refused as any path of it", async () => {
    const { url } = await begin();
    assert.deepEqual([await statusOf(post(url.replace("/patient/", "/nobody/"), "x"))], [404]);
    assert.deepEqual([await statusOf(post(url.replace("/patient/", "/"), "x"))], [404]);
  });

  test("takes POST alone, and tells so", async () => {
    const { id, url } = await begin();
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "PATCH"]) {
      const answer = await fetch(url, { method });
      assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "POST, OPTIONS"], method);
      await answer.text();
    }
    const preflight = await fetch(url, { method: "OPTIONS", headers: { "access-control-request-headers": "content-type" } });
    assert.deepEqual([preflight.status, preflight.headers.get("allow")], [204, "POST, OPTIONS"]);
    assert.equal((await patient.getTask(id)).status.state, "TASK_STATE_SUBMITTED");
  });
});

test("a callback is at PUBLIC_URL, if that is set", async () => {
  const behind = await startWorker({ vars: { PUBLIC_URL: "https://agents.example" } });
  try {
    const agent = new Agent(`${behind.url}/patient`);
    const { id, url } = await beginAt(agent);
    assert.ok(url.startsWith(`https://agents.example/patient/callbacks/${id}`), url);
    assert.equal(await statusOf(post(url.replace("https://agents.example", behind.url), "paid")), 202);
    assert.deepEqual(bodiesOf(await untilEnded(agent, id)).map((part) => part?.text), ["paid"]);
  } finally {
    await behind.stop();
  }
});
