#!/usr/bin/env node
// The command of the npm package: the same scripts as in the repository, for the project in the current folder.
import "./lib/node-version.mjs";
import { readFileSync } from "node:fs";
import { inPackage, isRepository } from "./lib/paths.mjs";
import { Stop, main, say } from "./lib/ui.mjs";

const COMMANDS = {
  new: "makes a project: a2a-edge new FOLDER",
  start: "sets everything up, builds the Worker and serves its agents",
  dev: "the same, with a quick build that is made anew on every change",
  build: "builds the Worker if anything has changed",
  test: "builds, then runs the tests of the crate and those in tests/*.test.mjs",
  deploy: "builds, deploys to Cloudflare and applies the database migrations there",
  size: "prints the size of the Worker",
  check: "prints the lines that wrangler.toml lacks",
  wrangler: "runs wrangler with what follows, such as: wrangler login",
};

const usage = `Usage: npx a2a-edge COMMAND [OPTION...]

${Object.entries(COMMANDS).map(([name, does]) => `    ${name.padEnd(9)} ${does}`).join("\n")}
    help      this text

A project is a folder with wrangler.toml, Cargo.toml, src and agents; all other commands work in that folder. Each tells its
options with --help. The Worker goes to build/, local state to .wrangler/.

    A2A_EDGE_CACHE       where the tools of a build are kept (~/.cache/a2a-edge)
    A2A_EDGE_STABLE=1    builds with the stable toolchain: a panic then ends every task of its isolate
    CARGO_TARGET_DIR     where cargo compiles, unless it is the target directory of the workspace`;

await main(async () => {
  const name = process.argv[2] ?? "help";
  if (["help", "--help", "-h"].includes(name)) return say(usage);
  if (["version", "--version"].includes(name)) return say(JSON.parse(readFileSync(inPackage("package.json"), "utf8")).version);
  if (!Object.hasOwn(COMMANDS, name)) throw new Stop(`There is no command "${name}".\n\n${usage}`);
  // The script of the command reads the remaining arguments.
  process.argv.splice(2, 1);
  await import(`./${name === "test" && !isRepository ? "test-project" : name}.mjs`);
});
