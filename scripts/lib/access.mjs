// Who may call the agents, from their files.
import { servesAssets } from "./assets.mjs";

/** Who may call the agents: `{ slug, open, development, hasSchemes, callers }` for each; `callers` are those with schemes, in words. */
export function accessOf({ agents }) {
  return agents.map(({ slug, development = false, access }) => {
    const kinds = Object.entries(access?.schemes ?? {});
    return { slug, open: access?.open === true, development, hasSchemes: kinds.length > 0, callers: callersOf(access?.requires ?? [], kinds) };
  });
}

/** The callers that one of the requirements lets in, or without requirements any one of the schemes: "key (api_key), or tls (mutual_tls) and jwt (jwt)". */
function callersOf(requires, schemes) {
  const kinds = Object.fromEntries(schemes.map(([name, { kind }]) => [name, `${name} (${kind})`]));
  const alternatives = requires.length > 0 ? requires.map((requirement) => Object.keys(requirement)) : schemes.map(([name]) => [name]);
  return alternatives.map((names) => names.map((name) => kinds[name] ?? name).join(" and ")).join(", or ");
}

/** The line about access that `start` and `dev` print; undefined if every agent requires credentials. */
export function localAccess(facts) {
  const agents = accessOf(facts).filter(({ hasSchemes }) => !hasSchemes);
  if (agents.length === 0) return undefined;
  const names = listed(agents);
  const closed = agents.filter(({ open, development }) => !open && !development);
  if (closed.length === 0) return `Anybody may call ${names}.`;
  return `Anybody may call ${names} here. Once deployed, ${listed(closed)} will refuse every call until [access] in ${filesOf(closed)} says who may call.`;
}

/** The lines about access that `deploy` and `start --as-deployed` print; undefined if there are neither agents nor a console. */
export function remoteAccess(facts) {
  const agents = accessOf(facts);
  const deployed = agents.filter(({ development }) => !development);
  const local = agents.filter(({ development }) => development);
  const [open, closed] = [true, false].map((wanted) => deployed.filter((agent) => !agent.hasSchemes && agent.open === wanted));
  const lines = [];
  if (open.length > 0) lines.push(`Anybody who can reach the Worker may call ${listed(open)} (open = true).`);
  if (closed.length > 0) {
    lines.push(`${listed(closed)} will refuse every call: say in ${filesOf(closed)} who may call, with [access.schemes.<name>] or with [access] and open = true.`);
  }
  for (const agent of deployed.filter(({ hasSchemes }) => hasSchemes)) lines.push(`${agent.slug} takes callers with ${agent.callers}.`);
  if (local.length > 0) lines.push(`Not served by the deployment: ${listed(local)} (development = true).`);
  if (servesAssets()) lines.push("The console at /console/ is public; it shows callers only what their own credentials show.");
  return lines.length === 0 ? undefined : lines.join("\n");
}

const listed = (agents) => agents.map(({ slug }) => slug).join(", ");

const filesOf = (agents) => agents.map(({ slug }) => `agents/${slug}.toml`).join(", ");
