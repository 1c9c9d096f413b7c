// How messages name commands: by npm scripts in the repository, by `npx a2a-edge` in a project of one's own.
import { isRepository } from "./paths.mjs";

/** The command line of one of our commands, with options where some are given. */
export function command(name, ...options) {
  if (!isRepository) return ["npx a2a-edge", name, ...options].join(" ");
  const npm = ["start", "test"].includes(name) ? "npm" : "npm run";
  return [npm, name, ...(options.length > 0 ? ["--", ...options] : [])].join(" ");
}

/** The command line of wrangler, which is right in the repository and in a project: a linked package has a wrangler of its own. */
export const wranglerLine = (...args) => ["npx a2a-edge wrangler", ...args].join(" ");
