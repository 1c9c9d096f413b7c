// The picture of the console in the README. It is made when asked for: README_PICTURE=1 writes docs/console.png.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { packageDir } from "../../scripts/lib/paths.mjs";
import { startConsole, type Console } from "./console.ts";

const isWanted = (process.env["README_PICTURE"] ?? "") !== "";
const PICTURE = join(packageDir, "docs", "console.png");
const LIMIT_KB = 200;

let app: Console;
before(async () => {
  if (isWanted) app = await startConsole();
});
after(() => app?.stop());

test("the picture of the README shows a task under way", { skip: !isWanted && "README_PICTURE is not set" }, () =>
  app.visit("#/chat/demo", async (view) => {
    await view.page.setViewport({ width: 1200, height: 750, deviceScaleFactor: 1 });
    for (const text of ["ask", "green"]) {
      await view.fill(/message/i, text);
      await view.click("button", "Send");
      await view.sees(text === "ask" ? "Which colour?" : "You chose green.");
    }
    await view.page.screenshot({ path: PICTURE as `${string}.png`, optimizeForSpeed: false });
    assert.ok(statSync(PICTURE).size <= LIMIT_KB * 1000, `${statSync(PICTURE).size} bytes`);
  }));
