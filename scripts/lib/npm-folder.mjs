// Folders with their own npm packages, which only some commands need.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./process.mjs";
import { Stop, step } from "./ui.mjs";

/** Installs the packages of a folder, unless they match its lock file already. */
export async function ensureNpm(folder, title) {
  const wanted = createHash("sha256").update(readFileSync(join(folder, "package-lock.json"))).digest("hex");
  const stamp = join(folder, "node_modules", ".complete");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  await step(title, async () => {
    const { code } = await run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder });
    if (code !== 0) throw new Stop(`npm ci failed in ${folder}; its messages are above. With a network problem, just run the command again.`);
  });
  writeFileSync(stamp, wanted);
}
