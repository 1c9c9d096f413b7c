// A Worker whose objects are asked by clients (`/_skew?commands`) or by senders of notifications (`/_skew?asks`), or whose followers are told
// (`/_skew?frames`), in forms that this version does not know, or whose objects do not know the header of an upgrade (`/_skew?header`);
// `/_skew` ends that. What the queue retries comes again after a second, and is
// logged with the pause that it was to have.
import handlers, * as inner from "worker";

let skew = "";
let isWatched = false;

const newer = (text) => text.replace("{", '{"format":1000000,');

const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (text) {
  return send.call(this, skew === "frames" && String(text).startsWith("E") ? `Z1\n${text}` : text);
};

export class TaskObject extends inner.TaskObject {
  async fetch(request) {
    const hello = request.headers.get("x-follow");
    if (hello !== null && ["commands", "header"].includes(skew)) {
      const headers = new Headers(request.headers);
      if (skew === "header") headers.delete("x-follow");
      else headers.set("x-follow", newer(hello));
      return super.fetch(new Request(request, { headers }));
    }
    return super.fetch(request);
  }

  ask(form, text) {
    const kind = form === "notification" ? "asks" : "commands";
    return super.ask(form, skew === kind ? newer(text) : text);
  }

  webSocketMessage(socket, text) {
    return super.webSocketMessage(socket, skew === "commands" ? newer(text) : text);
  }
}

export default {
  ...handlers,
  fetch(request, ...rest) {
    const { pathname, search } = new URL(request.url);
    if (pathname !== "/_skew") return handlers.fetch(request, ...rest);
    skew = search.slice(1);
    return new Response("ok");
  },
  queue(batch, ...rest) {
    const message = Object.getPrototypeOf(batch.messages[0]);
    const { retry } = message;
    if (!isWatched) {
      isWatched = true;
      message.retry = function ({ delaySeconds }) {
        console.log(`retried after ${delaySeconds} s`);
        return retry.call(this, { delaySeconds: 1 });
      };
    }
    return handlers.queue(batch, ...rest);
  },
};
