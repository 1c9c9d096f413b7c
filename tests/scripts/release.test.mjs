// `npm run release`: what it refuses, its notes, and its bill of materials.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { checksums, notesOf, problemsOf, versionsIn } from "../../scripts/lib/release.mjs";
import { BUNDLED, billOfMaterials } from "../../scripts/lib/sbom.mjs";
import { root } from "./project.mjs";

const FILES = ["package.json", "package-lock.json", "create/package.json", "create/templates/basic/package.json", "Cargo.toml", "Cargo.lock", "docs/conformance.json", "docs/conformance.md"];
const read = (...parts) => readFileSync(join(root, ...parts), "utf8");
const { version } = JSON.parse(read("package.json"));

let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "a2a-edge-release-"));
  for (const path of FILES) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  writeFileSync(join(folder, "CHANGELOG.md"), `# Changelog\n\n## ${version}\n\n### Added\n\n- This.\n\n## 0.0.1\n\n- That.\n`);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("nothing is published from here", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts", "release.mjs")], { encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /^\nNothing is published from here: [^]*npm run release -- --dry-run\n/);
});

test("the sources of this checkout agree on their version", () => {
  const versions = versionsIn(root);
  assert.ok(versions.length > FILES.length, "with each crate of Cargo.lock");
  for (const [place, found] of versions) assert.equal(found, version, place);
  assert.deepEqual(problemsOf(folder), []);
});

for (const [path, from, to, problem] of [
  ["create/package.json", `"version": "${version}"`, '"version": "9.9.9"', `create/package.json has version 9.9.9, package.json has ${version}.`],
  ["Cargo.toml", `version = "${version}"`, 'version = "9.9.9"', `Cargo.toml has version 9.9.9, package.json has ${version}.`],
  ["Cargo.lock", `name = "a2a-edge-chat"\nversion = "${version}"`, 'name = "a2a-edge-chat"\nversion = "9.9.9"', `Cargo.lock (a2a-edge-chat) has version 9.9.9, package.json has ${version}.`],
  ["CHANGELOG.md", `## ${version}`, "## Unreleased", `CHANGELOG.md has no section "## ${version}" with text.`],
]) {
  test(`${path} that does not fit keeps the sources from being released`, () => {
    const text = readFileSync(join(folder, path), "utf8");
    assert.ok(text.includes(from), from);
    writeFileSync(join(folder, path), text.replace(from, to));
    assert.deepEqual(problemsOf(folder), [problem]);
    writeFileSync(join(folder, path), text);
  });
}

test("the notes are the section of the version alone, and an empty one is none", () => {
  const changelog = "# Changelog\n\n## 1.10.0\n\n## 1.1.0 (today)\n\n- One.\n\n### Stored\n\n- Two.\n\n## 1.0.0\n\n- Three.\n";
  assert.equal(notesOf(changelog, "1.1.0"), "- One.\n\n### Stored\n\n- Two.\n");
  for (const none of ["1.10.0", "1.1", "2.0.0"]) assert.equal(notesOf(changelog, none), undefined, none);
});

test("checksums are those that sha256sum compares, of all files but their own", () => {
  const place = join(folder, "sums");
  mkdirSync(place);
  for (const [name, text] of [["b", "two"], ["a", "one"], ["SHA256SUMS", "old"]]) writeFileSync(join(place, name), text);
  assert.equal(checksums(place), "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed  a\n3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3  b\n");
});

const METADATA = {
  packages: [
    { id: "own", name: "own", version: "1.0.0", source: null, license: "MIT", targets: [{ kind: ["cdylib"] }] },
    { id: "linked", name: "linked", version: "2.0.0+x", source: "registry", license: "MIT/Apache-2.0", targets: [{ kind: ["lib"] }] },
    { id: "macro", name: "macro", version: "3.0.0", source: "registry", license: "MIT", targets: [{ kind: ["proc-macro"] }] },
    { id: "tested", name: "tested", version: "4.0.0", source: "registry", license: "see the file", targets: [{ kind: ["lib"] }] },
  ],
  resolve: { nodes: [
    { id: "own", deps: [{ pkg: "linked", dep_kinds: [{ kind: null }] }, { pkg: "macro", dep_kinds: [{ kind: null }] }, { pkg: "tested", dep_kinds: [{ kind: "dev" }] }] },
    { id: "linked", deps: [] }, { id: "macro", deps: [] }, { id: "tested", deps: [] },
  ] },
};

const LOCK = METADATA.packages.map(({ name, version: of, source }) => `[[package]]\nname = "${name}"\nversion = "${of}"\n${source ? `source = "${source}"\nchecksum = "c0ffee"\n` : ""}`).join("\n");

const NPM = { packages: {
  "": {}, "node_modules/preact": { version: "1.0.0", license: "MIT" }, "node_modules/@preact/signals": { version: "1.0.0", dependencies: { core: "1" } },
  "node_modules/core": { version: "2.0.0" }, "node_modules/@preact/signals/node_modules/core": { version: "1.0.0", integrity: "sha512-AAEC" },
  "node_modules/alias": { version: "3.0.0", name: "@real/name" },
} };

test("the bill of materials has every crate and npm package, and tells which are in what is published", () => {
  const given = { version: "1.2.3", license: "MIT", time: "2026-01-01T00:00:00Z", tools: { node: "24" }, metadata: METADATA, cargoLock: LOCK, npmLock: NPM, roots: ["own"] };
  const bill = billOfMaterials(given);
  assert.deepEqual(bill.components.map(({ purl, scope }) => [purl, scope]), [
    ["pkg:cargo/linked@2.0.0%2Bx", "required"], ["pkg:cargo/macro@3.0.0", "excluded"], ["pkg:cargo/tested@4.0.0", "excluded"],
    ["pkg:npm/%40preact/signals@1.0.0", "required"], ["pkg:npm/%40real/name@3.0.0", "excluded"], ["pkg:npm/core@1.0.0", "required"],
    ["pkg:npm/core@2.0.0", "excluded"], ["pkg:npm/preact@1.0.0", "required"],
  ]);
  const [linked, , tested] = bill.components;
  assert.deepEqual([linked.licenses, tested.licenses], [[{ expression: "MIT OR Apache-2.0" }], [{ license: { name: "see the file" } }]]);
  assert.deepEqual(linked.hashes, [{ alg: "SHA-256", content: "c0ffee" }]);
  assert.deepEqual(bill.components.find(({ purl }) => purl === "pkg:npm/core@1.0.0").hashes, [{ alg: "SHA-512", content: "000102" }]);
  assert.equal(bill.serialNumber, undefined);
  assert.deepEqual(billOfMaterials(given), bill);
});

// parts/programs.ts has programs for readers as texts.
test("the console imports no other npm packages than those that the bill of materials calls published", () => {
  const sources = readdirSync(join(root, "console"), { recursive: true }).filter((path) => /\.tsx?$/.test(path) && !/vite\.config|parts\/programs\.ts$/.test(path) && statSync(join(root, "console", path)).isFile());
  const imported = new Set();
  for (const path of sources) {
    for (const [, name] of read("console", path).matchAll(/^(?:import|export) (?!type).*from "(@[^/"]+\/[^/"]+|[^./"][^/"]*)/gm)) imported.add(name);
  }
  assert.deepEqual([...imported].sort(), [...BUNDLED].sort());
});

test("the workflow runs what this repository has, and publishes only where a maintainer has said so", () => {
  const { jobs } = parse(read(".github", "workflows", "release.yml"));
  const { scripts } = JSON.parse(read("package.json"));
  const runs = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run }) => run ?? ""));
  for (const [, name] of runs.join("\n").matchAll(/npm run (\S+)/g)) assert.ok(scripts[name], name);
  assert.equal(jobs.publish.if, "vars.PUBLISH == 'true'");
  assert.equal(runs.filter((run) => run.startsWith("npm publish")).length, 2);
  assert.ok(jobs.make.steps.every(({ run = "" }) => !run.includes("publish")));
});
