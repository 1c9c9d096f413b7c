// What goes wrong on purpose: dev/fault.js over responses as agents give them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { answerWith } from "../../dev/fault.js";

const ORIGIN = "http://a.example";

/** A stream of these pieces of text. */
function streamOf(...pieces) {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const event = (id) => `id: ${id}\ndata: {"event":${id}}\n\n`;

/** The text of a stream that goes through a fault. */
const throughFault = async (fault, ...pieces) => (await answerWith(fault, ORIGIN, () => streamOf(...pieces))).text();

describe("an answer in place of the agent's", () => {
  test("comes without the agent", async () => {
    const fault = { status: 503, headers: { "Retry-After": "2", "Content-Type": "text/html" }, body: "<p>later</p>" };
    const response = await answerWith(fault, ORIGIN, () => assert.fail("the agent is asked"));
    assert.deepEqual([response.status, await response.text()], [503, "<p>later</p>"]);
    assert.deepEqual([response.headers.get("retry-after"), response.headers.get("content-type")], ["2", "text/html"]);
  });

  test("has the status 200 where a body alone is given, and may have no body", async () => {
    const never = () => assert.fail("the agent is asked");
    assert.equal((await answerWith({ body: "x" }, ORIGIN, never)).status, 200);
    assert.equal(await (await answerWith({ status: 204 }, ORIGIN, never)).text(), "");
  });

  test("comes after the agent's was lost", async () => {
    let asked = 0;
    let isCanceled = false;
    const stream = new ReadableStream({ cancel: () => void (isCanceled = true) });
    const response = await answerWith({ status: 502, lost: true }, ORIGIN, () => {
      asked += 1;
      return new Response(stream);
    });
    assert.deepEqual([response.status, asked, isCanceled], [502, 1, true]);
  });
});

test("headers alone are set on the agent's answer", async () => {
  const response = await answerWith({ headers: { "content-type": "text/html" } }, ORIGIN, () => Response.json({ a: 1 }));
  assert.deepEqual([response.headers.get("content-type"), await response.json()], ["text/html", { a: 1 }]);
});

describe("a card that lies", () => {
  const card = { name: "a", url: "http://a.example/a", capabilities: { streaming: true, extensions: [] } };
  const fetched = () => Response.json(card, { headers: { etag: '"1"', "cache-control": "max-age=300" } });

  test("says otherwise what it is told, and nobody keeps it", async () => {
    const lies = { url: "http://internal.example/a", own: "{origin}/a", capabilities: { streaming: false } };
    const response = await answerWith({ card: lies, card_without: ["name", "none"] }, ORIGIN, fetched);
    assert.deepEqual(await response.json(), {
      url: "http://internal.example/a",
      own: "http://a.example/a",
      capabilities: { streaming: false, extensions: [] },
    });
    assert.deepEqual([response.headers.get("etag"), response.headers.get("cache-control")], [null, "no-store"]);
  });

  test("is not made of an error", async () => {
    const response = await answerWith({ card: { name: "x" } }, ORIGIN, () => new Response("no", { status: 404 }));
    assert.deepEqual([response.status, await response.text()], [404, "no"]);
  });
});

describe("a stream", () => {
  const all = [event(1), event(2), event(3)];

  test("comes whole where no fault is meant for it, however it is cut", async () => {
    const text = `: hello\n\n${all.join("")}`;
    for (const size of [1, 7, 1000]) {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g"));
      assert.equal(await throughFault({ event_wait_ms: 0 }, ...pieces), text);
    }
  });

  test("ends after some events, comments not counted", async () => {
    assert.equal(await throughFault({ close_after: 2 }, event(1), ": alive\n\n", event(2), event(3)), `${event(1)}: alive\n\n${event(2)}`);
    assert.equal(await throughFault({ close_after: 0 }, ...all), "");
    assert.equal(await throughFault({ close_after: 9 }, ...all), all.join(""));
  });

  test("ends with the event that it is to end with, and not when the next one comes", async () => {
    const encoder = new TextEncoder();
    const silent = new ReadableStream({ start: (controller) => controller.enqueue(encoder.encode(event(1))) });
    const answer = () => new Response(silent, { headers: { "content-type": "text/event-stream" } });
    assert.equal(await (await answerWith({ close_after: 1 }, ORIGIN, answer)).text(), event(1));
  });

  test("ends with half an event", async () => {
    const text = await throughFault({ close_after: 1, half_event: true }, ...all);
    assert.equal(text, event(1) + event(2).slice(0, event(2).length / 2));
  });

  test("breaks off", async () => {
    const response = await answerWith({ close_after: 1, abort: true }, ORIGIN, () => streamOf(...all));
    await assert.rejects(response.text(), /breaks the connection/);
  });

  test("has other data in an event, or lacks it", async () => {
    const text = await throughFault({ events: { 1: "", 2: "{not json", 3: "a\nb" } }, ...all);
    assert.equal(text, "id: 2\ndata: {not json\n\nid: 3\ndata: a\ndata: b\n\n");
  });

  test("is nothing else: an answer that is none is left alone", async () => {
    const response = await answerWith({ close_after: 0, events: { 1: "x" } }, ORIGIN, () => Response.json([1]));
    assert.deepEqual(await response.json(), [1]);
  });
});
