// `npm run deploy`: builds the Worker, makes its queues, uploads it, then migrates the remote database.
import "./lib/node-version.mjs";
import { readFileSync } from "node:fs";
import { inRoot } from "./lib/paths.mjs";
import { setUp } from "./lib/setup.mjs";
import { Stop, main, step } from "./lib/ui.mjs";
import { ensureBuilt } from "./lib/worker.mjs";
import { wrangler } from "./lib/wrangler.mjs";

await main(async () => {
  const args = process.argv.slice(2);
  const dryRun = args.includes("--dry-run");
  await setUp();
  if (!dryRun) await checkLogin();
  await ensureBuilt("default");

  if (!dryRun) await ensureQueues();
  await step(dryRun ? "Packing the upload (dry run)" : "Deploying", async () => {
    // The first deploy creates the database, so it comes before the migrations.
    if ((await wrangler(["deploy", ...args])).code !== 0) throw new Stop("wrangler deploy failed; its messages are above.");
  });
  if (dryRun) return;
  await step("Migrating the remote database", async () => {
    const { code } = await wrangler(["d1", "migrations", "apply", "DB", "--remote"]);
    if (code !== 0) {
      throw new Stop(
        "The Worker is deployed, but its database could not be migrated.\n\n" +
          "    Run: npx wrangler d1 migrations apply DB --remote",
      );
    }
  });
});

/** Makes the queues that wrangler.toml names and the account does not have: a deploy makes the database, but not these. */
async function ensureQueues() {
  const names = new Set([...readFileSync(inRoot("wrangler.toml"), "utf8").matchAll(/^queue = "(.+)"$/gm)].map(([, name]) => name));
  for (const name of names) {
    if ((await wrangler(["queues", "info", name], { quiet: true })).code === 0) continue;
    await step(`Making the queue ${name}`, async () => {
      const { code, output } = await wrangler(["queues", "create", name], { quiet: true });
      if (code !== 0) throw new Stop(`The queue could not be made:\n\n${output.trim()}`);
    });
  }
}

async function checkLogin() {
  const { output } = await wrangler(["whoami", "--json"], { quiet: true });
  if (/"loggedIn":\s*false/.test(output)) {
    throw new Stop(
      "You are not logged in to Cloudflare.\n\n" +
        "    Run: npx wrangler login\n" +
        "    or set CLOUDFLARE_API_TOKEN (and CLOUDFLARE_ACCOUNT_ID, if you have several accounts).\n\n" +
        "npm run deploy -- --dry-run shows what would be uploaded without a login.",
    );
  }
}
