// What scripts write, where their reader leaves.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

test("a command whose reader leaves ends without a trace, with the code of a closed pipe", async () => {
  const ui = JSON.stringify(new URL("../../scripts/lib/ui.mjs", import.meta.url).href);
  const script = `import { say } from ${ui}; setInterval(() => say("x".repeat(100_000)), 1);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "pipe"] });
  let told = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (told += text));
  child.stdout.once("data", () => child.stdout.destroy());
  const [code] = await once(child, "close");
  assert.deepEqual([code, told], [141, ""]);
});
