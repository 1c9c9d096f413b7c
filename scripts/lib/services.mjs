// The service bindings that agents of kind `http` post to, and those of them that wrangler.toml lacks.
import { existsSync, readFileSync } from "node:fs";
import { embeddedAgents } from "./needs.mjs";
import { inProject } from "./paths.mjs";
import { readConfig } from "./wrangler.mjs";

/** Where a build keeps the service bindings that its agents need. */
export const SERVICES = "services.json";

/** The service bindings that the agents of a build need: `{ service, slug }` for each agent with one. */
export function servicesOf(made) {
  const agents = embeddedAgents(made).filter(({ executor }) => executor?.kind === "http" && executor.table.service !== undefined);
  return agents.map(({ slug, executor }) => ({ service: executor.table.service, slug }));
}

/**
 * A text that names the service bindings of the build in `folder` that an environment of wrangler.toml lacks, with the lines to add; undefined if
 * none is missing, or nothing was built.
 */
export async function missingServices(folder, environment) {
  const file = inProject(folder, SERVICES);
  const needed = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
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
