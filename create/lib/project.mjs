// The files of a new project: those of a template under the project's name.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";

const own = (...parts) => join(dirname(dirname(fileURLToPath(import.meta.url))), ...parts);

/** The version of this package, and of the package a2a-edge on which its projects depend. */
export const { version: VERSION } = JSON.parse(readFileSync(own("package.json"), "utf8"));

/** The name of the project in the templates. */
const EXAMPLE = "my-agents";

/** Folders and files that are made when a template is used where it is. */
const MADE = /^(?:\.a2a-edge|\.wrangler|build(?:-.*)?|node_modules|target|package-lock\.json)$/;

/** npm packs no file of this name, so the templates have it without its dot. */
const WITHOUT_DOT = { gitignore: ".gitignore" };

/** With longer names, Cloudflare would refuse the names of queues. */
const MAX_NAME = 48;

/** The problem of a project's name, which is used for its npm package, its Worker, its database and its queues, and with Rust for its crate. */
export function nameProblem(name, { rust = false } = {}) {
  if (!/^[a-z][a-z0-9-]*$/.test(name) || name.endsWith("-") || name.includes("--") || name.length > MAX_NAME) {
    return `must be lower-case letters, digits and single dashes, beginning with a letter, at most ${MAX_NAME}, as "my-agents"`;
  }
  if (name === "a2a-edge") return "is the name of a package that the project needs";
  if (!rust) return undefined;
  if (KEYWORDS.has(name)) return "is a word of Rust, and no name for a crate";
  return crates().includes(name) ? "is the name of a crate that the project needs" : undefined;
}

const KEYWORDS = new Set(
  ("abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl in let " +
    "loop macro match mod move mut override priv pub ref return self static struct super trait true try type typeof unsafe unsized use " +
    "virtual where while yield alloc build core deps examples incremental main std test").split(" "),
);

/** The names of the crates on which a project with Rust depends. */
const crates = () => [...lockFile().matchAll(/^name = "([^"]+)"$/gm)].map(([, name]) => name).filter((name) => name !== EXAMPLE);

/** Cargo.lock of a2a-edge: the versions that were tested. In a checkout it is above this folder, and otherwise in the template. */
function lockFile() {
  const places = [own("templates", "rust", "Cargo.lock"), own("..", "Cargo.lock")];
  return readFileSync(places.find(existsSync), "utf8");
}

/**
 * The files of a project in `folder`, as path to text. `npm` is what package.json names for a2a-edge, a version or a file. `crate`, if there is to be
 * Rust, is what Cargo.toml names for the crate, such as `version = "0.4.0"`.
 */
export function projectFiles(folder, { npm, crate }) {
  const files = new Map(filesOf("basic"));
  if (crate !== undefined) for (const [path, text] of filesOf("rust")) files.set(path, joined(path, files.get(path), text));
  const name = basename(folder);
  for (const [path, text] of files) files.set(path, text.replaceAll(EXAMPLE, name));
  files.set("package.json", files.get("package.json").replace(/("a2a-edge": )"[^"]*"/, (_, key) => `${key}${JSON.stringify(npm)}`));
  if (crate === undefined) return files;
  // Without the table `[workspace]`, cargo would treat the project as a member of a workspace in a parent folder.
  files.set("Cargo.toml", `${files.get("Cargo.toml").replace(/path = "\.\.\/\.\.\/\.\."/, () => crate).trimEnd()}\n\n[workspace]\n`);
  files.set("Cargo.lock", lockFile());
  return files;
}

/** The files of a template, as pairs of path and text. */
function filesOf(template, folder = "") {
  const entries = readdirSync(own("templates", template, folder), { withFileTypes: true });
  return entries.filter((entry) => !MADE.test(entry.name)).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return filesOf(template, path);
    return [[posix.join(folder, WITHOUT_DOT[entry.name] ?? entry.name), readFileSync(own("templates", template, path), "utf8")]];
  });
}

/** A file of the template `rust` with the same path as one of `basic`: it adds to the settings, and replaces every other file. */
function joined(path, basic, text) {
  if (basic === undefined) return text;
  if (path === "wrangler.toml") return basic + text;
  if (path !== "package.json") return text;
  const [one, other] = [JSON.parse(basic), JSON.parse(text)];
  const devDependencies = Object.fromEntries(Object.entries({ ...one.devDependencies, ...other.devDependencies }).sort());
  return `${JSON.stringify({ ...one, devDependencies }, null, 2)}\n`;
}

/** The reason why a project cannot be created in `folder`: it is not empty, or a project does not work there. */
export function folderProblem(folder, checkout) {
  if (existsSync(folder) && readdirSync(folder).length > 0) return "is not empty";
  if (checkout !== undefined && isInside(checkout, folder)) return `is inside of a2a-edge (${checkout}); choose a place outside`;
  return undefined;
}

/** The folder for a project of this name: below the current folder, but beside the checkout if the current folder is inside of the checkout. */
export function placeOf(given, current, checkout, resolve = join) {
  const isName = basename(given) === given;
  const beside = checkout !== undefined && isName && isInside(checkout, current);
  return beside ? join(dirname(checkout), given) : resolve(current, given);
}

const isInside = (folder, path) => !relative(folder, path).startsWith("..");
