// The agents of the project: checked, and written for the Worker as `.a2a-edge/agents.js`.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { check } from "./checker.mjs";
import { mayRegister } from "./entry.mjs";
import { declarationOf } from "./known.mjs";
import { inProject, projectDir } from "./paths.mjs";
import { Stop } from "./ui.mjs";

/** The generated files. The entry module of the Worker imports the first one as `#agents`. */
const MODULE = inProject(".a2a-edge", "agents.js");
const TYPES = inProject(".a2a-edge", "agents.d.ts");

const HEAD = "// Written by a2a-edge from the files in agents/, tools/, skills/ and remotes.toml. Changes are lost.\n";

/** The text about problems of agent files. */
export function shownProblems(problems) {
  return `The agents cannot be served:\n\n${problems.map(({ shown }) => `    ${shown}`).join("\n")}`;
}

/**
 * Checks the files of the project, and writes the generated files if anything but the date has changed. Gives the checked form, its facts, and the paths
 * that were read. Throws a `Stop` with all problems.
 */
export function writeAgents() {
  const { agents: checked, problems, read } = check({ folder: projectDir, joins: mayRegister(), now: now() });
  if (checked === undefined) throw new Stop(shownProblems(problems));
  const known = writtenAgents();
  const agents = known !== undefined && isSame(known, checked) ? known : checked;
  if (agents !== known) publish(MODULE, `${HEAD}export default ${JSON.stringify(agents, null, 2)};\n`);
  const facts = factsOf(agents);
  const types = typesOf(facts);
  if (!existsSync(TYPES) || readFileSync(TYPES, "utf8") !== types) publish(TYPES, types);
  return { agents, facts, read };
}

const typesOf = (facts) => `${HEAD}import type { Agents } from "a2a-edge";

declare const agents: Agents;
export default agents;

${declarationOf(facts)}`;

/** The agents that were written before; undefined if there are none. */
export function writtenAgents() {
  if (!existsSync(MODULE)) return undefined;
  const text = readFileSync(MODULE, "utf8");
  try {
    return JSON.parse(text.slice(HEAD.length + "export default ".length, text.lastIndexOf(";")));
  } catch {
    return undefined;
  }
}

/** True if two checked forms differ at most in the instant of their checks. */
export function isSame(one, other) {
  const undated = ({ index, ...rest }) => JSON.stringify({ ...rest, index: { ...JSON.parse(index), built_ms: 0 } });
  return undated(one) === undated(other);
}

/** The facts of the checked form for scripts: the agents, remote agents and MCP servers, each as the Worker reads it. */
export function factsOf({ index, agents }) {
  const { agents: listed, remotes = [], mcp = [] } = JSON.parse(index);
  return { agents: listed.map(({ slug }) => JSON.parse(agents[slug])), remotes, mcp };
}

/** The checked form as one JSON object, for the variable `AGENTS`. */
export function wholeForm(form) {
  const { built_ms } = JSON.parse(form.index);
  return JSON.stringify({ built_ms, ...factsOf(form) });
}

/** The instant of a check: `SOURCE_DATE_EPOCH` if it is set, so that builds can be reproduced. */
const now = () => (process.env.SOURCE_DATE_EPOCH ? Number(process.env.SOURCE_DATE_EPOCH) * 1000 : Date.now());

/** Replaces a file at once, so that no reader sees a part of it. */
function publish(path, text) {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.part`, text);
    renameSync(`${path}.part`, path);
  } catch (error) {
    throw new Stop(`${path} cannot be written (${error.code}).\n\n    Let this user write the folder ${dirname(path)}.`);
  }
}
