// The entry of a Worker with all of them.
import { TaskObject, worker } from "a2a-edge";
import agents from "#agents";
import * as examples from "./examples.ts";

export { TaskObject };

const { find_place, report, seat_of, of_valibot, of_arktype, of_json_schema, of_ai_schema, of_zod_schema, of_ai, streamed_of_ai } = examples;
const { poet, tables, seats, orders, trip, archive, all, streams } = examples;

export default worker({
  agents,
  tools: { find_place, report, seat_of, of_valibot, of_arktype, of_json_schema, of_ai_schema, of_zod_schema, of_ai, streamed_of_ai },
  executors: { poet, tables, seats, orders, trip, archive, all, streams },
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname !== "/shop") return undefined;
    ctx.waitUntil(env.FILES.delete("a"));
    return Response.redirect(env.SHOP_URL);
  },
  async queue(batch, env) {
    for (const message of batch.messages) {
      await env.FILES.put(message.id, JSON.stringify(message.body));
      message.ack();
    }
  },
}) satisfies ExportedHandler<Cloudflare.Env>;

// A test calls a tool by hand.
export const called: string | Promise<string> = examples.of_valibot.execute({ city: "Lisbon" }, {} as never);
