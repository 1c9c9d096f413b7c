// The cost of the platform alone: answers of the size of a small task, without a protocol, by the shortest path to
// each.

import { DurableObject } from "cloudflare:workers";

/** As long as a finished task with one message and one artifact. */
const ANSWER = JSON.stringify({ jsonrpc: "2.0", id: "1", result: { text: "x".repeat(600) } });
const JSON_HEADERS = { "content-type": "application/json" };
const HOUR_MS = 3_600_000;
const encoder = new TextEncoder();

export class TaskObject extends DurableObject {
  #streams = new Set();

  /** Answers a POST, or opens a stream and sends its first event at once. */
  async fetch(request) {
    if (request.method === "POST") return answer(request, await request.text());
    const body = new ReadableStream({
      start: (controller) => {
        this.#streams.add(controller);
        controller.enqueue(encoder.encode(event({ first: true })));
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

  keepWithAlarm(text) {
    this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
    return this.keep(text);
  }

  alarm() {}

  /** Sends two events to all streams as one chunk, after storing one row for both, and ends the streams. */
  publish(text) {
    this.keep(text);
    const timestamp = new Date().toISOString();
    const bytes = encoder.encode(event({ name: "artifact", text }) + event({ name: "TASK_STATE_COMPLETED", timestamp, text }));
    for (const stream of this.#streams) {
      stream.enqueue(bytes);
      stream.close();
    }
    this.#streams.clear();
    return ANSWER;
  }
}

export default {
  async fetch(request, env) {
    const { pathname, search } = new URL(request.url);
    const object = (id) => env.TASKS.get(id);
    const warm = () => object(env.TASKS.idFromName("warm"));
    const fresh = () => object(env.TASKS.newUniqueId());
    const streams = () => object(env.TASKS.idFromName(search));
    if (request.method === "GET") return pathname === "/streams" ? streams().fetch(request) : new Response(ANSWER);
    const text = await request.text();
    switch (pathname) {
      case "/plain": return json(ANSWER);
      case "/object-fetch": return warm().fetch(new Request(request.url, { method: "POST", headers: request.headers, body: text }));
      case "/object-rpc": return json(await warm().ask(text));
      case "/object-new": return json(await fresh().keep(text));
      case "/object-new-alarm": return json(await fresh().keepWithAlarm(text));
      case "/publish": return json(await streams().publish(text));
      case "/d1-write":
        await env.DB.prepare("INSERT INTO floor (id, body) VALUES (?, ?)").bind(crypto.randomUUID(), text).run();
        return json(ANSWER);
      case "/d1-page": {
        const { results } = await env.DB.prepare("SELECT id, body FROM floor ORDER BY id DESC LIMIT 20").all();
        return json(`[${results.map(({ body }) => body).join(",")}]`);
      }
      default: return new Response(null, { status: 404 });
    }
  },
};

function answer(request, text) {
  return json(text.length > 0 ? ANSWER : "");
}

function json(text) {
  return new Response(text, { headers: JSON_HEADERS });
}

function event(data) {
  return `data: ${JSON.stringify(data)}\n\n`;
}
