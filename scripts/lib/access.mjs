// Who may call the agents of a build, as their files say.
import { readFileSync } from "node:fs";
import { embeddedAgents } from "./needs.mjs";
import { inProject } from "./paths.mjs";

/** Where a build keeps who may call its agents. */
export const ACCESS = "access.json";

/** The agents of a build that ask for no credentials: `{ slug, open, development }`. */
export function openAgentsOf(made) {
  const agents = embeddedAgents(made).filter(({ access }) => Object.keys(access?.schemes ?? {}).length === 0);
  return agents.map(({ slug, development = false, access }) => ({ slug, open: access?.open === true, development }));
}

function builtAccess(folder) {
  return JSON.parse(readFileSync(inProject(folder, ACCESS), "utf8"));
}

/** What is to be known before the agents are served on this machine; undefined if all of them ask for credentials. */
export function localAccess(folder) {
  const agents = builtAccess(folder);
  if (agents.length === 0) return undefined;
  const names = listed(agents);
  const closed = agents.filter(({ open, development }) => !open && !development);
  if (closed.length === 0) return `Anybody may call ${names}.`;
  return `Anybody may call ${names} here. Once deployed, ${listed(closed)} will refuse every call until [access] in ${filesOf(closed)} says who may call.`;
}

/** What is to be known before the agents are deployed; undefined if all of them ask for credentials. */
export function remoteAccess(folder) {
  const agents = builtAccess(folder).filter(({ development }) => !development);
  const [open, closed] = [true, false].map((wanted) => agents.filter((agent) => agent.open === wanted));
  const lines = [];
  if (open.length > 0) lines.push(`Anybody who can reach the Worker may call ${listed(open)} (open = true).`);
  if (closed.length > 0) {
    lines.push(`${listed(closed)} will refuse every call: say in ${filesOf(closed)} who may call, with [access.schemes.<name>] or with [access] and open = true.`);
  }
  return lines.length === 0 ? undefined : lines.join("\n");
}

const listed = (agents) => agents.map(({ slug }) => slug).join(", ");

const filesOf = (agents) => agents.map(({ slug }) => `agents/${slug}.toml`).join(", ");
