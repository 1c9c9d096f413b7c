// What a tab does that nobody sees: its requests, and what goes wrong in it.

import type { CDPSession, Page } from "puppeteer-core";

export interface Request {
  method: string;
  url: string;
  type: string;
}

export class Record {
  /** Every request of the tab, in order, but for `data:` and `blob:`. */
  readonly requests: Request[] = [];
  readonly #problems: string[] = [];
  readonly #expected: { problem: RegExp; seen: boolean }[] = [];

  /** Records what a tab does from now on; whatever it asks of another origin than this one is a problem. */
  static async of(page: Page, origin: string): Promise<Record> {
    const record = new Record();
    const session = await page.createCDPSession();
    await record.#listen(page, session, origin);
    return record;
  }

  async #listen(page: Page, session: CDPSession, origin: string): Promise<void> {
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.protocol === "data:" || url.protocol === "blob:") return;
      this.requests.push({ method: request.method(), url: url.href, type: request.resourceType() });
      if (url.origin !== origin) this.#add(`asked another origin: ${request.method()} ${url.href}`);
    });
    page.on("console", (message) => {
      if (message.type() !== "error" && message.type() !== "warn") return;
      this.#add(`console ${message.type()}: ${message.text()} (${message.location().url ?? "no address"})`);
    });
    page.on("pageerror", (error) => this.#add(`uncaught: ${error instanceof Error ? error.stack ?? error.message : String(error)}`));
    page.on("dialog", (dialog) => {
      this.#add(`dialog: ${dialog.type()} ${dialog.message()}`);
      // The tab may be closed by now.
      void dialog.dismiss().catch(() => undefined);
    });
    page.on("error", (error) => this.#add(`the tab crashed: ${error.message}`));
    // Names the directive and the element, and also tells violations that no console shows.
    session.on("Audits.issueAdded", ({ issue }) => {
      const details = issue.details.contentSecurityPolicyIssueDetails;
      if (details !== undefined) this.#add(`content policy: ${details.contentSecurityPolicyViolationType} ${details.violatedDirective} ${details.blockedURL ?? ""}`);
    });
    await session.send("Audits.enable");
  }

  #add(problem: string): void {
    const expected = this.#expected.find(({ problem: pattern }) => pattern.test(problem));
    if (expected === undefined) this.#problems.push(problem);
    else expected.seen = true;
  }

  /** Problems that match are meant, from now on. */
  expect(problem: RegExp): void {
    this.#expected.push({ problem, seen: false });
  }

  problems(): string[] {
    return [...this.#problems];
  }

  /** What is expected and has not come so far. */
  missing(): string[] {
    return this.#expected.filter(({ seen }) => !seen).map(({ problem }) => String(problem));
  }

  /** Fails if there is a problem that nobody expects. */
  finish(): void {
    if (this.#problems.length > 0) throw new Error(`the page had problems:\n    ${this.#problems.join("\n    ")}`);
  }
}
