// Reads server-sent events from a response of `fetch`, which can send headers, unlike EventSource.

/** An event of a stream. */
export interface ServerEvent {
  /** The id of this event, or else of the last event before it with an id; empty if there is none. */
  id: string;
  /** `message` if the server sends no name. */
  event: string;
  data: string;
}

/** The largest number of characters in one event. */
const MAX_LETTERS = 16 * 1024 * 1024;

/** The events of a body, in order, as they arrive. Ends with the body. */
export async function* eventsOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<ServerEvent, void> {
  let rest = "";
  let id = "";
  let event = "";
  let data: string[] = [];
  let letters = 0;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      // A carriage return at the end may be the first half of a line break.
      const whole = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
      const lines = whole.split(/\r\n|\n|\r/);
      rest = (lines.pop() ?? "") + rest.slice(whole.length);
      if (rest.length > MAX_LETTERS) throw new Error("a line of the stream is too long");
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) yield { id, event: event === "" ? "message" : event, data: data.join("\n") };
          [event, data, letters] = ["", [], 0];
          continue;
        }
        const [, name = "", given = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
        if (name === "data") data.push(given);
        else if (name === "event") event = given;
        else if (name === "id" && !given.includes("\0")) id = given;
        letters += line.length;
        if (letters > MAX_LETTERS) throw new Error("an event of the stream is too long");
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
