// The scripted model behind `base_url = "dev:model"`: an endpoint for chat completions that needs no key, no network and no model, for demos and
// first experiments. `POST /_dev/model/chat/completions`.
//
// The answer depends only on the words of the conversation, so the same request has the same answer. The model calls the tools whose names and
// descriptions match the user's message, several at once, with arguments from the text; passes questions of other agents to the user, and the
// answers back; sums up the results of calls; and describes itself if nothing matches.
import { reply } from "./reply.js";
import { Refusal, readRequest } from "./request.js";
import { events, failure, whole } from "./wire.js";

/** The pause before each event of a stream, in milliseconds. */
const PAUSE_MS = 15;

/**
 * Answers a request for a chat completion.
 *
 * @param {Request} request
 * @returns {Promise<Response>}
 */
export async function complete(request) {
  if (request.method !== "POST") return Response.json(failure(`a chat completion is asked for by POST, not by ${request.method}`), { status: 405, headers: { allow: "POST" } });
  try {
    const asked = readRequest(await request.text());
    const answer = reply(asked);
    return asked.streams ? paced(events(asked, answer)) : Response.json(whole(asked, answer));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return Response.json(failure(error.message), { status: 400 });
  }
}

/** A stream of these events, with a pause before each. @param {string[]} events */
function paced(events) {
  const encoder = new TextEncoder();
  const left = events.values();
  const body = new ReadableStream({
    async pull(controller) {
      const { value, done } = left.next();
      if (done) return controller.close();
      await new Promise((resume) => setTimeout(resume, PAUSE_MS));
      controller.enqueue(encoder.encode(value));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
