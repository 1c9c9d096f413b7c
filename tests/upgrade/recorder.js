// Logs what the parts of a Worker tell each other, a line of JSON each: see `Recorded` in fixture.ts.
import handlers, * as inner from "worker";

const MAX_CHARS = 20_000;

function record(kind, text) {
  if (typeof text === "string" && text !== "" && text.length <= MAX_CHARS) console.log(`recorded ${JSON.stringify({ kind, text })}`);
}

// Both ends of a follower's socket: the command that opens a stream is JSON, frames are not. A short command comes with the upgrade, and a short first
// frame with its answer.
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (text) {
  record(String(text).startsWith("{") ? "stream" : "frame", text);
  return send.call(this, text);
};

// What is recorded of each form in which an object is asked, where that is no command.
const KINDS = { notification: "ask", callback: "callback" };

export class TaskObject extends inner.TaskObject {
  async fetch(request) {
    record("stream", request.headers.get("x-follow"));
    const answer = await super.fetch(request);
    record("frame", answer.headers.get("x-follow")?.replaceAll("\t", "\n"));
    return answer;
  }

  async ask(form, text) {
    record(KINDS[form] ?? "command", text);
    const answer = await super.ask(form, text);
    if (form === "notification") record("turn", answer.slice(answer.indexOf("\n\n") + 2));
    return answer;
  }
}

export default {
  ...handlers,
  queue(batch, ...rest) {
    for (const { body } of batch.messages) record(batch.queue.endsWith("-dead") ? "deadLetter" : "job", body);
    return handlers.queue(batch, ...rest);
  },
};
