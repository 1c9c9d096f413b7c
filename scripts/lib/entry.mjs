// The entry of the Worker, the module that wrangler.toml names as `main`: whether it registers anything.
import { existsSync, readFileSync } from "node:fs";
import { hasRust, inProject } from "./paths.mjs";

/**
 * True if code of the project may register tools and kinds of executors: it has Rust, or its entry does more than to serve the agents. The names of such
 * tools and kinds are known to the Worker alone, which is started to check them.
 */
export const mayRegister = () => hasRust || hasFunctions();

/** True if the entry does more than `worker({ agents })`. It is read anew at each call: `dev` sees when the first function is added. */
export function hasFunctions() {
  const entry = entryFile();
  return existsSync(entry) && !isPlain(readFileSync(entry, "utf8"));
}

/** The path of the entry, as wrangler.toml names it before its first table. */
function entryFile() {
  const config = inProject("wrangler.toml");
  const [top] = existsSync(config) ? readFileSync(config, "utf8").split(/^[ \t]*\[/m) : [""];
  return inProject(/^[ \t]*main[ \t]*=[ \t]*["']([^"'\n]+)["']/m.exec(top)?.[1] ?? "src/index.ts");
}

/** The statements of an entry without functions, in any order. */
const PLAIN = [
  /import agents from (["'])#agents\1/, /import \{ ?(?:TaskObject ?, ?worker|worker ?, ?TaskObject) ?,? ?\} from (["'])a2a-edge\1/, /export \{ ?TaskObject ?,? ?\}/,
  /export default worker\( ?\{ ?agents ?,? ?\} ?\)/,
];

/** True for the text of an entry that registers nothing, whatever its comments, spaces and quotes are. */
export function isPlain(text) {
  const bare = text.replace(/^\ufeff/, "").replace(/\/\*[^]*?\*\/|\/\/.*$/gm, "").replace(/\s+/g, " ");
  return PLAIN.reduce((rest, statement) => rest.replace(statement, ""), bare).replace(/[; ]/g, "") === "";
}
