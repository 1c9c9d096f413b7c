// What a Worker of these tests answers: the files of its agents, a variable, and the text of the Rust of which its engine was compiled. An agent whose
// text says so cannot be served.

/** The agents, which the route of development replaces. */
export const state = { served: { index: '{"files":{}}', agents: {} } };

export async function answer(request, env, rust) {
  const { pathname } = new URL(request.url);
  if (pathname !== "/_dev/agents") return Response.json({ ...JSON.parse(state.served.index), variable: env.A, rust });
  if (request.headers.get("authorization") !== `Bearer ${env.DEV_TOKEN}`) return new Response("not with this token", { status: 403 });
  if (request.method === "PUT") {
    const given = await request.json();
    if (given.index.includes("refused")) return new Response("an agent is refused", { status: 400 });
    state.served = given;
    return new Response(null, { status: 204 });
  }
  const slugs = Object.keys(state.served.agents).filter((slug) => state.served.agents[slug].includes("unusable"));
  return Response.json({ unusable: slugs.map((slug) => ({ slug, reason: `agents/${slug}.toml:1: there is no such kind` })), tools: [], kinds: [] });
}
