// The files of a new project: those of examples/own-agent under another name, and the files that a repository needs.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, posix, relative, sep } from "node:path";
import { inPackage, packageDir } from "./paths.mjs";

/**
 * The version under which the packages are published; undefined while projects depend on the path of this checkout.
 */
const PUBLISHED = undefined;

const EXAMPLE = "own-agent";

/** Folders and files that are generated when the example is used. */
const MADE = /^(?:build(?:-.*)?|node_modules|target|\.wrangler|\.gitignore|\.dev\.vars.*|Cargo\.lock|package-lock\.json)$/;

/** With longer names, Cloudflare would refuse the names of queues. */
const MAX_NAME = 48;

/** The problem of a project's name, which is used for its crate, its npm package, its Worker, its database and its queues. */
export function nameProblem(name) {
  if (!/^[a-z][a-z0-9-]*$/.test(name) || name.endsWith("-") || name.includes("--") || name.length > MAX_NAME) {
    return `must be lower-case letters, digits and single dashes, beginning with a letter, at most ${MAX_NAME}, as "my-agents"`;
  }
  if (KEYWORDS.has(name)) return "is a word of Rust, and no name for a crate";
  const crates = readFileSync(inPackage("Cargo.lock"), "utf8").matchAll(/^name = "([^"]+)"$/gm);
  if ([...crates].some(([, crate]) => crate === name)) return "is the name of a crate that the project needs";
  return undefined;
}

const KEYWORDS = new Set(
  ("abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl in let " +
    "loop macro match mod move mut override priv pub ref return self static struct super trait true try type typeof unsafe unsized use " +
    "virtual where while yield alloc build core deps examples incremental main std test").split(" "),
);

/** The files of a project in `folder`, as path to text. */
export function projectFiles(folder, { name = basename(folder), published = PUBLISHED } = {}) {
  const files = new Map(template().map((path) => [path, readFileSync(inPackage("examples", EXAMPLE, path), "utf8")]));
  for (const [path, text] of files) {
    const named = text.replaceAll(EXAMPLE, name).replaceAll(EXAMPLE.replaceAll("-", "_"), name.replaceAll("-", "_"));
    files.set(path, path.endsWith("Cargo.toml") || path.endsWith("package.json") ? dependencies(named, folder, published) : named);
  }
  // Without the table `[workspace]`, cargo would treat the project as a member of a workspace in a parent folder.
  files.set("Cargo.toml", `${files.get("Cargo.toml").trimEnd()}\n\n[workspace]\n`);
  files.set("Cargo.lock", readFileSync(inPackage("Cargo.lock"), "utf8"));
  files.set(".gitignore", IGNORED);
  files.set(".github/workflows/ci.yml", workflow(folder, published));
  return files;
}

/** The paths of the example's own files. */
function template(folder = "") {
  const entries = readdirSync(inPackage("examples", EXAMPLE, folder), { withFileTypes: true });
  return entries.filter((entry) => !MADE.test(entry.name)).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    return entry.isDirectory() ? template(path) : [path];
  });
}

/** Rewrites the example's dependencies by path for the project in `folder`. */
function dependencies(manifest, folder, published) {
  if (published !== undefined) {
    return manifest.replace(/path = "\.\.\/\.\.[^"]*"/g, `version = "${published}"`).replace(/"file:\.\.\/\.\.[^"]*"/g, `"^${published}"`);
  }
  const above = slashes(relative(folder, packageDir));
  return manifest.replace(/"(file:)?\.\.\/\.\.([^"]*)"/g, (_, scheme = "", rest) => `"${scheme}${above}${rest}"`);
}

const slashes = (path) => path.split(sep).join("/");

const IGNORED = `/build/
/build-*/
/node_modules/
/target/
/.wrangler/
.dev.vars*
!.dev.vars.example
.env*
`;

/** The workflow of GitHub Actions for every push. */
function workflow(folder, published) {
  const shared = common(folder, packageDir);
  const [own, library] = [folder, packageDir].map((path) => slashes(relative(shared, path)));
  const here = published === undefined ? own : ".";
  const checkout = published === undefined
    ? `      - uses: actions/checkout@v4
        with:
          path: ${own}
      # a2a-edge is not published yet. Set the variable A2A_EDGE_REPOSITORY of this repository to one that has it, as owner/name.
      - uses: actions/checkout@v4
        with:
          repository: \${{ vars.A2A_EDGE_REPOSITORY }}
          path: ${library}
`
    : "      - uses: actions/checkout@v4\n";
  return `name: CI

on: [push, pull_request]

permissions:
  contents: read

jobs:
  test:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    defaults:
      run:
        working-directory: ${here}
    steps:
${checkout}      - uses: actions/setup-node@v4
        with:
          node-version: 24
      - uses: actions/cache@v4
        with:
          path: |
            ~/.cache/a2a-edge
            ~/.cargo/registry
            ${posix.join(here, "target")}
          key: \${{ runner.os }}-\${{ hashFiles('${posix.join(here, "Cargo.lock")}') }}
      # Adds what the build needs of Rust: the target for WebAssembly, and nightly.
      - run: rustup update stable && rustup default stable
      - run: npm install
      - run: npm test
`;
}

/** The innermost folder that contains both. */
function common(one, other) {
  for (let folder = one; ; folder = dirname(folder)) {
    if (!relative(folder, other).startsWith("..") || dirname(folder) === folder) return folder;
  }
}

/** The reason why a project cannot be created in `folder`: it is not empty, or a project does not work there. */
export function folderProblem(folder) {
  if (existsSync(folder) && readdirSync(folder).length > 0) return "is not empty";
  if (!relative(packageDir, folder).startsWith("..")) return `is inside of a2a-edge (${packageDir}); choose a place outside`;
  return undefined;
}

/**
 * The folder for a project of this name: below the current folder, but next to the checkout if the current folder is inside
 * the checkout.
 */
export function placeOf(given, current, resolve = join) {
  const isName = basename(given) === given;
  const isInside = !relative(packageDir, current).startsWith("..");
  return isName && isInside ? join(dirname(packageDir), given) : resolve(current, given);
}
