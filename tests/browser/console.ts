// The console for a spec: the built Worker with its assets, as wrangler serves them, and a browser in front of it.

import { startWorker, type Worker, type WorkerOptions } from "../e2e/harness.ts";
import { launch } from "./chrome.ts";
import { View, type Look } from "./view.ts";
import type { Browser, BrowserContext } from "puppeteer-core";

/** A running console. */
export interface Console {
  readonly worker: Worker;
  readonly browser: Browser;
  /** The address of the page, which ends with a slash. */
  readonly url: string;
  /**
   * Opens the page at a route, such as `#/agents`, as a person who has never been there: without cookies or storage of other visits. When `work`
   * is over, the visit fails if the page asked another host for anything, logged an error, broke its content policy, or opened a dialog
   * (`View.expect` names what a test provokes). A visit that fails leaves a picture in build/screenshots/failed.
   */
  visit<Result>(route: string, work: (view: View) => Promise<Result>, look?: Look): Promise<Result>;
  /** Ends both. */
  stop(): Promise<void>;
}

/** Starts a Worker with assets, and a browser. */
export async function startConsole(options: WorkerOptions = {}): Promise<Console> {
  const worker = await startWorker({ hasDev: true, notes: true, ...options, assets: true });
  let browser: Browser;
  try {
    browser = await launch();
  } catch (error) {
    await worker.stop();
    throw error;
  }
  const url = `${worker.url}/console/`;
  return {
    worker,
    browser,
    url,
    visit: (route, work, look) => visit(browser, new URL(route, url).href, work, look),
    async stop() {
      await browser.close();
      await worker.stop();
    },
  };
}

/** As `Console.visit`, at any address. */
export async function visit<Result>(browser: Browser, url: string, work: (view: View) => Promise<Result>, look?: Look): Promise<Result> {
  const context: BrowserContext = await browser.createBrowserContext();
  try {
    const view = await View.open(context, url, look);
    try {
      const result = await work(view);
      await view.finish();
      return result;
    } catch (error) {
      const picture = await view.pictureOfFailure();
      const page = [...view.problems(), ...(picture === undefined ? [] : [`picture: ${picture}`])].map((line) => `\n    ${line}`).join("");
      if (error instanceof Error && page !== "") error.message += `\n  the page:${page}`;
      throw error;
    }
  } finally {
    await context.close();
  }
}
