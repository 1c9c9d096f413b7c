// `npx a2a-edge upgrade`: tells what this version of the package changes in the project, does it, or undoes it.
import "./lib/node-version.mjs";
import { undoUpgrade, writeKept } from "./lib/backup.mjs";
import { check } from "./lib/checker.mjs";
import { command } from "./lib/command.mjs";
import { checkConfig } from "./lib/config.mjs";
import { mayRegister } from "./lib/entry.mjs";
import { readOptions } from "./lib/options.mjs";
import { isRepository, projectDir } from "./lib/paths.mjs";
import { query } from "./lib/process.mjs";
import { Stop, main, say } from "./lib/ui.mjs";
import { STORED, VERSION, planUpgrade } from "./lib/upgrade.mjs";
import { atLeast } from "./lib/versions.mjs";
import { checkLocalState, pendingMigrations } from "./lib/wrangler.mjs";

const usage = `Usage: ${command("upgrade")} [--write | --undo]

Tells what the installed version of a2a-edge changes in the project: lines of wrangler.toml, files, the local database and agent files. Without an option
nothing is written.

    --write      writes the changes, and keeps the files as they were
    --undo       restores the files as they were before the last --write
    -h, --help   this text`;

await main(async () => {
  const { values, refuse } = readOptions({ usage, options: { write: { type: "boolean" }, undo: { type: "boolean" } } });
  if (values.write && values.undo) throw refuse("--write and --undo exclude each other.");
  if (isRepository) throw new Stop("This is the repository of a2a-edge, and no project that uses it.");
  if (values.undo) return undo();
  checkLocalState();
  const plan = await planUpgrade();
  tell(plan);
  if (plan.changes.size === 0) return say(plan.left.length === 0 ? "\nThere is nothing to change." : "\nNothing else is to be changed.");
  if (!values.write) return say(`\nNothing was written.${uncommitted()} To write it: ${command("upgrade", "--write")}`);
  writeKept(plan.changes, { from: plan.from, to: VERSION });
  say(`\nThe files are written. To restore them as they were: ${command("upgrade", "--undo")}`);
  await checkConfig();
  say(`Now run: npm install && ${command("check")}`);
});

function undo() {
  const { from, files } = undoUpgrade();
  say(`Restored as before the upgrade, of version ${from}: ${Object.keys(files).join(", ")}.\n\n    Run: npm install`);
}

function tell({ from, told, left }) {
  say(from === VERSION ? `This project is of version ${VERSION}, and so is the package.` : `This project is of version ${from}, the package of ${VERSION}.`);
  for (const [path, lines] of told) say(`\n${path}\n${lines.map((line) => `    ${line}`).join("\n")}`);
  if (left.length > 0) say(`\nFor you to change:\n\n${left.map((sentence) => `    ${sentence}`).join("\n")}`);
  say(`\n${[database(), stored(from), agents()].join("\n")}`);
}

function database() {
  const pending = pendingMigrations();
  const local = pending.length === 0 ? "no migration is pending on this machine" : `${pending.join(", ")} ${pending.length === 1 ? "is" : "are"} pending on this machine, and applied by the next start`;
  return `Database: ${local}. \`${command("deploy")}\` applies what is pending at Cloudflare.`;
}

function stored(from) {
  const since = STORED.filter(([version]) => !atLeast(from, version));
  return since.length === 0 ? `Stored forms: those of ${from} are read as they are.` : `Stored forms:\n${since.map(([version, what]) => `    ${version}: ${what}`).join("\n")}`;
}

function agents() {
  const { problems, agents: checked } = check({ folder: projectDir, joins: mayRegister() });
  if (checked === undefined) return `Agent files, which are checked by other rules now:\n${problems.map(({ shown }) => `    ${shown}`).join("\n")}`;
  return "Agent files: in order.";
}

/** The advice to commit, if the project is in a repository with changes. */
function uncommitted() {
  const status = query("git", ["status", "--porcelain", "--", "."], { cwd: projectDir });
  if (status === undefined) return "";
  return status === "" ? " Everything is committed, so `git diff` will show it." : " Commit first what has changed, so that `git diff` shows the upgrade alone.";
}
