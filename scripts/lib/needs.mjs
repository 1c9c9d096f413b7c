// The secrets and variables that agents need, from their files, with a check which of them are not set.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { command, wranglerLine } from "./command.mjs";
import { inProject, projectDir } from "./paths.mjs";
import { Stop, say } from "./ui.mjs";
import { readConfig } from "./wrangler.mjs";

/**
 * The needs of agents, remote agents and MCP servers, each once: `{ name, by: ["tool weather of the agent demo",
 * "remote shop", "mcp files"] }`. Any name in `or` may be set instead. `tools` are those that the Worker tells of itself.
 */
export function needsOf({ agents, remotes = [], mcp = [], tools = [] }) {
  const users = new Map();
  const note = (needs, userOf) => {
    for (const { name, by, or = [] } of needs) {
      const key = [name, ...or].join();
      const known = users.get(key)?.by ?? [];
      users.set(key, { name, by: [...known, ...by.map(userOf)], ...(or.length > 0 && { or }) });
    }
  };
  for (const { slug, needs = [] } of agents) note(needs, (user) => `${user} of the agent ${slug}`);
  for (const { needs = [] } of [...remotes, ...mcp]) note(needs, (user) => user);
  for (const { name: tool, needs = [] } of tools) note(needs.map((name) => ({ name, by: [`tool ${tool}`] })), (user) => user);
  return [...users.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What a deployment serves of these facts: all but the agents of development. */
export const deployedOf = (facts) => ({ ...facts, agents: facts.agents.filter(({ development = false }) => !development) });

/** The needs for which no name is set. */
const missingOf = (needs, set) => needs.filter(({ name, or = [] }) => ![name, ...or].some((known) => set.has(known)));

/**
 * Before serving: reports what is not set, and creates `.dev.vars` with the names if there is neither that file nor an
 * `.env`. An existing file is never changed. `vars` are the options `--var`.
 */
export async function checkLocalNeeds(facts, vars = []) {
  const needs = needsOf(facts);
  if (needs.length === 0) return;
  const files = variableFiles();
  const set = await configured(undefined, vars);
  for (const file of files) for (const name of namesIn(readFileSync(inProject(file), "utf8"))) set.add(name);
  const missing = missingOf(needs, set);
  if (missing.length === 0) return;

  say(`\nNot set, or empty, so that what needs it fails:\n\n${table(missing)}\n`);
  if (files.length > 0) {
    const known = files.map((file) => readFileSync(inProject(file), "utf8")).join("\n");
    const absent = missing.filter(({ name }) => !mentions(known, name));
    const lines = absent.length > 0 ? `, with the lines:\n\n${absent.map(({ name }) => `    ${name}=`).join("\n")}` : ".";
    say(`Set ${missing.length === 1 ? "it" : "them"} in ${files[0]}${lines}\n`);
    return;
  }
  writeFileSync(inProject(".dev.vars"), sample(missing), { mode: 0o600 });
  say(`.dev.vars was made for ${missing.length === 1 ? "it" : "them"}: fill it in, and the Worker is started again.\n`);
  if (!isIgnored()) say(`${IGNORE_IT}\n`);
}

/** The text about all that agents and tools need; undefined if they need nothing. */
export function neededText(facts) {
  const needs = needsOf(facts);
  return needs.length === 0 ? undefined : `The agents need these secrets or variables:\n\n${table(needs)}`;
}

/**
 * The needs of what is deployed that are not set, as `needsOf` has them. `secrets` are the names of the Worker's secrets, `values` the options of the deploy.
 */
export async function missingRemoteNeeds(facts, values, secrets = []) {
  const needs = needsOf(deployedOf(facts));
  if (needs.length === 0) return [];
  const set = await configured(values.env, values.var ?? []);
  for (const name of [...secrets, ...namesOfSecrets(values["secrets-file"])]) set.add(name);
  return missingOf(needs, set);
}

/** The text about needs that are not set in a deployment. Without `isKnown`, its secrets could not be listed. */
export function missingText(missing, { isKnown, environment = [] }) {
  const lines = missing.map(({ name }) => `    ${wranglerLine("secret", "put", name, ...environment)}`).join("\n");
  const unknown = "The secrets of the Worker are not known. If these are not set, what needs them fails:";
  return `${isKnown ? "Not set, so that what needs it fails:" : unknown}\n\n${table(missing)}\n\nTo set a secret:\n\n${lines}`;
}

/** The names in the file of the option --secrets-file, which has the form of `.dev.vars` or is JSON. */
function namesOfSecrets(file) {
  if (file === undefined) return [];
  let text;
  try {
    text = readFileSync(resolve(projectDir, file), "utf8");
  } catch (error) {
    throw new Stop(`${file} of --secrets-file cannot be read (${error.code}). Give the path of a file with lines NAME=VALUE, or with JSON.`);
  }
  try {
    return Object.keys(JSON.parse(text));
  } catch {
    return namesIn(text);
  }
}

/** The names with a non-empty value in wrangler.toml or in the options `--var`. */
export async function configured(environment, vars = []) {
  const { vars: written = {} } = await readConfig(environment);
  const options = vars.map((text) => [text.split(":", 1)[0], text.slice(text.indexOf(":") + 1)]);
  return new Set([...Object.entries(written), ...options].filter(([, value]) => String(value).trim() !== "").map(([name]) => name));
}

/** The names with a non-empty value in a file such as `.dev.vars`. */
export function namesIn(text) {
  const lines = text.split(/\r?\n/).map((line) => ASSIGNMENT.exec(line)).filter(Boolean);
  const isSet = ([, , value]) => !/^\s*(?:#.*|(["'`])\s*\1\s*(?:#.*)?)?$/.test(value);
  return lines.filter(isSet).map(([, name]) => name);
}

/** A line of such a file: its name and what stands behind the sign. */
export const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=(.*)$/;

const mentions = (text, name) => text.split(/\r?\n/).some((line) => ASSIGNMENT.exec(line)?.[1] === name);

function table(needs) {
  const width = Math.max(...needs.map(({ name }) => name.length));
  return needs.map(({ name, by }) => `    ${name.padEnd(width)}   ${by.join(", ")}`).join("\n");
}

function sample(needs) {
  const head = `# Secrets and variables for ${command("start")}, on this machine alone. Keep this file out of git.\n# In production: ${wranglerLine("secret", "put", "NAME")}\n`;
  return head + needs.map(({ name, by }) => `\n# ${by.join(", ")}\n${name}=\n`).join("");
}

/** The files of variables that wrangler reads in development: .env only if there is no .dev.vars. */
export const variableFiles = () => (existsSync(inProject(".dev.vars")) ? [".dev.vars"] : [".env", ".env.local"].filter((name) => existsSync(inProject(name))));

/** What to do where `isIgnored` is false. */
export const IGNORE_IT = "Add a line .dev.vars* to .gitignore, so that no secret is committed.";

/** True if .gitignore of the project contains .dev.vars. */
export function isIgnored() {
  const file = inProject(".gitignore");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split(/\r?\n/) : [];
  return lines.some((line) => /^\/?\.dev\.vars\*?$/.test(line.trim()));
}
