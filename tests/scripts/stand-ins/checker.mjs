// In the place of the checker: an agent is the text of its file, and a mistake a text that says so.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export async function check({ folder }) {
  const read = ["agents", "skills"].flatMap((name) => everythingIn(folder, name));
  const files = read.filter((path) => statSync(join(folder, path)).isFile()).map((path) => [path, readFileSync(join(folder, path), "utf8").trim()]);
  const problems = files.filter(([, text]) => /mistake|^$/.test(text)).map(([file, text]) => ({ file, line: 1, key: "", text, shown: `${file}:1: there is no "${text}"` }));
  if (problems.length > 0) return { problems };
  const agents = Object.fromEntries(files.filter(([path]) => path.startsWith("agents/")).map(([path, text]) => [path.slice(7, -5), text]));
  const facts = existsSync(join(folder, "facts.json")) ? JSON.parse(readFileSync(join(folder, "facts.json"), "utf8")) : { agents: Object.keys(agents).map((slug) => ({ slug })) };
  return { agents: { version: "0.4.0", index: JSON.stringify({ files: Object.fromEntries(files) }), agents }, facts: { remotes: [], mcp: [], ...facts }, read };
}

function everythingIn(folder, path) {
  if (!existsSync(join(folder, path))) return [];
  if (!statSync(join(folder, path)).isDirectory()) return [path];
  return [path, ...readdirSync(join(folder, path)).sort().flatMap((name) => everythingIn(folder, `${path}/${name}`))];
}
