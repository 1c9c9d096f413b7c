// The names that TypeScript of a project may use, for `.a2a-edge/agents.d.ts`: a wrong one does not compile.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { inProject } from "./paths.mjs";
import { keptConfig } from "./wrangler.mjs";

/** The files whose lines name secrets and variables, also those without a value. */
const FILES = [[".", /^\.(?:dev\.vars|env)(?:\.|$)/], ["tests", /^test\.vars$/]];

/** The declaration of the names. A kind without known names is left out where they cannot all be known: any text is then taken. */
export function declarationOf(facts) {
  const names = { remotes: remotesOf(facts), mcp: facts.mcp.map(({ name }) => name), secrets: secretsOf(facts) };
  const members = Object.entries(names).filter(([, known]) => known !== undefined).map(([kind, known]) => `    ${kind}: ${union(known)};\n`);
  return `declare module "a2a-edge" {\n  interface Known {\n${members.join("")}  }\n}\n`;
}

/** The agents that `remote` finds: those of remotes.toml, and those of this Worker. */
const remotesOf = ({ agents, remotes }) => [...remotes.map(({ name }) => name), ...agents.map(({ slug }) => slug)];

/** The secrets and variables that files of the project name; undefined if there is none, or wrangler.toml has not been read. */
function secretsOf({ agents, remotes, mcp }) {
  const config = keptConfig();
  if (config === undefined) return undefined;
  const needed = [...agents, ...remotes, ...mcp].flatMap(({ needs = [] }) => needs).flatMap(({ name, or = [] }) => [name, ...or]);
  const names = [...needed, ...FILES.flatMap(([folder, pattern]) => assigned(folder, pattern)), ...Object.keys(config.vars ?? {}), ...(config.secrets?.required ?? [])];
  return names.length > 0 ? names : undefined;
}

function assigned(folder, pattern) {
  const files = existsSync(inProject(folder)) ? readdirSync(inProject(folder)).filter((name) => pattern.test(name)) : [];
  const texts = files.map((name) => readFileSync(inProject(join(folder, name)), "utf8"));
  return texts.flatMap(namesAssigned);
}

/** The names in a file such as `.dev.vars`, also those without a value. */
export const namesAssigned = (text) => [...text.matchAll(/^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=/gm)].map(([, name]) => name);

const union = (names) => [...new Set(names)].sort().map((name) => JSON.stringify(name)).join(" | ") || "never";
