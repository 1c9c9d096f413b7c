#!/usr/bin/env node
// The command of the npm package: the same scripts as in the repository, for the project in the current folder, and the commands for operators.
import "./lib/node-version.mjs";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { COMMANDS, OPERATE, moduleOf } from "./lib/commands.mjs";
import { inPackage, isRepository } from "./lib/paths.mjs";
import { Stop, main, say } from "./lib/ui.mjs";

const listed = (commands) => Object.entries(commands).map(([name, does]) => `    ${name.padEnd(11)} ${does}`).join("\n");

const usage = `Usage: npx a2a-edge COMMAND [OPTION...]

For a project:

${listed(COMMANDS)}

For operators of a server (--url URL):

${listed(OPERATE)}

    help        this text

A project is a folder with wrangler.toml, src/index.ts and agents, and with Cargo.toml if it has Rust; its commands
work in that folder. Each command tells its options with --help. What is generated goes to .a2a-edge/, local state to .wrangler/.

With Rust:

    A2A_EDGE_CACHE       where the tools of a build are kept (~/.cache/a2a-edge)
    CARGO_TARGET_DIR     where cargo compiles, unless it is the target directory of the workspace`;

await main(async () => {
  const [name = "help", ...args] = commandFirst(process.argv.slice(2));
  if (["help", "--help", "-h"].includes(name)) return say(usage);
  if (["version", "--version"].includes(name)) return say(JSON.parse(readFileSync(inPackage("package.json"), "utf8")).version);
  if (Object.hasOwn(OPERATE, name)) return (await import("./operate/operate.mjs")).operate(name, args);
  if (!Object.hasOwn(COMMANDS, name)) throw new Stop(`There is no command "${name}".\n\n${usage}`);
  // wrangler runs the build command after each change, also where the command that started it builds by itself: that is to cost nothing.
  if (name === "build" && process.env.A2A_EDGE_BUILT) return;
  const script = isRepository && name === "test" ? inPackage("scripts", "test.mjs") : inPackage(moduleOf(name));
  // The arguments are those of the script, as if Node had been started with it.
  process.argv.splice(1, 2, script);
  await import(pathToFileURL(script).href);
});

/** The arguments with options of operators that stand before the command put behind it: `a2a-edge --url URL tasks`. */
function commandFirst(args) {
  let before = 0;
  while (/^--(?:url|json)(?:=|$)/.test(args[before] ?? "")) before += args[before] === "--url" ? 2 : 1;
  return [...args.slice(before, before + 1), ...args.slice(0, before), ...args.slice(before + 1)];
}
