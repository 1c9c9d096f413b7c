// In the place of the engine: tells the agents that it has, and of an agent whose text says so that it cannot serve it.
import module from "./index_bg.wasm";
import { DurableObject } from "cloudflare:workers";

export class TaskObject extends DurableObject {}

export function start(first) {
  let served = first;
  const isUnusable = (slug) => served.agents[slug].includes("unusable");
  const fetch = async (request, env) => {
    if (new URL(request.url).pathname !== "/_dev/agents") return Response.json({ ...JSON.parse(served.index), variable: env.A, isModule: module instanceof WebAssembly.Module });
    if (request.headers.get("authorization") !== `Bearer ${env.DEV_TOKEN}`) return new Response("not with this token", { status: 403 });
    if (request.method === "PUT") {
      const given = await request.json();
      if (given.index.includes("refused")) return new Response("an agent is refused", { status: 400 });
      served = given;
      return new Response(null, { status: 204 });
    }
    const unusable = Object.keys(served.agents).filter(isUnusable).map((slug) => ({ slug, reason: `agents/${slug}.toml:1: there is no such kind` }));
    return Response.json({ unusable, tools: [], kinds: [] });
  };
  return { fetch, queue() {}, scheduled() {} };
}
