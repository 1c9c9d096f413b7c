// In the place of the checker: an agent is the text of its file, and a mistake a text that says so, or that says "of code" in a project without such. A file `facts.json` has other agents, with the
// facts of which a test is.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The checked form has the version of this package. */
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

/** The schemas for editors, of which none is checked here. */
export const schemas = () => ({ "agent.schema.json": {} });

export function check({ folder, joins }) {
  const read = ["agents", "skills"].flatMap((name) => everythingIn(folder, name));
  const files = read.filter((path) => statSync(join(folder, path)).isFile()).map((path) => [path, readFileSync(join(folder, path), "utf8").trim()]);
  const isMistaken = (text) => /mistake|^$/.test(text) || (text === "of code" && !joins);
  const problems = files.filter(([, text]) => isMistaken(text)).map(([file, text]) => ({ file, line: 1, key: "", text, shown: `${file}:1: there is no "${text}"` }));
  if (problems.length > 0) return { problems, read };
  const facts = existsSync(join(folder, "facts.json")) ? JSON.parse(readFileSync(join(folder, "facts.json"), "utf8")) : {};
  const slugs = files.filter(([path]) => path.startsWith("agents/")).map(([path, text]) => ({ slug: path.slice(7, -5), text }));
  const listed = facts.agents ?? slugs;
  const index = JSON.stringify({ built_ms: 0, ...facts, agents: listed.map(({ slug }) => ({ slug })), files: Object.fromEntries(files) });
  return { agents: { version, index, agents: Object.fromEntries(listed.map((agent) => [agent.slug, JSON.stringify(agent)])) }, problems, read };
}

function everythingIn(folder, path) {
  if (!existsSync(join(folder, path))) return [];
  if (!statSync(join(folder, path)).isDirectory()) return [path];
  return [path, ...readdirSync(join(folder, path)).sort().flatMap((name) => everythingIn(folder, `${path}/${name}`))];
}
