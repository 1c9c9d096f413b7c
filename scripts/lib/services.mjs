// The service bindings by which agents, tools and MCP servers are other Workers, and those of them that wrangler.toml lacks.
import { readConfig } from "./wrangler.mjs";

/** What calls other Workers by service bindings: `{ service, by }` for each agent of kind `http`, tool and MCP server that names one. */
export function servicesOf({ agents, mcp = [] }) {
  const ofAgent = ({ slug, executor, tools = [] }) => [
    ...(executor?.kind === "http" ? [{ service: executor.table.service, by: `agents/${slug}.toml` }] : []),
    ...tools.map(({ name, service }) => ({ service, by: `the tool ${name} of agents/${slug}.toml` })),
  ];
  const ofServer = ({ name, table }) => ({ service: table.service, by: `[mcp.${name}] of remotes.toml` });
  return [...agents.flatMap(ofAgent), ...mcp.map(ofServer)].filter(({ service }) => service !== undefined);
}

/** The text about the Workers that have to be deployed before this one, those of its service bindings in an environment; undefined if there are none. */
export async function deployedBefore(environment) {
  const { name, services = [] } = await readConfig(environment);
  const others = [...new Set(services.map(({ service }) => service).filter((service) => service !== name))];
  if (others.length === 0) return undefined;
  const [these, they] = others.length === 1 ? ["this Worker", "it does"] : ["these Workers", "one of them does"];
  return `Deploy ${these} first: ${others.join(", ")}. Cloudflare refuses a service binding if ${they} not exist in the account.`;
}

/**
 * A text that names the service bindings of the checked files that an environment of wrangler.toml lacks, with the lines to add; undefined if none
 * is missing.
 */
export async function missingServices(facts, environment) {
  const needed = servicesOf(facts);
  if (needed.length === 0) return undefined;
  const { services = [] } = await readConfig(environment);
  const missing = needed.filter(({ service }) => !services.some(({ binding }) => binding === service));
  if (missing.length === 0) return undefined;
  const width = Math.max(...missing.map(({ service }) => service.length));
  const lines = missing.map(({ service, by }) => `    ${service.padEnd(width)}   ${by}`).join("\n");
  const tables = [...new Set(missing.map(({ service }) => service))].map((service) => [
    `    [[${environment === undefined ? "" : `env.${environment}.`}services]]`, `    binding = "${service}"`, '    service = "the name of the other Worker"',
  ].join("\n"));
  return `wrangler.toml has no service binding of these names, so that what calls them fails:\n\n${lines}\n\nAdd:\n\n${tables.join("\n\n")}`;
}
