#!/usr/bin/env node
// Makes a project: `node create/index.mjs my-agents` in a checkout of a2a-edge.
import "./lib/node-version.mjs";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import util from "node:util";
import { agentFile, agentTest, fetchCard, slugOf } from "./lib/agent-card.mjs";
import { folderProblem, nameProblem, placeOf, projectFiles } from "./lib/project.mjs";
import { checkoutAround, sourceOf } from "./lib/source.mjs";
import { Stop, query, say } from "./lib/terminal.mjs";

const usage = `Usage: node create/index.mjs FOLDER [--rust] [--from-card URL]

Makes a project with agents, tests, a repository of git and a file for continuous integration. Its name is that of the folder.
A name alone, given within the checkout of a2a-edge, becomes a folder beside it.

    --rust            also makes a crate, with a tool and an executor in Rust
    --from-card URL   also makes an agent file, and a test, of an agent card; URL is that of the card or of its server
    --package FILE    has the project use this tarball of a2a-edge, which is copied to its folder vendor
    --no-install      leaves npm install and git to you
    -h, --help        this text`;

const OPTIONS = {
  rust: { type: "boolean" },
  "from-card": { type: "string" },
  package: { type: "string" },
  "no-install": { type: "boolean" },
  help: { type: "boolean", short: "h" },
};

try {
  await create(read(process.argv.slice(2)));
} catch (error) {
  // The scripts of the checkout have a class of this name, too.
  const isExpected = error?.constructor?.name === Stop.name || ["EACCES", "EROFS", "ENOSPC", "ENOTDIR", "EEXIST", "EPERM"].includes(error.code);
  process.stderr.write(`\n${isExpected ? error.message : error.stack}\n\n`);
  process.exitCode = 1;
}

function read(args) {
  let parsed;
  try {
    parsed = util.parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new Stop(`${error.message}\n\n${usage}`);
  }
  const { values, positionals } = parsed;
  if (values.help) return { values };
  if (positionals.length === 0) throw new Stop(`A folder for the project is missing.\n\n${usage}`);
  if (positionals.length > 1) throw new Stop(`There is no argument "${positionals[1]}".\n\n${usage}`);
  return { values, given: positionals[0] };
}

async function create({ values, given }) {
  if (values.help) return say(usage);
  const checkout = checkoutAround();
  const folder = placeOf(given, process.cwd(), checkout, resolve);
  const name = basename(folder);
  const wrongName = nameProblem(name, values);
  if (wrongName) throw new Stop(`The name "${name}" ${wrongName}.`);
  const wrongFolder = folderProblem(folder, checkout);
  if (wrongFolder) throw new Stop(`The folder ${folder} ${wrongFolder}.`);

  const { npm, crate, vendor } = await sourceOf(folder, { checkout, tarball: values.package, rust: values.rust });
  const files = projectFiles(folder, { npm, crate: values.rust ? crate : undefined });
  const imported = values["from-card"] && addAgent(files, await fetchCard(values["from-card"]));
  write(folder, files);
  await vendor();
  if (!values["no-install"]) {
    install(folder);
    // Cargo.lock is still that of a2a-edge. If this fails, the first build updates it.
    if (values.rust) query("cargo", ["update", "--workspace", "--quiet"], folder);
    makeRepository(folder);
  }
  say(summary(folder, { imported, npm, checkout, isInstalled: !values["no-install"], rust: values.rust }));
}

/** Adds the agent of a card to the files; returns its name and the members of the card that are left out. */
function addAgent(files, { url, card }) {
  const agents = [...files.keys()].filter((path) => dirname(path) === "agents").map((path) => basename(path, ".toml"));
  const slug = slugOf(card, agents);
  const { text, left } = agentFile(card, url);
  files.set(`agents/${slug}.toml`, text);
  files.set(`tests/${slug}.test.mjs`, agentTest(slug, card));
  return { slug, left };
}

function write(folder, files) {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

function install(folder) {
  say("==> Installing npm packages");
  const failed = (said) => {
    throw new Stop(`The project is in ${folder}, but npm install failed there:\n\n${said}\n\n    With a network, run there: npm install`);
  };
  query("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], folder, failed);
}

/** Creates a repository, unless the folder is inside one; commits if git has a configured author. */
function makeRepository(folder) {
  const git = (...args) => query("git", args, folder);
  if (git("--version") === undefined || git("rev-parse", "--is-inside-work-tree") === "true") return;
  if (git("init", "--quiet") === undefined) return;
  const isKnown = ["user.name", "user.email"].every((key) => git("config", key));
  if (isKnown && git("add", "--all") !== undefined) git("commit", "--quiet", "--message", "Begin with the example of a2a-edge");
}

function summary(folder, { imported, npm, checkout, isInstalled, rust }) {
  const agents = readdirSync(join(folder, "agents")).map((file) => `agents/${file}`).join(", ");
  const told = [
    `Made ${folder}: ${agents}, their tests, and a file for continuous integration.`,
    imported && `agents/${imported.slug}.toml is made of the card and answers at /${imported.slug}, by rules that you replace.`,
    imported?.left.length > 0 && `Not taken from the card: ${imported.left.join(", ")}.`,
    npm.startsWith("file:") && "The package a2a-edge is in its folder vendor: keep that in git.",
    checkout !== undefined && rust && `Its crate is at ${checkout}: keep that folder where it is.`,
  ].filter(Boolean);
  const install = isInstalled ? "" : "\n    npm install";
  return `
${told.join("\n")}

    cd ${relative(process.cwd(), folder) || "."}${install}
    npm start          # serves the agents${rust ? "; the first build takes some minutes" : ""}
    npm run dev        # serves what you save in a moment
    npm test
    npm run deploy
`;
}
