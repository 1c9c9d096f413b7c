// What a watcher of requests is shown of streams and of headers, for agents of this Worker and elsewhere.
import type { CallOptions, TaskEvent } from "./endpoint.ts";
import { eventsOf } from "./events.ts";
import { Problem } from "./problem.ts";
import type { StreamResponse } from "./types.ts";

/**
 * The events of a stream until it ends, each converted by `read`; the watcher is called for each and for the end.
 *
 * @throws {Problem}
 */
export async function* followed(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  options: CallOptions,
  read: (data: string) => StreamResponse,
): AsyncGenerator<TaskEvent, void> {
  let error: string | undefined;
  try {
    for await (const { id, data } of eventsOf(body)) {
      options.watch?.({ kind: "event", at: Date.now(), id, data });
      yield { id, response: read(data) };
    }
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
    if (thrown instanceof Problem || options.signal?.aborted === true) throw thrown;
    throw new Problem("The stream broke.");
  } finally {
    options.watch?.({ kind: "end", at: Date.now(), error });
  }
}

/** The shown form of a header with a secret: for `Authorization`, its scheme. */
export function hidden(name: string, value: string): string {
  const [, scheme] = (name.toLowerCase() === "authorization" && /^([A-Za-z-]+) ./.exec(value)) || [];
  return scheme === undefined ? "…" : `${scheme} …`;
}
