// The software bill of materials of a release, in CycloneDX JSON: the crates of Cargo.lock and the npm packages of package-lock.json. The same lock files
// and versions of tools give the same text.

/** The npm packages whose code is in the console, which is published. */
export const BUNDLED = ["preact", "@preact/signals"];

/** The scope of a component whose code is in what is published, and of one that only builds or tests it. */
const PUBLISHED = "required";
const TOOL = "excluded";

/**
 * The bill of materials as an object. `version` is that of the release, `time` an ISO instant, `tools` has the version of each program of the build by its
 * name, `metadata` is the output of `cargo metadata` for the target of the module, `cargoLock` the text of Cargo.lock, and `npmLock` package-lock.json.
 */
export function billOfMaterials({ version, time, tools, metadata, cargoLock, npmLock, roots, license }) {
  const crates = cratesOf(metadata, cargoLock, roots);
  const packages = packagesOf(npmLock);
  const root = { type: "application", "bom-ref": `pkg:npm/a2a-edge@${version}`, name: "a2a-edge", version, purl: `pkg:npm/a2a-edge@${version}`, ...licensed(license) };
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: time,
      tools: { components: Object.entries(tools).map(([name, text]) => ({ type: "application", name, version: text })) },
      component: root,
    },
    components: [...crates, ...packages].sort((one, other) => compare(one["bom-ref"], other["bom-ref"])),
  };
}

/** The crates of Cargo.lock, other than those of the workspace. */
function cratesOf({ packages, resolve }, lock, roots) {
  const linked = linkedCrates(packages, resolve, roots);
  const licenses = new Map(packages.map(({ name, version, license }) => [`${name}@${version}`, license]));
  const locked = lock.split("[[package]]").slice(1).map((entry) => ({
    name: valueOf(entry, "name"), version: valueOf(entry, "version"), source: valueOf(entry, "source"), checksum: valueOf(entry, "checksum"),
  }));
  return locked.filter(({ source }) => source !== undefined).map(({ name, version, checksum }) => {
    const purl = `pkg:cargo/${name}@${encodeURIComponent(version)}`;
    const hashes = checksum === undefined ? {} : { hashes: [{ alg: "SHA-256", content: checksum }] };
    const scope = linked.has(`${name}@${version}`) ? PUBLISHED : TOOL;
    return { type: "library", "bom-ref": purl, name, version, scope, ...hashes, ...licensed(licenses.get(`${name}@${version}`)), purl };
  });
}

const valueOf = (entry, key) => new RegExp(`^${key} = "([^"]*)"$`, "m").exec(entry)?.[1];

/** The crates that are linked into the modules of WebAssembly, as name@version: what `roots` depend on, without build scripts, macros and tests. */
function linkedCrates(packages, resolve, roots) {
  const byId = new Map(packages.map((one) => [one.id, one]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const found = new Set();
  for (const waiting = packages.filter(({ name, source }) => source === null && roots.includes(name)).map(({ id }) => id); waiting.length > 0; ) {
    const id = waiting.pop();
    const { name, version, targets } = byId.get(id);
    if (found.has(`${name}@${version}`) || targets.some(({ kind }) => kind.includes("proc-macro"))) continue;
    found.add(`${name}@${version}`);
    for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps) if (kinds.some(({ kind }) => kind === null)) waiting.push(pkg);
  }
  return found;
}

/** The npm packages of a lock file. */
function packagesOf({ packages }) {
  const bundled = bundledPaths(packages);
  const found = new Map();
  for (const [path, { version, integrity, license, name }] of Object.entries(packages)) {
    if (path === "") continue;
    // A package under an alias has its own name in its entry.
    const full = name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const purl = `pkg:npm/${full.replace("@", "%40")}@${encodeURIComponent(version)}`;
    const scope = bundled.has(path) || found.get(purl)?.scope === PUBLISHED ? PUBLISHED : TOOL;
    found.set(purl, { type: "library", "bom-ref": purl, name: full, version, scope, ...integrityOf(integrity), ...licensed(license), purl });
  }
  return [...found.values()];
}

/** The places of the packages whose code is in the console, with their dependencies. */
function bundledPaths(packages) {
  const found = new Set();
  for (const waiting = BUNDLED.map((name) => `node_modules/${name}`); waiting.length > 0; ) {
    const path = waiting.pop();
    if (found.has(path)) continue;
    found.add(path);
    for (const name of Object.keys(packages[path]?.dependencies ?? {})) waiting.push(resolved(packages, path, name));
  }
  return found;
}

/** The place of the package `name` as the package at `path` finds it. */
function resolved(packages, path, name) {
  for (let folder = path; folder !== ""; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    if (packages[`${folder}/node_modules/${name}`] !== undefined) return `${folder}/node_modules/${name}`;
  }
  return `node_modules/${name}`;
}

function integrityOf(integrity) {
  const [, algorithm, base64] = /^(sha(?:1|256|384|512))-(\S+)/.exec(integrity ?? "") ?? [];
  if (algorithm === undefined) return {};
  return { hashes: [{ alg: algorithm.replace("sha", "SHA-"), content: Buffer.from(base64, "base64").toString("hex") }] };
}

/** The license: an expression of SPDX, in which older crates write "/" for OR, or a text such as "SEE LICENSE IN LICENSE". */
function licensed(license) {
  if (!license) return {};
  const isExpression = /^[\w.()+-]+(?:(?: (?:AND|OR|WITH) |\s*\/\s*)[\w.()+-]+)*$/.test(license);
  return { licenses: [isExpression ? { expression: license.replaceAll(/\s*\/\s*/g, " OR ") } : { license: { name: license } }] };
}

const compare = (one, other) => (one < other ? -1 : Number(one > other));
