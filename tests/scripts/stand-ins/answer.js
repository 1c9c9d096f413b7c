// What a Worker of these tests answers: the files of its agents, a variable, the text of the Rust of which its engine was compiled, and how often its tasks
// were to go on; at /words what another Worker answers. An agent whose text says so cannot be served.

/** The agents, which the route of development replaces; how often tasks were to go on; and the needs of the tools that the entry registers. */
export const state = { served: { index: '{"files":{}}', agents: {} }, resumed: 0, tools: [] };

export async function answer(request, env, rust) {
  const { pathname } = new URL(request.url);
  if (pathname === "/words") return env.WORDS.fetch(request);
  if (!pathname.startsWith("/_dev/")) return Response.json({ ...JSON.parse(state.served.index), variable: env.A, rust, resumed: state.resumed });
  if (request.headers.get("authorization") !== `Bearer ${env.DEV_TOKEN}`) return new Response("not with this token", { status: 403 });
  if (pathname === "/_dev/resume") return Response.json({ tasks: (state.resumed += 1) });
  if (request.method === "PUT") {
    const given = await request.json();
    if (given.index.includes("refused")) return new Response("an agent is refused", { status: 400 });
    state.served = given;
    return new Response(null, { status: 204 });
  }
  const slugs = Object.keys(state.served.agents).filter((slug) => state.served.agents[slug].includes("unusable"));
  return Response.json({ unusable: slugs.map((slug) => ({ slug, reason: `agents/${slug}.toml:1: there is no such kind` })), tools: state.tools, kinds: [] });
}
