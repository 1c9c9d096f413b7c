// The cost of the platform alone: answers of the size of a small task, without a protocol, by the shortest path to
// each.

import { DurableObject } from "cloudflare:workers";

/** As long as a finished task with one message and one artifact. */
const ANSWER = JSON.stringify({ jsonrpc: "2.0", id: "1", result: { text: "x".repeat(600) } });
const JSON_HEADERS = { "content-type": "application/json" };
const HOUR_MS = 3_600_000;
/** The first event of a stream, which is a task of that length. */
const FIRST = event({ text: "x".repeat(600) });
const encoder = new TextEncoder();

const COMPLETED = "TASK_STATE_COMPLETED";
/** The header of an upgrade with the text of a new task. */
const TEXT = "x-text";
/** How long after its last event a socket is closed: the closing of all sockets would be ahead of the last events. */
const CLOSING_MS = 250;
const HOLD_MS = 90_000;
/** A page, and the number of all rows, which is kept as a row. */
const PAGE = "SELECT id, body, (SELECT total FROM floor_total) AS total FROM floor ORDER BY id DESC LIMIT 20";

export class TaskObject extends DurableObject {
  #streams = new Set();
  #held;

  /** Answers a POST, or opens a stream, or a hibernating socket, and sends its first event at once. */
  async fetch(request) {
    if (request.method === "POST") return answer(request, await request.text());
    if (request.headers.has("upgrade")) {
      const [client, server] = Object.values(new WebSocketPair());
      this.ctx.acceptWebSocket(server);
      const text = request.headers.get(TEXT);
      if (text !== null) this.keepWithAlarm(text);
      server.send(FIRST);
      if (text !== null) this.#complete(server, text);
      return new Response(null, { status: 101, webSocket: client });
    }
    const body = new ReadableStream({
      start: (controller) => {
        this.#streams.add(controller);
        controller.enqueue(encoder.encode(FIRST));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }

  ask(text) {
    return text.length > 0 ? ANSWER : "";
  }

  /** Stores a row. */
  keep(text) {
    this.ctx.storage.sql.exec("CREATE TABLE kept (one INTEGER PRIMARY KEY, body TEXT NOT NULL)");
    this.ctx.storage.sql.exec("INSERT INTO kept VALUES (1, ?)", text);
    return ANSWER;
  }

  /** Stores a row, and has another one in D1 before it answers, as a send that waits for its task to be listed. */
  async keepListed(text) {
    this.keep(text);
    await list(this.env, text);
    return ANSWER;
  }

  /**
   * A task at work without any protocol: its row, the alarm by which it is found after a crash, its row in D1, its text in memory, and a timer that keeps it there.
   */
  hold(text) {
    this.#held = text;
    setTimeout(() => (this.#held = undefined), HOLD_MS);
    this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
    return this.keepListed(text);
  }

  keepWithAlarm(text) {
    this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
    return this.keep(text);
  }

  alarm() {}

  webSocketClose() {}

  /** Ends a task with one stream: changes its row, sends its last event, and has it listed. */
  #complete(socket, text) {
    this.ctx.storage.sql.exec("UPDATE kept SET body = ?", text + text);
    socket.send(event({ name: COMPLETED, text }));
    this.ctx.waitUntil(list(this.env, text));
  }

  /** Sends two events to all streams as one chunk, after storing one row for both, and ends the streams. */
  publish(text) {
    const bytes = encoder.encode(this.#ended(text));
    for (const stream of this.#streams) {
      stream.enqueue(bytes);
      stream.close();
    }
    this.#streams.clear();
    return ANSWER;
  }

  /** The same to all sockets, which the front Worker closes. */
  publishToSockets(text) {
    const events = this.#ended(text);
    for (const socket of this.ctx.getWebSockets()) socket.send(events);
    return ANSWER;
  }

  #ended(text) {
    this.keep(text);
    return event({ name: "artifact", text }) + event({ name: COMPLETED, timestamp: new Date().toISOString(), text });
  }
}

export default {
  async fetch(request, env) {
    const { pathname, search } = new URL(request.url);
    const object = (id) => env.TASKS.get(id);
    const warm = () => object(env.TASKS.idFromName("warm"));
    const fresh = () => object(env.TASKS.newUniqueId());
    const streams = () => object(env.TASKS.idFromName(search));
    if (request.method === "GET") return new Response(ANSWER);
    const text = await request.text();
    switch (pathname) {
      case "/plain": return json(ANSWER);
      case "/object-fetch": return warm().fetch(new Request(request.url, { method: "POST", headers: request.headers, body: text }));
      case "/object-rpc": return json(await warm().ask(text));
      case "/object-new": return json(await fresh().keep(text));
      case "/object-new-alarm": return json(await fresh().keepWithAlarm(text));
      case "/object-new-listed": return json(await fresh().keepListed(text));
      case "/object-hold": return json(await fresh().hold(ANSWER));
      case "/streams": return streams().fetch(request.url);
      case "/streams/end": return json(await streams().publish(text));
      case "/sockets-new": return written(await fresh().fetch(request.url, { headers: { upgrade: "websocket", [TEXT]: text } }));
      case "/sockets": return written(await streams().fetch(request.url, { headers: { upgrade: "websocket" } }));
      case "/sockets/end": return json(await streams().publishToSockets(text));
      case "/d1-write":
        await list(env, text);
        return json(ANSWER);
      case "/d1-page": {
        const { results } = await env.DB.prepare(PAGE).all();
        return json(`[${results.map(({ body }) => body).join(",")},${results[0]?.total}]`);
      }
      default: return new Response(null, { status: 404 });
    }
  },
};

/** Writes a row to D1. */
function list(env, text) {
  return env.DB.prepare("INSERT INTO floor (id, body) VALUES (?, ?)").bind(crypto.randomUUID(), text).run();
}

/** Writes the messages of a socket as a stream. */
function written({ webSocket }) {
  webSocket.accept();
  const body = new ReadableStream({
    start(controller) {
      webSocket.addEventListener("message", ({ data }) => {
        controller.enqueue(encoder.encode(data));
        if (!data.includes(COMPLETED)) return;
        controller.close();
        setTimeout(() => webSocket.close(), CLOSING_MS);
      });
    },
    cancel: () => webSocket.close(),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function answer(request, text) {
  return json(text.length > 0 ? ANSWER : "");
}

function json(text) {
  return new Response(text, { headers: JSON_HEADERS });
}

function event(data) {
  return `data: ${JSON.stringify(data)}\n\n`;
}
