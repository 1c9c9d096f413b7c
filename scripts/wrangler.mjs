// `npx a2a-edge wrangler`: the wrangler of the package, even if npm has not installed one into the project.
import "./lib/node-version.mjs";
import { spawnSync } from "node:child_process";
import { constants } from "node:os";
import { ensurePackages } from "./lib/packages.mjs";
import { projectDir } from "./lib/paths.mjs";
import { environment } from "./lib/process.mjs";
import { main } from "./lib/ui.mjs";
import { wranglerCommand } from "./lib/wrangler.mjs";

await main(async () => {
  await ensurePackages();
  // wrangler uses the terminal directly, because it may ask questions and open a browser; it reads its own options.
  const { status, signal } = spawnSync(...wranglerCommand(...process.argv.slice(2)), { cwd: projectDir, env: environment(), stdio: "inherit" });
  process.exit(status ?? 128 + (constants.signals[signal] ?? 0));
});
