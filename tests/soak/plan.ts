// What the model of a soak does next: it follows the plan in the newest message of its user, and goes by the results of its calls alone.
//
// A plan is a list of jobs: `order` orders something, `near:steps:4:URL` and `far:ask:4:URL` let another agent do so many steps; one that asks
// is answered. The id of a call is `<number of the answer>.<place in the plan>`, the place of an answer to a question `<place>+`.

import { contentOf, type ChatMessage } from "../e2e/model-server.ts";

/** A call that the model makes. */
export interface Deed {
  place: string;
  tool: string;
  given: object;
}

/** What the model was told of a call. */
export interface Result {
  nonce: number;
  place: string;
  text: string;
}

/** The results in a conversation. */
export function resultsOf(messages: ChatMessage[]): Result[] {
  return messages.filter(({ role }) => role === "tool").map((message) => {
    const [nonce = "", place = ""] = (message.tool_call_id ?? "").split(".");
    return { nonce: Number(nonce), place, text: contentOf(message) };
  });
}

/** The calls that are left to be made; none when all is done. `tools` are the names of those that there are. */
export function deedsOf(name: string, plan: string[], results: Result[], tools: string[]): Deed[] {
  const toldOf = (place: string) => results.find((result) => result.place === place)?.text;
  return plan.flatMap((job, index): Deed[] => {
    const place = String(index + 1);
    const [who = "", what = "", steps = "", ...url] = job.split(":");
    const told = toldOf(place);
    if (job === "order") return told === undefined ? [{ place, tool: "order", given: { item: `${name}_${place}` } }] : [];
    const tool = tools.find((tool) => tool.includes(who)) ?? `no tool for ${who}`;
    const prompt = what === "ask" ? `ask after ${steps} ${url.join(":")}` : `steps ${steps} every 40 ${url.join(":")}`;
    if (told === undefined) return [{ place, tool, given: { prompt } }];
    const [, task] = /^\[INPUT_REQUIRED:task_id=([^\]]+)\]/.exec(told) ?? [];
    if (task === undefined || toldOf(`${place}+`) !== undefined) return [];
    return [{ place: `${place}+`, tool, given: { prompt: "blue", task_id: task } }];
  });
}
