// The service bindings that agents of kind `http` post to, and those of them that wrangler.toml lacks.
import { readConfig } from "./wrangler.mjs";

/** The service bindings that agents need: `{ service, slug }` for each agent with one. */
export function servicesOf({ agents }) {
  const bound = agents.filter(({ executor }) => executor?.kind === "http" && executor.table.service !== undefined);
  return bound.map(({ slug, executor }) => ({ service: executor.table.service, slug }));
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
  const lines = missing.map(({ service, slug }) => `    ${service}   agents/${slug}.toml`).join("\n");
  const tables = [...new Set(missing.map(({ service }) => service))].map((service) => [
    `    [[${environment === undefined ? "" : `env.${environment}.`}services]]`, `    binding = "${service}"`, '    service = "the name of the other Worker"',
  ].join("\n"));
  return `wrangler.toml has no service binding of these names, so that the agents that post to them fail every message:\n\n${lines}\n\nAdd:\n\n${tables.join("\n\n")}`;
}
