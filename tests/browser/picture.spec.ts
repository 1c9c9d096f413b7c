// The picture of the console in the README. It is made when asked for: README_PICTURE=1 writes docs/console.png.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { packageDir } from "../../scripts/lib/paths.mjs";
import { testAgents } from "../e2e/harness.ts";
import { startConsole, type Console } from "./console.ts";

const isWanted = (process.env["README_PICTURE"] ?? "") !== "";
const PICTURE = join(packageDir, "docs", "console.png");
const LIMIT_KB = 200;

const PLAN = `The old town is best **before ten**, when the trams are empty:

1. Miradouro da Graça, for the view
2. Alfama on foot, down to the river
3. *Pastéis de Belém*, by tram \`15E\`

| way | walk | price |
|---|--:|--:|
| Graça to Alfama | 1.4 km | free |
| Tram to Belém | 0.3 km | 3.20 € |
`;

let app: Console;
before(async () => {
  if (isWanted) app = await startConsole({ vars: { AGENTS: withGuide() } });
});
after(() => app?.stop());

/** The agents with one that plans a day. */
function withGuide(): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: { slug: string; executor: object; card: string }[] };
  const demo = agents.find(({ slug }) => slug === "demo");
  const card = { ...(JSON.parse(demo?.card ?? "{}") as object), name: "City guide", description: "Plans a day in a city.", skills: [] };
  const end = [{ do: "working" }, { do: "artifact", id: "plan", name: "A day in Lisbon", text: PLAN, media_type: "text/markdown" }, { do: "complete", text: "Have a good day." }];
  const rules = [{ then: [{ do: "input_required", text: "Do you like to walk?" }], follow_up: [{ then: end, follow_up: [] }] }];
  const guide = { ...demo, slug: "guide", default: false, card: JSON.stringify(card), executor: { ...demo?.executor, table: { rules } } };
  return JSON.stringify({ ...built, agents: [...agents, guide] });
}

test("the picture of the README shows a task with a question and an artifact", { skip: !isWanted && "README_PICTURE is not set" }, () =>
  app.visit("#/chat/guide", async (view) => {
    await view.page.setViewport({ width: 1200, height: 880 });
    for (const [text, answer] of [["Plan a day in Lisbon.", "Do you like to walk?"], ["Yes, but no hills.", "Have a good day."]] as const) {
      await view.fill("Message", text);
      await view.click("button", "Send");
      await view.sees(answer);
    }
    await view.sees("Completed");
    await view.page.screenshot({ path: PICTURE as `${string}.png` });
    assert.ok(statSync(PICTURE).size <= LIMIT_KB * 1000, `${statSync(PICTURE).size} bytes`);
  }));
