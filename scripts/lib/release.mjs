// What a release needs to be true, and what is published with the packages: checksums, notes, and what the build was made with.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The version in each file that has one, as pairs of the place and the version. */
export function versionsIn(folder) {
  const text = (...parts) => readFileSync(join(folder, ...parts), "utf8");
  const json = (...parts) => JSON.parse(text(...parts));
  const crates = [...text("Cargo.lock").matchAll(/^name = "(a2a-edge(?:-[\w-]+)?)"\nversion = "([^"]+)"\n(?!source)/gm)];
  return [
    ["package.json", json("package.json").version],
    ["package-lock.json", json("package-lock.json").version],
    ["create/package.json", json("create", "package.json").version],
    ["create/templates/basic/package.json (a2a-edge)", json("create", "templates", "basic", "package.json").dependencies["a2a-edge"]],
    ["Cargo.toml", /^\[workspace\.package\]\n(?:[^[].*\n)*?version = "([^"]+)"/m.exec(text("Cargo.toml"))?.[1]],
    ...crates.map(([, name, version]) => [`Cargo.lock (${name})`, version]),
  ];
}

/** What keeps the sources from being released, each a sentence; an empty list if nothing does. */
export function problemsOf(folder) {
  const versions = versionsIn(folder);
  const [[, version]] = versions;
  const others = versions.filter(([, other]) => other !== version);
  return [
    ...others.map(([place, other]) => `${place} has version ${other ?? "none"}, package.json has ${version}.`),
    ...(notesOf(readFileSync(join(folder, "CHANGELOG.md"), "utf8"), version) === undefined ? [`CHANGELOG.md has no section "## ${version}" with text.`] : []),
    ...REPORTS.filter((path) => !existsSync(join(folder, path))).map((path) => `${path} is missing: npm run conformance writes it.`),
  ];
}

/** The conformance report. */
export const REPORTS = ["docs/conformance.json", "docs/conformance.md"];

/** The section of a version in the changelog, without its heading; undefined if there is none, or if it is empty. */
export function notesOf(changelog, version) {
  const lines = changelog.split(/\r?\n/);
  const begin = lines.findIndex((line) => line === `## ${version}` || line.startsWith(`## ${version} `));
  if (begin === -1) return undefined;
  const rest = lines.slice(begin + 1);
  const end = rest.findIndex((line) => line.startsWith("## "));
  const text = rest.slice(0, end === -1 ? undefined : end).join("\n").trim();
  return text === "" ? undefined : `${text}\n`;
}

/** The text of SHA256SUMS for the files in a folder, in the form of `sha256sum`. */
export function checksums(folder) {
  const names = readdirSync(folder).filter((name) => name !== SUMS).sort();
  return names.map((name) => `${createHash("sha256").update(readFileSync(join(folder, name))).digest("hex")}  ${name}\n`).join("");
}

export const SUMS = "SHA256SUMS";
