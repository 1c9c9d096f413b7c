// axe-core, which looks for what keeps people with a screen reader, a keyboard or weak eyes from using a page.
//
// The content policy of the console allows no script but its own. axe is no script of the page: it is evaluated by the debugger, in a world of its
// own that shares the elements with the page and nothing else. So the policy stays as it is, and the page cannot see axe.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "puppeteer-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe objects to, by the rules of WCAG 2.2 A and AA and its own best practices; empty where there is nothing. */
export async function violations(page: Page): Promise<string[]> {
  const session = await page.createCDPSession();
  try {
    const { frameTree } = await session.send("Page.getFrameTree");
    const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "axe" });
    const evaluate = async (expression: string): Promise<unknown> => {
      const { result, exceptionDetails } = await session.send("Runtime.evaluate", { expression, contextId, awaitPromise: true, returnByValue: true });
      if (exceptionDetails !== undefined) throw new Error(`axe did not run: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
      return result.value;
    };
    if ((await evaluate("typeof axe")) === "undefined") await evaluate(`${source}; undefined`);
    const found = (await evaluate(`axe.run(document, ${JSON.stringify(OPTIONS)}).then(({ violations, passes }) => ({ violations, passes: passes.length }))`)) as {
      violations: Violation[];
      passes: number;
    };
    if (found.passes === 0) throw new Error("axe found nothing to look at");
    return found.violations.flatMap(({ id, help, nodes }) => nodes.map(({ html, any }) => `${id}: ${help}: ${html.slice(0, 200)} ${any[0]?.message ?? ""}`));
  } finally {
    await session.detach();
  }
}

const OPTIONS = {
  runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] },
  resultTypes: ["violations"],
};

interface Violation {
  id: string;
  help: string;
  nodes: { html: string; any: { message: string }[] }[];
}
