// Addresses of this machine in the files of agents, which a deployment cannot reach. `facts` are those of scripts/lib/agents.mjs.
const LOCAL = /^(?:https?|wss?):\/\/(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|[\w-]+\.local)(?=[:/?#]|$)/i;

/** A text that names the addresses of this machine that the agents of a deployment, remotes and MCP servers would call; undefined if there are none. */
export function localAddresses({ agents, remotes = [], mcp = [] }) {
  const served = agents.filter(({ development = false }) => !development);
  const found = [
    ...served.map(({ slug, executor, tools = [] }) => [`agents/${slug}.toml`, [executor?.table, tools]]),
    ...remotes.map(({ name, table }) => [`remotes.toml, [remote.${name}]`, table]),
    ...mcp.map(({ name, table }) => [`remotes.toml, [mcp.${name}]`, table]),
  ].flatMap(([place, value]) => [...new Set(textsOf(value).filter((text) => LOCAL.test(text)))].map((text) => `    ${text}   ${place}`));
  if (found.length === 0) return undefined;
  return `These are addresses of this machine, which a deployment cannot reach; put variables in their place, as \${NAME}:\n\n${found.join("\n")}`;
}

/** Every text in a value. */
function textsOf(value) {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
