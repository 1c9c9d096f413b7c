// A stored form, or a text between the parts of the Worker, never changes without a fixture (docs/upgrades.md). Tools in Rust write the counters of D1,
// so the fixtures are made with this Worker.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { fixtures, releases } from "../upgrade/fixture.ts";
import { formsOf } from "../upgrade/forms.ts";
import { record } from "../upgrade/record.ts";

test("what this version stores and sends has the form of the newest fixture", async () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-forms-"));
  try {
    await record(join(root, process.env["A2A_BUILD_DIR"] ?? "build"), folder);
    const [before, now] = [formsOf(join(fixtures, releases.at(-1) ?? "")), formsOf(folder)];
    const changes = [...before.filter((form) => !now.includes(form)).map((form) => `- ${form}`), ...now.filter((form) => !before.includes(form)).map((form) => `+ ${form}`)];
    assert.deepEqual(changes, [], "a form has changed: docs/upgrades.md says what to do");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
