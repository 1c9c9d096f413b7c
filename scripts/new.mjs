// `node scripts/new.mjs`, `npx a2a-edge new`: creates a project.
import "./lib/node-version.mjs";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { agentFile, agentTest, fetchCard, slugOf } from "./lib/agent-card.mjs";
import { folderProblem, nameProblem, placeOf, projectFiles } from "./lib/new-project.mjs";
import { readOptions } from "./lib/options.mjs";
import { packageDir } from "./lib/paths.mjs";
import { environment, query, run } from "./lib/process.mjs";
import { Stop, main, say, step } from "./lib/ui.mjs";

const usage = `Usage: npx a2a-edge new FOLDER [--from-card URL]
   or: node scripts/new.mjs FOLDER [--from-card URL]

Makes a project with agents, a tool and an executor in Rust, tests, a repository of git and a file for continuous
integration. Its name is that of the folder. A name alone, given within the checkout of a2a-edge, becomes a folder beside it.

    --from-card URL   also makes an agent file, and a test, of an agent card; URL is that of the card or of its server
    --no-install      leaves npm install and git to you
    -h, --help        this text`;

await main(async () => {
  const options = { "from-card": { type: "string" }, "no-install": { type: "boolean" } };
  const { values, positionals, refuse } = readOptions({ usage, options, positionals: true });
  const [given, ...more] = positionals;
  if (given === undefined) throw refuse("A folder for the project is missing.");
  if (more.length > 0) throw refuse(`There is no argument "${more[0]}".`);

  const folder = placeOf(given, process.cwd(), resolve);
  const name = basename(folder);
  const wrongName = nameProblem(name);
  if (wrongName) throw new Stop(`The name "${name}" ${wrongName}.`);
  const wrongFolder = folderProblem(folder);
  if (wrongFolder) throw new Stop(`The folder ${folder} ${wrongFolder}.`);

  const files = projectFiles(folder);
  const imported = values["from-card"] && addAgent(files, await fetchCard(values["from-card"]));
  write(folder, files);
  if (!values["no-install"]) {
    await step("Installing npm packages", () => install(folder));
    // Cargo.lock is still that of a2a-edge. If this fails, the first build updates it.
    query("cargo", ["update", "--workspace", "--quiet"], { cwd: folder });
    await makeRepository(folder);
  }
  say(summary(folder, imported));
});

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
  try {
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  } catch (error) {
    throw new Stop(`The project could not be written: ${error.message}`);
  }
}

async function install(folder) {
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
  const { code, output } = await run("npm", args, { cwd: folder, env: environment(), quiet: true });
  if (code !== 0) throw new Stop(`The project is in ${folder}, but npm install failed there:\n\n${output.trim()}`);
}

/** Creates a repository, unless the folder is inside one; commits if git has a configured author. */
async function makeRepository(folder) {
  const git = (...args) => query("git", args, { cwd: folder });
  if (git("--version") === undefined || git("rev-parse", "--is-inside-work-tree") === "true") return;
  if (git("init", "--quiet") === undefined) return;
  const isKnown = ["user.name", "user.email"].every((key) => git("config", key));
  if (isKnown && git("add", "--all") !== undefined) git("commit", "--quiet", "--message", "Begin with the example of a2a-edge");
}

function summary(folder, imported) {
  const agents = readdirSync(join(folder, "agents")).map((file) => `agents/${file}`).join(", ");
  const told = imported && [
    `agents/${imported.slug}.toml is made of the card and answers at /${imported.slug}, by rules that you replace.`,
    imported.left.length > 0 && `Not taken from the card: ${imported.left.join(", ")}.`,
  ].filter(Boolean).join("\n");
  const library = existsSync(join(packageDir, ".git")) ? `\nIt uses a2a-edge at ${packageDir}: keep that folder where it is.` : "";
  return `
Made ${folder}: ${agents}, their tests, and a file for continuous integration.${told ? `\n${told}` : ""}${library}

    cd ${relative(process.cwd(), folder) || "."}
    npm start          # serves the agents; the first build takes some minutes
    npm test
    npm run deploy
`;
}
