// The names of commands in messages: npm scripts in the repository, `npx a2a-edge` in other projects.
import { basename } from "node:path";
import { isRepository } from "./paths.mjs";
import { Stop } from "./ui.mjs";

/** The command line of one of our commands, optionally with options. */
export function command(name, ...options) {
  if (!isRepository) return ["npx a2a-edge", name, ...options].join(" ");
  const npm = ["start", "test"].includes(name) ? "npm" : "npm run";
  return [npm, name, ...(options.length > 0 ? ["--", ...options] : [])].join(" ");
}

/** The command of this process, without its options, which may hold secrets. */
export const ownCommand = () => command(basename(process.argv[1] ?? "", ".mjs").replace(/^test-project$/, "test"));

/** The command line of wrangler, which is right in the repository and in a project: a linked package has a wrangler of its own. */
export const wranglerLine = (...args) => ["npx a2a-edge wrangler", ...args].join(" ");

/** The message where a command needs a login. */
export const notLoggedIn = (hint = "") =>
  new Stop(
    "You are not logged in to Cloudflare.\n\n" +
      `    Run: ${wranglerLine("login")}\n` +
      "    or set CLOUDFLARE_API_TOKEN (and CLOUDFLARE_ACCOUNT_ID, if you have several accounts)." +
      (hint === "" ? "" : `\n\n${hint}`),
  );
