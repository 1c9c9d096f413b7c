// Projects made of examples and of blocks of pages: what `create` makes, with other files in it.
import { execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { freePort } from "../../scripts/lib/port.mjs";
import { root } from "./markdown.mjs";

const TEMPLATE = join(root, "create", "templates", "basic");
const PEERS = join(root, "tests", "peers", "node_modules");

/** Bindings that examples use, as lines of wrangler.toml. */
const BINDINGS = `
[[r2_buckets]]
binding = "FILES"
bucket_name = "files"

[[send_email]]
name = "MAIL"

[[d1_databases]]
binding = "SALES"
database_name = "sales"
database_id = "00000000-0000-4000-8000-000000000000"

[[services]]
binding = "REPORTS"
service = "reports"
`;

/**
 * Makes a project with the folders `from` (paths of the repository) and `files` (texts by their paths) over what the template has: its tests are left out, and its agents
 * and sources where other ones are given.
 * `flags` are added to the compatibility flags. It is below the checkout, so that its packages are found; `a2a-edge` is the checkout, and packages that the checkout lacks are those of tests/peers,
 * where they are installed. `remove` removes it.
 */
export function makeProject({ from = [], files = {}, flags = [] }) {
  mkdirSync(join(root, ".wrangler"), { recursive: true });
  const folder = mkdtempSync(join(root, ".wrangler", "docs-project-"));
  const at = (...parts) => join(folder, ...parts);
  // The agents of the template name what its sources register.
  const hasOwn = from.length > 0 || "src/index.ts" in files;
  for (const name of ["package.json", "tsconfig.json", "wrangler.toml", ...(hasOwn ? [] : ["agents", "src"])]) cpSync(join(TEMPLATE, name), at(name), { recursive: true });
  // Without the console, which a checkout may not have built.
  const config = readFileSync(at("wrangler.toml"), "utf8").replace(/^\[assets\]\n(?:.+\n)+/m, "");
  writeFileSync(at("wrangler.toml"), `${config.replace("compatibility_flags = [", (list) => list + flags.map((flag) => `"${flag}", `).join(""))}${BINDINGS}`);
  for (const path of from) cpSync(join(root, path), folder, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  }
  link(root, at("node_modules", "a2a-edge"));
  link(join(root, "scripts", "a2a-edge.mjs"), at("node_modules", ".bin", "a2a-edge"));
  linkPeers(at("node_modules"));
  return { folder, at, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function link(target, path) {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** Links the packages that only tests/peers has: an import of them is resolved from the project. */
function linkPeers(modules) {
  if (!existsSync(PEERS)) return;
  const names = readdirSync(PEERS).flatMap((name) => (name.startsWith("@") ? readdirSync(join(PEERS, name)).map((one) => join(name, one)) : [name]));
  for (const name of names.filter((name) => !name.startsWith(".") && !existsSync(join(root, "node_modules", name)))) link(join(PEERS, name), join(modules, name));
}

/** The environment of programs of the project. A runner of tests below another one would run nothing if it knew of that. */
function environmentOf({ at }) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const PATH = [at("node_modules", ".bin"), join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);
  return { ...env, PATH, WRANGLER_SEND_METRICS: "false", NO_COLOR: "1", NO_PROXY: "127.0.0.1,localhost" };
}

/** Runs a program in the project to its end, with the commands of a2a-edge and of the checkout in its PATH. */
export function runIn(project, program, args) {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: project.folder, env: environmentOf(project) }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? null), output: `${stdout}${stderr}` });
    });
  });
}

/** Checks the agents of the project, and writes `.a2a-edge/` and the types of its bindings. Throws what the commands say if one fails. */
export async function generate(project) {
  for (const [program, ...args] of [["a2a-edge", "build"], ["wrangler", "types"]]) {
    const { code, output } = await runIn(project, program, args);
    if (code !== 0) throw new Error(output);
  }
}

/** The mistakes that the compiler finds in files of the project, strictly; empty text if there is none. */
export async function typeMistakes(project, include) {
  const config = { extends: "./tsconfig.json", compilerOptions: STRICT, include: [...include, "worker-configuration.d.ts", ".a2a-edge/*.d.ts"] };
  writeFileSync(project.at("tsconfig.strict.json"), JSON.stringify(config));
  const { code, output } = await runIn(project, "tsc", ["--project", "tsconfig.strict.json"]);
  if (code !== 0 && output === "") throw new Error(`tsc ended with ${code}`);
  return output;
}

const STRICT = {
  exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, allowImportingTsExtensions: true, erasableSyntaxOnly: true, verbatimModuleSyntax: true, types: ["node"],
};

/** Serves the project by `a2a-edge start` while `work` runs, which gets the URL, and what the server has said so far. */
export async function served(project, work, { port } = {}) {
  port ??= await freePort();
  const inspector = await freePort();
  const args = ["start", "--port", String(port), "--inspector-port", String(inspector)];
  const child = spawn(project.at("node_modules", ".bin", "a2a-edge"), args, { cwd: project.folder, env: environmentOf(project) });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const ended = new Promise((resolve) => child.once("close", resolve));
  try {
    for (const deadline = Date.now() + START_MS; !output.includes("a2a-edge serves at"); await new Promise((resolve) => setTimeout(resolve, 50))) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`it does not serve:\n${output}`);
    }
    return await work(`http://127.0.0.1:${port}`, () => output);
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

const START_MS = 120_000;
