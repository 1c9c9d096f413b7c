// How a stream moves from the socket of an object to the bytes of a client.
import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";
import { HEARTBEAT, HELLO } from "../../js/client-stream.js";
import { open } from "../../js/stream.js";

const PLAN = {
  resume: ['{"', '":'], begins: false, isTurn: false, isNew: true, position: null, showsGeneration: false,
  form: null, refusesByStream: false, before: "", behind: "", headers: { "content-type": "text/event-stream" },
};

/** Makes responses with a header of all answers. */
const respond = (status, headers, body) => new Response(body, { status, headers: { cors: "*", ...headers } });

class Socket {
  isAccepted = false;
  sent = [];
  closed = [];
  #listeners = {};

  addEventListener(type, listener) {
    assert.ok(!this.isAccepted, "events of a socket that was accepted before may be lost");
    this.#listeners[type] = listener;
  }
  accept() {
    this.isAccepted = true;
  }
  send(text) {
    this.sent.push(text);
  }
  close(code) {
    if (this.closed.push(code) > 1) throw new Error("it is closed");
  }
  say(...frames) {
    for (const data of frames) this.#listeners.message({ data });
  }
  end(code, type = "close") {
    this.#listeners[type](type === "error" ? {} : { code });
  }
}

/** An object that answers upgrades by sockets; `answers` are given first. */
class TaskObject {
  hellos = [];
  urls = [];
  sockets = [];
  troubles = [];
  reads = true;
  answers = [];
  /** The first frame, where it comes with the answer to the upgrade. */
  first = "";
  namespace = { get: (id) => ({ fetch: (...asked) => this.#fetch(id, ...asked) }) };
  rust = {
    streamRefusal: (hello, ...rest) => JSON.stringify({ status: 500, headers: { "retry-after": "5" }, body: [hello, ...rest].join() }),
    streamOpening: (json) => json,
    streamEvent: (form, json, generation, state) => `0${state}+\n${form} ${generation}${state} ${json}\n\n`,
    streamTrouble: (task, reason) => this.troubles.push([task, reason]),
  };

  async #fetch(id, url, { headers }) {
    assert.deepEqual([id, headers.upgrade], ["t", "websocket"]);
    const hello = headers[HELLO];
    this.hellos.push(hello);
    this.urls.push(url);
    const answer = this.answers.shift();
    if (answer instanceof Error) throw answer;
    if (answer !== undefined) return answer;
    const socket = new Socket();
    this.sockets.push(socket);
    return { status: 101, headers: new Headers(this.reads && hello ? { [HELLO]: this.first } : {}), webSocket: socket };
  }

  /** Opens a stream; `said` are the first frames. */
  async open(said, { hello = '{"hello":1}', ...plan } = {}) {
    const opened = open(this.namespace, "t", `${JSON.stringify({ ...PLAN, ...plan })}\n${hello}`, this.rust, respond);
    opened.catch(() => {});
    await settled();
    this.last?.say(...said);
    return opened;
  }

  get last() {
    return this.sockets.at(-1);
  }
}

/** All that follows from what has happened so far. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Lets `ms` pass, in steps, with all that follows from each. */
async function pass(ms) {
  for (let passed = 0; passed < ms; passed += 50) {
    mock.timers.tick(50);
    await settled();
  }
}

/** What a client reads. */
class Client {
  #reader;
  constructor(response) {
    this.#reader = response.body.getReader();
  }
  async next() {
    const { value, done } = await this.#reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  }
  leave() {
    return this.#reader.cancel();
  }
}

const event = (generation, json = "{}") => `id: ${generation}\ndata: ${json}\n\n`;

function suite(title, tests) {
  describe(title, () => {
    test.beforeEach(() => mock.timers.enable({ apis: ["setTimeout", "setInterval"] }));
    test.afterEach(() => mock.timers.reset());
    tests();
  });
}

suite("the hello", () => {
  test("goes with the upgrade, without bytes that a header cannot hold", async () => {
    const object = new TaskObject();
    const hello = JSON.stringify({ text: "ä € \u{1f600} \u007f \n ~" });
    await object.open(["E1\n.{}"], { hello });
    assert.match(object.hellos[0], /^[ -~]+$/);
    assert.deepEqual(JSON.parse(object.hellos[0]), JSON.parse(hello));
    assert.deepEqual(object.last.sent, []);
  });

  test("of a subscription is that after a drop", async () => {
    const object = new TaskObject();
    await object.open(["S4\n.{}"], { hello: "", isNew: undefined, position: null });
    assert.deepEqual(object.hellos, ['{"t":null}']);
  });

  test("is repeated over the socket for an object that has not read the header", async () => {
    const object = new TaskObject();
    object.reads = false;
    await object.open(["E1\n.{}"]);
    assert.deepEqual([object.hellos, object.last.sent], [['{"hello":1}'], ['{"hello":1}']]);
  });

  test("goes over the socket if it is long, or long as a header", async () => {
    for (const hello of [`"${"x".repeat(9_000)}"`, `"${"ä".repeat(2_000)}"`]) {
      const object = new TaskObject();
      await object.open(["E1\n.{}"], { hello });
      assert.deepEqual([object.hellos, object.last.sent], [[undefined], [hello]]);
    }
  });
});

suite("an object that nobody has asked before", () => {
  test("is told so once", async () => {
    const object = new TaskObject();
    object.answers = [new Error("it is gone")];
    const opened = object.open([], { begins: true });
    await pass(100);
    object.last.say("E1\n.{}");
    await opened;
    assert.deepEqual(object.urls, ["https://task/begin", "https://task/"]);
  });
});

suite("the first frame", () => {
  test("opens the stream", async () => {
    const object = new TaskObject();
    const response = await object.open(['E1\n.{"a":"ä"}']);
    assert.deepEqual([response.status, response.headers.get("content-type"), response.headers.get("cors")], [200, "text/event-stream", "*"]);
    const client = new Client(response);
    assert.equal(await client.next(), event(1, '{"a":"ä"}'));
    object.last.say("E2\n.{}");
    assert.equal(await client.next(), event(2));
  });

  test("may come with the answer to the upgrade, ahead of what comes over the socket", async () => {
    const object = new TaskObject();
    object.first = 'S2\t.{"a":1}';
    const client = new Client(await object.open(["E2\n.{}", "E3\n.{}"], { position: null }));
    assert.deepEqual([await client.next(), await client.next()], [event(2, '{"a":1}'), event(3)]);
    object.first = "X404\t{}";
    const refused = await object.open([]);
    assert.deepEqual([refused.status, await refused.text(), object.last.sent], [404, "{}", []]);
  });

  test("is requested again, by one socket at a time, if it cannot be used", async () => {
    for (const first of ["Z", "E3\t.{}"]) {
      const object = new TaskObject();
      object.first = first;
      const opened = object.open([], { position: 1 });
      await settled();
      const asked = object.sockets.length;
      assert.ok(asked <= 2, "what is repeated is requested after a pause");
      object.first = "E2\t.{}";
      await pass(200);
      const client = new Client(await opened);
      assert.equal(await client.next(), event(2), first);
      assert.deepEqual(object.sockets.map(({ closed }) => closed), [...Array(asked).fill([1000]), []], first);
    }
  });

  test("has its words from Rust where the client is of an older version, as all others", async () => {
    const object = new TaskObject();
    const client = new Client(await object.open(["E1\n.{}"], { form: "F" }));
    assert.equal(await client.next(), "F 1 {}\n\n");
    object.last.say("E2\n.{}");
    assert.equal(await client.next(), "F 2+ {}\n\n");
  });

  test("may be a refusal", async () => {
    const object = new TaskObject();
    const response = await object.open(['X401 {"retry-after":"5"}\n{}']);
    assert.deepEqual([response.status, await response.text()], [401, "{}"]);
    const headers = ["content-type", "retry-after", "cors"].map((name) => response.headers.get(name));
    assert.deepEqual(headers, ["application/json", "5", "*"]);
    assert.deepEqual(object.last.closed, [], "the object closes the socket");
  });

  test("is missing where a client has every event of a task that has ended", async () => {
    const object = new TaskObject();
    const opened = object.open([], { position: 4 });
    await settled();
    object.last.end(1000);
    const response = await opened;
    assert.deepEqual([response.status, response.body, response.headers.get("cors")], [204, null, "*"]);
  });
});

suite("a caller with a quota", () => {
  test("has as many streams as its quota allows; the next one is refused, and its object is not asked", async () => {
    const object = new TaskObject();
    const quota = { quota: ["demo\nann", 2] };
    const one = new Client(await object.open(["E1\n.{}"], quota));
    const ended = await object.open(["X401 {}\n{}"], quota);
    assert.equal(ended.status, 401, "what is refused counts no more");
    const two = await object.open(["E1\n.{}"], quota);
    const asked = object.hellos.length;
    const refused = await object.open([], quota);
    assert.deepEqual([refused.status, await refused.text()], [500, '{"t":null},over-quota,false,2']);
    assert.equal(object.hellos.length, asked);
    assert.equal((await object.open(["E1\n.{}"], { quota: ["demo\nbob", 1] })).status, 200, "others have their own");
    await two.body.cancel();
    const three = new Client(await object.open(["E1\n.{}"], quota));
    assert.equal(await one.next(), event(1));
    assert.equal(await three.next(), event(1));
  });
});

suite("an object that gives no socket", () => {
  test("is asked twice more, and the reason is logged", async () => {
    const object = new TaskObject();
    object.answers = [new Error("it is gone"), { status: 503, headers: new Headers() }, new Error("it is gone")];
    const opened = object.open([]);
    await pass(1_000);
    const response = await opened;
    assert.deepEqual([response.status, response.headers.get("retry-after"), response.headers.get("cors")], [500, "5", "*"]);
    assert.equal(await response.text(), '{"t":null},failed,false,0');
    assert.deepEqual(object.hellos, Array(3).fill('{"hello":1}'));
    assert.deepEqual(object.troubles, ["it is gone", "it answered 503", "it is gone"].map((reason) => ["t", reason]));
  });

  test("may have too many, and is not asked again", async () => {
    const object = new TaskObject();
    object.answers = [{ status: 429, headers: new Headers({ "x-limit": "7" }) }];
    const response = await object.open([]);
    assert.equal(await response.text(), '{"t":null},too-many,false,7');
    assert.deepEqual([object.hellos.length, object.troubles], [1, []]);
  });
});

suite("a stream that has begun", () => {
  test("goes on from its position over another socket, whatever ended the first", async () => {
    const switches = {
      "the page was full": (socket) => socket.end(4000),
      "the socket was lost": (socket) => socket.end(1006),
      "the socket broke": (socket) => socket.end(0, "error"),
      "the object was of another version": (socket) => socket.end(4002),
      "an event was missing": (socket) => socket.say("E7\n.{}"),
      "a frame could not be read": (socket) => socket.say("Z\n"),
    };
    for (const [name, end] of Object.entries(switches)) {
      const object = new TaskObject();
      const client = new Client(await object.open(["E1\n.{}\n.{}"]));
      assert.equal(await client.next(), event(1) + event(2));
      const first = object.last;
      end(first);
      first.say('E3\n.{"late":1}');
      first.end(1000);
      await pass(100);
      assert.deepEqual(object.hellos.slice(1), ['{"t":2}'], name);
      object.last.say("E3\n.{}\nT{}");
      assert.equal(await client.next(), event(3) + event(4), name);
      assert.equal(await client.next(), undefined, name);
      assert.deepEqual(object.troubles, name === "a frame could not be read" ? [["t", undefined]] : [], name);
    }
  });

  test("breaks off with an event when the object stays away", async () => {
    const object = new TaskObject();
    const client = new Client(await object.open(["E1\n.{}"]));
    await client.next();
    object.answers = Array(30).fill(new Error("it is gone"));
    object.last.end(1006);
    await pass(120_000);
    const seen = [];
    for (let text = await client.next(); text !== undefined; text = await client.next()) seen.push(text);
    assert.equal(seen.at(-1), 'event: error\ndata: {"t":1},failed,true,0\n\n');
    assert.ok(seen.slice(0, -1).every((text) => text === HEARTBEAT));
  });

  test("shows every fifteen seconds that it is alive", async () => {
    const object = new TaskObject();
    const client = new Client(await object.open(["E1\n.{}"]));
    await client.next();
    await pass(15_000);
    assert.equal(await client.next(), HEARTBEAT);
    await pass(60_000);
    object.last.say("E2\nT{}");
    assert.equal(await client.next(), HEARTBEAT, "a client that does not read is told once");
    assert.equal(await client.next(), event(2));
    assert.equal(await client.next(), undefined);
  });

  test("closes its socket when the client leaves, also one that is on its way", async () => {
    const object = new TaskObject();
    const client = new Client(await object.open(["E1\n.{}"]));
    await client.leave();
    assert.deepEqual(object.last.closed, [1000]);
    object.last.say("E2\n.{}");

    const other = new Client(await object.open(["E1\n.{}"]));
    await other.next();
    object.last.end(4000);
    await other.leave();
    await settled();
    assert.equal(object.sockets.length, 3);
    assert.deepEqual(object.last.closed, [1000]);
    assert.ok(object.last.isAccepted);
  });

  test("breaks rather than hangs when this program fails", async () => {
    const object = new TaskObject();
    object.rust.streamTrouble = () => assert.fail("a broken instance");
    const client = new Client(await object.open(["E1\n.{}"]));
    await client.next();
    object.last.say("Z\n");
    await assert.rejects(client.next(), /a broken instance/);
    assert.deepEqual(object.last.closed, [1000]);
    object.answers = [new Error("it is gone")];
    await assert.rejects(object.open([]), /a broken instance/);
  });
});

suite("the end of a stream", () => {
  test("leaves the socket to an object whose task has ended", async () => {
    const object = new TaskObject();
    const client = new Client(await object.open(["E1\nT{}"]));
    assert.deepEqual([await client.next(), await client.next()], [event(1), undefined]);
    assert.deepEqual(object.last.closed, []);
    object.last.end(1000);
    await pass(60_000);
    assert.deepEqual([object.last.closed, object.sockets.length], [[], 1]);
  });

  test("closes a socket that the object has forgotten to close", async () => {
    const object = new TaskObject();
    await object.open(["E1\nT{}"]);
    await pass(60_000);
    assert.deepEqual(object.last.closed, [1000]);
  });

  test("closes the socket of a turn whose task goes on", async () => {
    const object = new TaskObject();
    const client = new Client(await object.open(["E1\nI{}"], { isTurn: true }));
    assert.deepEqual([await client.next(), await client.next()], [event(1), undefined]);
    assert.deepEqual(object.last.closed, [1000]);
  });
});

suite("a client that reads slowly", () => {
  const large = `"${"x".repeat(400_000)}"`;

  test("loses its socket and nothing else, and goes on when it has read everything", async () => {
    const object = new TaskObject();
    const client = new Client(await object.open(["E1\n.{}"]));
    const first = object.last;
    first.say(`E2\n.${large}`, `E3\n.${large}`);
    assert.deepEqual(first.closed, []);
    first.say(`E4\n.${large}`);
    assert.deepEqual(first.closed, [4001], "more than a megabyte waits");
    first.say(`E5\n.${large}`);
    await pass(60_000);
    for (const expected of [event(1), event(2, large), event(3, large)]) assert.equal(await client.next(), expected);
    assert.equal(object.sockets.length, 1, "something waits yet");
    assert.equal(await client.next(), event(4, large));
    const next = client.next();
    await pass(300);
    assert.deepEqual(object.hellos.slice(1), ['{"t":4}']);
    object.last.say("E5\nT{}");
    assert.deepEqual([await next, await client.next()], [event(5), undefined]);
  });

  test("is given the next page when it has read the one before", async () => {
    const object = new TaskObject();
    const client = new Client(await object.open([`E1\n.${large}`]));
    object.last.end(4000);
    await pass(1_000);
    assert.equal(object.sockets.length, 1);
    assert.equal(await client.next(), event(1, large));
    const next = client.next();
    await pass(300);
    object.last.say("E2\nT{}");
    assert.equal(await next, event(2));
  });
});
