// What each frame of an object comes to for a client, and what the object is asked when the socket drops.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { ClientStream, CloseCode, HEARTBEAT } from "../../js/client-stream.js";

/** A stream of task `t`, whose first hello is `hello` and whose hello after a drop is `{"t":N}`. */
function stream(plan) {
  const whole = {
    resume: ['{"', '":'], begins: false, isTurn: false, isNew: false, position: null, showsGeneration: false,
    form: null, refusesByStream: false, before: "", behind: "", headers: {}, ...plan,
  };
  return new ClientStream(whole, "t", "hello", {
    refuse: (failure, hasBegun, limit) => ({ status: 500, headers: {}, body: [failure, hasBegun, limit].join() }),
    opening: (json) => `1:${json}`,
    // Tells how many events it was asked for before, and ends at the word `last`.
    event: (form, json, generation, state) =>
      `${json.includes("last") ? 1 : 0}${Number(state) + 1}\n${form} ${generation} ${state} ${json}\n\n`,
  });
}

const newTask = (plan) => stream({ isTurn: true, isNew: true, ...plan });
const followUp = () => stream({ isTurn: true });
const subscription = (position = null) => stream({ position });

const plans = { silent: {
  resume: ["", ""], begins: false, isTurn: false, isNew: true, position: null, showsGeneration: false, refusesByStream: false,
  before: "", behind: "", headers: {},
} };

/** Takes a frame that can be read. */
function take(stream, frame) {
  const text = stream.take(frame);
  assert.notEqual(text, undefined, frame);
  return text;
}

const event = (generation, json) => `id: ${generation}\ndata: ${json}\n\n`;
const snapshot = (generation) => `S${generation}\n.{}`;

/** The pauses before a stream gives up, each with what the object is told then. */
function pausesUntilEnd(stream, fail) {
  const pauses = [];
  for (let pause = stream.pauseMs(); pause !== undefined; pause = stream.pauseMs()) {
    pauses.push([pause, stream.hello()]);
    fail();
  }
  return pauses;
}

describe("a client's stream", () => {
  test("of a new task begins with its first event", () => {
    const sent = newTask();
    assert.equal(sent.hello(), "hello");
    assert.equal(take(sent, "E1\n.a\n.b"), event(1, "a") + event(2, "b"));
    assert.ok(sent.hasBegun && !sent.isOver);
  });

  test("has each event between what the client's binding wants", () => {
    const sent = newTask({ before: '{"result":', behind: "}" });
    assert.equal(take(sent, "E1\n.a"), event(1, '{"result":a}'));
    assert.equal(take(sent, "M\nTm"), 'data: {"result":m}\n\n');
  });

  test("tells the generation in the first event of a task, where that is wanted", () => {
    assert.equal(take(newTask({ showsGeneration: true }), "E1\n.a\n.b"), event(1, "1:a") + event(2, "b"));
    const missed = stream({ position: 0, showsGeneration: true });
    assert.equal(take(missed, "E1\n.a"), event(1, "1:a"));
  });

  test("without a position waits for a snapshot and takes one", () => {
    const subscribed = subscription();
    assert.equal(take(subscribed, "E1\n.a"), "");
    assert.ok(!subscribed.hasBegun);
    assert.equal(take(subscribed, snapshot(3)), event(3, "{}"));
    assert.equal(take(subscribed, snapshot(4)), "");
    // The snapshot holds the event of generation 3.
    assert.equal(take(subscribed, "E3\n.c\n.d"), event(4, "d"));
  });

  test("asks for a missing event from its position", () => {
    const subscribed = subscription(2);
    assert.equal(take(subscribed, "E3\n.c"), event(3, "c"));
    assert.equal(take(subscribed, "E5\n.e"), "");
    assert.ok(subscribed.takeGap());
    assert.ok(!subscribed.takeGap());
    assert.equal(subscribed.pauseMs(), 0);
    assert.equal(subscribed.hello(), '{"t":3}');
    assert.equal(take(subscribed, "E4\n.d\n.e"), event(4, "d") + event(5, "e"));
  });

  test("ends when the task asks for input if it is a turn, and goes on if it is a subscription", () => {
    const sent = newTask();
    assert.equal(take(sent, "E1\nIa\n.b"), event(1, "a"));
    assert.ok(sent.isOver && !sent.isLeftToObject, "the object goes on, so the socket is closed here");
    const subscribed = subscription(0);
    assert.equal(take(subscribed, "E1\nIa\n.b"), event(1, "a") + event(2, "b"));
    assert.ok(!subscribed.isOver);
    assert.equal(take(subscribed, "E3\nTc"), event(3, "c"));
    assert.ok(subscribed.isOver && subscribed.isLeftToObject);
  });

  test("ends with a message instead of a task", () => {
    const sent = newTask();
    assert.equal(take(sent, 'M\nT{"message":{}}'), 'data: {"message":{}}\n\n');
    assert.ok(sent.isOver && sent.lastWord === "");
  });

  test("opens for a client that has missed nothing", () => {
    const subscribed = subscription(2);
    assert.equal(take(subscribed, "R\n"), HEARTBEAT);
    assert.equal(take(subscribed, "R\n"), "");
    assert.equal(subscribed.hello(), '{"t":2}');
  });

  test("is refused with the headers that the object gave and no others", () => {
    for (const [told, headers] of [
      ["", {}],
      [' {"retry-after":"5","www-authenticate":"Bearer a b"}', { "retry-after": "5", "www-authenticate": "Bearer a b" }],
      [' {"x":5}', {}],
      [" later", {}],
    ]) {
      const sent = newTask();
      assert.equal(take(sent, `X401${told}\n{"a":\n1}`), "");
      assert.ok(sent.isOver);
      assert.deepEqual(sent.refusal, { status: 401, headers: { "content-type": "application/json", ...headers }, body: '{"a":\n1}' });
    }
  });

  test("that has begun breaks off with an event", () => {
    const sent = newTask();
    take(sent, "E1\n.a");
    assert.equal(take(sent, "X500\n{}"), "event: error\ndata: {}\n\n");
    assert.ok(sent.isOver && sent.refusal === undefined);
  });

  test("that has not begun repeats the client's request a few times, and is refused", () => {
    const sent = newTask();
    const pauses = pausesUntilEnd(sent, () => sent.noteFailure());
    assert.deepEqual(pauses, [[0, "hello"], [50, "hello"], [100, "hello"]]);
    assert.equal(sent.refusal?.body, "failed,false,0");
    assert.ok(sent.isOver);
  });

  test("that has begun comes back as a subscription for about a minute", () => {
    const sent = newTask();
    take(sent, "E1\n.a");
    const pauses = pausesUntilEnd(sent, () => sent.noteClosed(1006));
    assert.ok(pauses.every(([pause, hello]) => pause <= 5_000 && hello === '{"t":1}'), String(pauses));
    const waited = pauses.reduce((sum, [pause]) => sum + pause, 0);
    assert.ok(waited > 30_000 && waited < 90_000, String(waited));
    assert.equal(sent.lastWord, "event: error\ndata: failed,true,0\n\n");
  });

  test("asks an object of another version again before the client is told", () => {
    const sent = newTask();
    const pauses = pausesUntilEnd(sent, () => sent.noteClosed(CloseCode.unreadable));
    assert.deepEqual(pauses.map(([pause]) => pause), [0, 50, 100]);
    assert.equal(sent.refusal?.body, "other-version,false,0");
  });

  test("asks for a frame of another version again after a pause", () => {
    for (const frame of ["", "E2", "Ex\n", "E\n", "E2.5\n.b", "S-1\n.b", "Z1\nx", "Xx\n{}", new ArrayBuffer(3), undefined]) {
      const sent = newTask();
      take(sent, "E1\n.a");
      assert.equal(sent.take(frame), undefined, String(frame));
      assert.ok(sent.takeGap());
      assert.deepEqual([sent.pauseMs(), sent.hello()], [50, '{"t":1}']);
      assert.equal(take(sent, "E2\n.b"), event(2, "b"));
      assert.equal(sent.pauseMs(), 0, "an event ends the count");
      pausesUntilEnd(sent, () => sent.take(frame));
      assert.equal(sent.lastWord, "event: error\ndata: other-version,true,0\n\n");
    }
  });

  test("counts only sockets that were lost or of another version as failures", () => {
    for (const [code, pause, isOver] of [
      [CloseCode.over, undefined, true],
      [CloseCode.more, 0, false],
      [CloseCode.tooSlow, 0, false],
      [CloseCode.unreadable, 50, false],
      [CloseCode.unavailable, 50, false],
      [1006, 50, false],
      [0, 50, false],
    ]) {
      const sent = newTask();
      take(sent, "E1\n.a");
      sent.noteClosed(code);
      assert.equal(sent.isOver, isOver, String(code));
      if (!isOver) assert.equal(sent.pauseMs(), pause, String(code));
    }
  });

  test("that has not begun is not over when its socket is closed", () => {
    const sent = newTask();
    sent.noteClosed(CloseCode.over);
    assert.ok(!sent.isOver);
    assert.equal(sent.pauseMs(), 50);
    const complete = subscription(4);
    complete.noteClosed(CloseCode.over);
    assert.ok(complete.isOver && complete.refusal === undefined, "the client has every event");
  });

  // The object may have handled the message before its socket dropped. Then it knows the repetition, and gives a snapshot.
  test("sends a follow-up again to an object that cannot open its task now", () => {
    const sent = followUp();
    for (const code of [1006, CloseCode.unavailable]) {
      sent.noteClosed(code);
      assert.notEqual(sent.pauseMs(), undefined);
      assert.equal(sent.hello(), "hello");
    }
    assert.equal(take(sent, snapshot(3)), event(3, "{}"));
  });

  test("is refused where a task has too many", () => {
    const subscribed = subscription();
    subscribed.endWith("too-many", 5);
    assert.equal(subscribed.refusal?.body, "too-many,false,5");
    assert.ok(subscribed.isOver);
  });
});

describe("the stream of a client of an older version", () => {
  const older = (plan) => stream({ form: "F", refusesByStream: true, headers: { "content-type": "text/event-stream" }, ...plan });

  test("has each event as Rust words it, by what was told before", () => {
    const sent = older({ isTurn: true, isNew: true });
    assert.equal(take(sent, "E1\n.a\n.b"), "F 1  a\n\nF 2 1 b\n\n");
    assert.equal(take(sent, "E3\n.c"), "F 3 2 c\n\n");
    assert.equal(take(older(), "M\nTm"), "F undefined  m\n\n");
  });

  test("ends with the event of which Rust says so, and with the end of the task", () => {
    const turn = older({ isTurn: true, isNew: true });
    assert.equal(take(turn, "E1\nIa\n.last\n.b"), "F 1  a\n\nF 2 1 last\n\n");
    assert.ok(turn.isOver && !turn.isLeftToObject);
    const ended = older();
    take(ended, "S5\nT{}");
    assert.ok(ended.isOver && ended.isLeftToObject);
  });

  test("is told nothing of an event that has no words in it", () => {
    const asked = [];
    const silent = new ClientStream({ ...plans.silent, form: "F" }, "t", "hello", { event: (...all) => (asked.push(all), "") });
    assert.equal(take(silent, "E1\n.a\n.b"), "");
    assert.deepEqual(asked, [["F", "a", 1, ""], ["F", "b", 2, ""]]);
  });

  test("is refused by a stream where the refusal has the status of a stream", () => {
    const refused = older();
    assert.equal(take(refused, "X200\n{}"), "");
    assert.equal(refused.refusal?.body, "data: {}\n\n");
    assert.equal(refused.refusal?.headers["content-type"], "text/event-stream");
    const denied = older();
    take(denied, "X401\n{}");
    assert.deepEqual([denied.refusal?.body, denied.refusal?.headers["content-type"]], ["{}", "application/json"]);
  });
});

test("frames of former releases are read", () => {
  const fixtures = new URL("../fixtures/", import.meta.url);
  for (const release of readdirSync(fixtures)) {
    const lines = readFileSync(new URL(`${release}/messages.jsonl`, fixtures), "utf8").trim().split("\n");
    const frames = lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "frame");
    assert.ok(frames.length > 0, `${release} has sent no frame`);
    for (const { text } of frames) {
      const first = Number(/^E(\d+)/.exec(text)?.[1] ?? 1);
      const reader = text[0] === "E" ? subscription(first - 1) : subscription();
      const told = take(reader, text);
      if (text[0] === "X") {
        assert.ok(reader.refusal?.body, text);
      } else if (text[0] !== "R") {
        const events = told.trimEnd().split("\n\n").map((block) => JSON.parse(block.slice(block.indexOf("data: ") + 6)));
        assert.equal(events.length, text.trimEnd().split("\n").length - 1);
        assert.ok(events.every((event) => typeof event === "object"));
      }
    }
  }
});
