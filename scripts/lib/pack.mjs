// Makes the npm packages that a checkout publishes: a2a-edge, of what is built, and create-a2a-edge. The same sources and builds give the same bytes.
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, posix } from "node:path";
import { COMMANDS, OPERATE, moduleOf } from "./commands.mjs";
import { ENGINE, RECORD, hashesIn } from "./engine.mjs";
import { inPackage } from "./paths.mjs";
import { run } from "./process.mjs";
import { leastRust } from "./requirements.mjs";
import { Stop } from "./ui.mjs";

/** What package.json has for the checkout alone: its own scripts, and what only builds and tests need. */
const OF_CHECKOUT = ["private", "scripts", "imports", "files", "devDependencies", "optionalDependencies"];

/** What the scripts read beside their modules: the tool and the beginning of an engine that a project with Rust compiles. */
const DATA = ["scripts/bindgen", "scripts/shim"];

/** True if everything is there of which the package a2a-edge is packed. */
export const isBuilt = () => [...ENGINE, "schemas/agent.schema.json", "build-console/assets/console/index.html"].every((path) => existsSync(inPackage(path)));

/** Packs a2a-edge into the folder `to`; returns the path of the tarball. */
export function packEngine(to) {
  const manifest = JSON.parse(readFileSync(inPackage("package.json"), "utf8"));
  return pack(to, manifest, (staging) => {
    for (const path of [...manifest.files, ...DATA, ...reached(["scripts/a2a-edge.mjs", ...Object.keys({ ...COMMANDS, ...OPERATE }).map(moduleOf)])]) copy(path, staging);
    writeFileSync(join(staging, RECORD), `${JSON.stringify({ version: manifest.version, rust: leastRust(), sha256: hashesIn(staging) }, null, 2)}\n`);
    writeFileSync(join(staging, "README.md"), README);
  });
}

/** Packs create-a2a-edge into the folder `to`; returns the path of the tarball. */
export function packCreate(to) {
  const manifest = JSON.parse(readFileSync(inPackage("create", "package.json"), "utf8"));
  return pack(to, manifest, (staging) => {
    for (const path of manifest.files) cpSync(inPackage("create", path), join(staging, path), { recursive: true, filter: (from) => !MADE.test(from) });
    cpSync(inPackage("Cargo.lock"), join(staging, "templates", "rust", "Cargo.lock"));
    for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) cpSync(inPackage(name), join(staging, name));
  });
}

const README = `# a2a-edge

Hosts A2A (Agent2Agent protocol) agents on Cloudflare Workers: an agent is a file, each of its tasks lives in a Durable Object of its own. The WebAssembly
is built already, so that a project needs Node alone. The command \`a2a-edge\` of a project says what it can do.
`;

/** What is made where a template is used as it is. */
const MADE = /[\\/](?:\.a2a-edge|\.wrangler|build(?:-[^\\/]*)?|node_modules|target|package-lock\.json)$/;

async function pack(to, manifest, fill) {
  const staging = mkdtempSync(join(tmpdir(), "a2a-edge-pack-"));
  try {
    fill(staging);
    const kept = Object.fromEntries(Object.entries(manifest).filter(([key]) => !OF_CHECKOUT.includes(key)));
    writeFileSync(join(staging, "package.json"), `${JSON.stringify(kept, null, 2)}\n`);
    // The mode of a file depends on the umask of a checkout, and is part of a tarball.
    const programs = Object.values(manifest.bin);
    for (const path of readdirSync(staging, { recursive: true })) {
      const isFile = statSync(join(staging, path)).isFile();
      chmodSync(join(staging, path), isFile && !programs.includes(path) ? 0o644 : 0o755);
    }
    mkdirSync(to, { recursive: true });
    const { code, output } = await run("npm", ["pack", "--silent", "--ignore-scripts", `--pack-destination=${to}`], { cwd: staging, quiet: true });
    if (code !== 0) throw new Stop(`${manifest.name} could not be packed:\n\n${output.trim()}`);
    return join(to, `${manifest.name}-${manifest.version}.tgz`);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function copy(path, staging) {
  if (!existsSync(inPackage(path))) throw new Stop(`${path} is missing, which belongs to the package.\n\n    Run: npm run package`);
  mkdirSync(dirname(join(staging, path)), { recursive: true });
  // A tsconfig.json concerns the checkout; bundlers of projects would read it.
  cpSync(inPackage(path), join(staging, path), { recursive: true, filter: (from) => basename(from) !== "tsconfig.json" });
}

/** The modules that these modules import, with themselves, as paths below the checkout. */
export function reached(modules) {
  const found = new Set();
  for (const waiting = [...modules]; waiting.length > 0; ) {
    const path = waiting.pop();
    if (found.has(path) || !existsSync(inPackage(path)) || !statSync(inPackage(path)).isFile()) continue;
    found.add(path);
    const imports = readFileSync(inPackage(path), "utf8").matchAll(/(?:from|import) ?\(?"(\.{1,2}\/[^"]+\.mjs)"/g);
    for (const [, name] of imports) waiting.push(posix.join(posix.dirname(path), name));
  }
  return [...found].sort();
}
