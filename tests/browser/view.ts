// One tab, seen as a person sees it: elements are found by their role and name, and what goes wrong meanwhile is recorded.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { BrowserContext, ElementHandle, KeyInput, Page } from "puppeteer-core";
import { packageDir } from "../../scripts/lib/paths.mjs";
import { violations } from "./axe.ts";
import { Record } from "./record.ts";

/** How the page is seen. */
export interface Look {
  /** Default: light. */
  scheme?: Scheme;
  /** Default: desktop. */
  size?: Size;
}

export type Scheme = "light" | "dark";
export type Size = keyof typeof SIZES;

/** Of the window, in CSS pixels. */
const SIZES = { desktop: { width: 1280, height: 800 }, tablet: { width: 800, height: 1024 }, phone: { width: 390, height: 844 } };

/** What has a name: equal to a text, or matching. */
export type Name = string | RegExp;

const screenshots = join(packageDir, "build", "screenshots");

/** How long a condition is waited for: long enough for a busy machine, since only a test that fails waits to its end. */
const WAIT_MS = 20_000;

/** What can have a role at all. The browser needs milliseconds to tell the role and the name of an element, so few are asked. */
const CANDIDATES: globalThis.Record<string, string> = {
  link: "a[href], [role=link]",
  button: "button, summary, input, [role=button]",
  heading: "h1, h2, h3, h4, h5, h6, [role=heading]",
  textbox: "input, textarea, [contenteditable], [role=textbox]",
  searchbox: "input, [role=searchbox]",
  combobox: "select, input, [role=combobox]",
  spinbutton: "input",
  checkbox: "input, [role=checkbox]",
  switch: "input, [role=switch]",
  radio: "input, [role=radio]",
  tab: "[role=tab]",
  tabpanel: "[role=tabpanel]",
  dialog: "dialog, [role=dialog]",
  alert: "[role=alert]",
  status: "output, [role=status]",
  listitem: "li, [role=listitem]",
  row: "tr, [role=row]",
  table: "table, [role=table]",
  cell: "td, th",
  region: "section, [role=region]",
  article: "article",
  image: "img, svg",
};

export class View {
  readonly page: Page;
  readonly record: Record;
  /** All tabs of this visit, this one among them. */
  readonly #tabs: View[];

  private constructor(page: Page, record: Record, tabs: View[]) {
    this.page = page;
    this.record = record;
    this.#tabs = tabs;
    tabs.push(this);
  }

  /** Opens a tab at an address. */
  static async open(context: BrowserContext, url: string, look: Look = {}, tabs: View[] = []): Promise<View> {
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    const record = await Record.of(page, new URL(url).origin);
    const view = new View(page, record, tabs);
    await page.evaluateOnNewDocument(recordNotices);
    await view.#look(look);
    await page.goto(url, { waitUntil: "load" });
    return view;
  }

  /** Another tab of the same person, with the same storage; at the same address unless `route` (`#/…`) says otherwise. */
  beside(route = ""): Promise<View> {
    const url = route === "" ? this.page.url() : new URL(route, this.page.url()).href;
    return View.open(this.page.browserContext(), url, {}, this.#tabs);
  }

  /** Changes how the page is seen, and waits until it is drawn so: what depends on the width is drawn a frame after it changes. */
  async show(look: Look): Promise<void> {
    await this.#look(look);
    await this.page.evaluate(() => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));
  }

  /** Nothing moves, as for people who prefer that. */
  async #look({ scheme = "light", size = "desktop" }: Look): Promise<void> {
    await this.page.setViewport(SIZES[size]);
    await this.page.emulateMediaFeatures([
      { name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" },
    ]);
  }

  /** Goes to a route, such as `#/agents`, as a link would. */
  async go(route: string): Promise<void> {
    await this.page.evaluate((hash) => void (location.hash = hash), route);
  }

  /**
   * Waits for a visible element with this ARIA role and accessible name, and answers it; without a name, for the first of the role. Fails with
   * what there is. `within` looks inside of another element only.
   */
  async find(role: string, name?: Name, { within }: { within?: ElementHandle<Element> } = {}): Promise<ElementHandle<Element>> {
    const end = Date.now() + WAIT_MS;
    for (;;) {
      const [found] = await this.all(role, name, { within });
      if (found !== undefined) return found;
      if (Date.now() > end) throw new Error(`there is no ${describe(role, name)}; there is: ${(await this.outline()).join(", ")}`);
      await delay(50);
    }
  }

  /** The elements with this role and name that are visible now. */
  async all(role: string, name?: Name, { within }: { within?: ElementHandle<Element> | undefined } = {}): Promise<ElementHandle<Element>[]> {
    const pattern = name instanceof RegExp ? { source: name.source, flags: name.flags } : undefined;
    const list = await this.page.evaluateHandle((root, selector, wanted, text, regular) => {
      const matches = (element: Element): boolean => {
        const { computedRole, computedName } = element as unknown as { computedRole: string; computedName: string };
        if (computedRole !== wanted || !element.checkVisibility({ checkVisibilityCSS: true })) return false;
        if (regular !== undefined) return new RegExp(regular.source, regular.flags).test(computedName);
        return text === undefined || computedName.trim() === text;
      };
      return [...(root ?? document).querySelectorAll(selector)].filter(matches);
    }, within ?? null, CANDIDATES[role] ?? "*", role, typeof name === "string" ? name : undefined, pattern);
    const handles = [...(await list.getProperties()).values()].map((handle) => handle.asElement() as ElementHandle<Element> | null);
    await list.dispose();
    return handles.filter((handle) => handle !== null);
  }

  /** Waits until nothing has this role and name any more. */
  async gone(role: string, name?: Name): Promise<void> {
    await this.until(async () => (await this.all(role, name)).length === 0, `${describe(role, name)} is still there`);
  }

  /**
   * Clicks what has this role and name as soon as it is enabled. Again if the click did not reach it, since the page has moved it meanwhile or put
   * another in its place, as a list that is read anew.
   */
  async click(role: string, name?: Name, options: { within?: ElementHandle<Element> } = {}): Promise<void> {
    await this.until(async () => this.#reachesByClick(await this.find(role, name, options)), `${describe(role, name)} takes no click`);
  }

  /** Whether a click came to an element; none is made if it is disabled. */
  async #reachesByClick(element: ElementHandle<Element>): Promise<boolean> {
    const isReady = await element.evaluate((one) => {
      if (!one.isConnected || one.matches(":disabled")) return false;
      const marked = one as Element & { isClicked?: boolean };
      marked.isClicked = false;
      one.addEventListener("click", () => (marked.isClicked = true), { capture: true, once: true });
      return true;
    });
    if (!isReady) return false;
    try {
      await element.click();
    } catch (error) {
      if (/detached|not clickable/.test(String(error))) return false;
      throw error;
    }
    // The page that a click has led away from has no answer.
    return element.evaluate((one) => (one as Element & { isClicked?: boolean }).isClicked === true).catch(() => true);
  }

  /** Opens the details with this summary, unless they are open. */
  async unfold(summary: Name): Promise<void> {
    const matches = (text: string): boolean => (typeof summary === "string" ? text === summary : summary.test(text));
    await this.until(async () => {
      for (const one of await this.page.$$("details:not([open]) > summary")) {
        if (matches((await this.text(one)).trim())) await this.#reachesByClick(one);
      }
      const open = await this.page.$$eval("details[open] > summary", (all) => all.map((one) => one.innerText.trim()));
      return open.some(matches);
    }, `no details with the summary ${String(summary)} open`);
  }

  /** Replaces the text of a field: a `textbox`, which a field for a password is, too, unless another role is given. */
  async fill(name: Name, text: string, role = "textbox"): Promise<void> {
    const focused = async (): Promise<ElementHandle<Element> | undefined> => {
      const field = await this.find(role, name);
      const hasFocus = await field.evaluate((element) => {
        (element as HTMLInputElement).focus();
        (element as HTMLInputElement).select?.();
        return document.activeElement === element;
      });
      return hasFocus ? field : undefined;
    };
    let field: ElementHandle<Element> | undefined;
    await this.until(async () => (field = await focused()) !== undefined, `${describe(role, name)} does not take the focus`);
    await this.page.keyboard.press("Backspace");
    await this.page.keyboard.type(text);
    const value = await field?.evaluate((element) => (element as HTMLInputElement).value);
    if (value !== text) throw new Error(`${describe(role, name)} has the text ${JSON.stringify(value)} instead of ${JSON.stringify(text)}`);
  }

  /** Chooses an option of a `combobox` that is a `select`, by its value or its text, as soon as it is there. */
  async choose(name: Name, option: string): Promise<void> {
    const isChosen = async (): Promise<boolean> => (await this.find("combobox", name)).evaluate((element, wanted) => {
      const select = element as HTMLSelectElement;
      const found = [...select.options].find(({ value, text }) => value === wanted || text.trim() === wanted);
      if (found === undefined || !select.isConnected || select.disabled) return false;
      select.value = found.value;
      for (const type of ["input", "change"]) select.dispatchEvent(new Event(type, { bubbles: true }));
      return true;
    }, option);
    await this.until(isChosen, `${describe("combobox", name)} has no option "${option}"`);
  }

  /** Presses keys one after the other: `press("Tab", "Enter")`. */
  async press(...keys: KeyInput[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** The role and name of what has the focus, such as `link "Agents"`. */
  focused(): Promise<string> {
    return this.page.evaluate(() => {
      const element = document.activeElement as unknown as { computedRole: string; computedName: string } | null;
      return element === null ? "nothing" : `${element.computedRole} "${element.computedName}"`;
    });
  }

  /** Waits until what has the focus has this role and name, as `focused` tells them. */
  async focuses(wanted: Name): Promise<void> {
    const fits = (found: string): boolean => (typeof wanted === "string" ? found === wanted : wanted.test(found));
    await this.until(async () => fits(await this.focused()), async () => `the focus is not at ${String(wanted)}, but at ${await this.focused()}`);
  }

  /** The text of the page, or of an element, as it is shown. */
  async text(of?: ElementHandle<Element>): Promise<string> {
    if (of !== undefined) return of.evaluate((element) => (element as HTMLElement).innerText);
    return this.page.evaluate(() => document.body.innerText);
  }

  /** Waits until the page shows this text. */
  async sees(wanted: Name): Promise<void> {
    const shows = (text: string): boolean => (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text));
    await this.until(async () => shows(await this.text()), async () => `the page does not show ${String(wanted)}, but: ${(await this.text()).slice(0, 1500)}`);
  }

  /** Waits until the page has shown a short message, which it takes away again by itself. */
  async notices(text: string): Promise<void> {
    const shown = (): Promise<string[]> => this.page.evaluate(() => (window as unknown as WithNotices).shownNotices);
    await this.until(async () => (await shown()).some((one) => one.includes(text)), async () => `the page has not said "${text}", but: ${(await shown()).join(", ")}`);
  }

  /** Waits until the address of the page ends like this, or matches. */
  async reaches(wanted: Name): Promise<void> {
    const fits = (url: string): boolean => (typeof wanted === "string" ? url.endsWith(wanted) : wanted.test(url));
    await this.until(() => fits(this.page.url()), () => Promise.resolve(`the address is not ${String(wanted)}, but ${this.page.url()}`));
  }

  /** Waits until what is read is this. */
  async becomes<Value>(read: () => Promise<Value>, wanted: Value): Promise<void> {
    let last: Value;
    const otherwise = (): Promise<string> => Promise.resolve(`it is ${JSON.stringify(last)} and does not become ${JSON.stringify(wanted)}`);
    await this.until(async () => isDeepStrictEqual((last = await read()), wanted), otherwise);
  }

  /** Waits until this is true. */
  async until(condition: () => Promise<boolean> | boolean, otherwise: string | (() => Promise<string>) = "it did not come true"): Promise<void> {
    const end = Date.now() + WAIT_MS;
    while (!(await condition())) {
      if (Date.now() > end) throw new Error(typeof otherwise === "string" ? otherwise : await otherwise());
      await delay(50);
    }
  }

  /** Runs work that this tab is known to complain about: problems that match do not fail the visit, and one of them must come. */
  expect(problem: RegExp): void {
    this.record.expect(problem);
  }

  /** What went wrong in the tabs of this visit so far. */
  problems(): string[] {
    return this.#tabs.flatMap(({ record }) => record.problems());
  }

  /** Fails if anything went wrong in one of the tabs. What is expected may be told a moment after the page has shown it. */
  async finish(): Promise<void> {
    for (const { page, record } of this.#tabs) {
      await this.until(() => record.missing().length === 0, () => Promise.resolve(`expected, but did not come: ${record.missing().join(", ")}`));
      // What the browser has told before it answers is recorded by then.
      await page.evaluate(() => undefined);
      record.finish();
    }
  }

  /**
   * Shows the page in both colour schemes and three widths: axe must find nothing to object to, nothing may be wider than the screen, and
   * each leaves a picture in build/screenshots, `<name>-<size>-<scheme>.png`. The view is light and of desktop size again afterwards.
   */
  async inspect(name: string): Promise<void> {
    const found: string[] = [];
    for (const size of ["desktop", "tablet", "phone"] as const) {
      for (const scheme of ["light", "dark"] as const) {
        await this.show({ size, scheme });
        await this.screenshot(`${name}-${size}-${scheme}`);
        found.push(...(await violations(this.page)).map((violation) => `${size}, ${scheme}: ${violation}`));
      }
      found.push(...(await this.#overflow()).map((element) => `${size}: wider than the screen: ${element}`));
    }
    await this.show({});
    if (found.length > 0) throw new Error(`${name}:\n    ${found.join("\n    ")}`);
  }

  /** What axe objects to as the page is seen now. */
  axe(): Promise<string[]> {
    return violations(this.page);
  }

  /** Takes a picture of the window, or of the whole page; answers its path. */
  async screenshot(name: string, { fullPage = false } = {}): Promise<string> {
    const path = join(screenshots, `${name}.png`);
    mkdirSync(join(path, ".."), { recursive: true });
    await this.page.screenshot({ path: path as `${string}.png`, fullPage });
    return path;
  }

  /** A picture of this tab for somebody who looks for a failure; undefined where the tab cannot be pictured. */
  async pictureOfFailure(): Promise<string | undefined> {
    const name = `${process.argv[1]?.match(/([\w-]+)\.spec\.ts$/)?.[1] ?? "visit"}-${Date.now() % 100_000}`;
    return this.screenshot(`failed/${name}`).catch(() => undefined);
  }

  /** The elements that make the page scroll sideways. */
  #overflow(): Promise<string[]> {
    return this.page.evaluate(() => {
      if (document.documentElement.scrollWidth <= innerWidth) return [];
      const wide = [...document.body.querySelectorAll("*")].filter((element) => element.getBoundingClientRect().right > innerWidth + 1);
      return wide.slice(0, 5).map((element) => `<${element.localName} class="${element.className}">`);
    });
  }

  /** The roles and names of what can be seen, for messages. */
  async outline(): Promise<string[]> {
    return this.page.evaluate(() => {
      const plain = new Set(["generic", "none", "StaticText", "paragraph", "InlineTextBox", "ignored", ""]);
      const named = [...document.body.querySelectorAll("*")].filter((element) => element.checkVisibility({ checkVisibilityCSS: true })).map((element) => {
        const { computedRole, computedName } = element as unknown as { computedRole: string; computedName: string };
        return plain.has(computedRole) || computedName === "" ? undefined : `${computedRole} "${computedName.slice(0, 60)}"`;
      });
      return named.filter((text) => text !== undefined).slice(0, 60);
    });
  }
}

/** The short messages that the page has shown so far. */
interface WithNotices { shownNotices: string[] }

/** Runs in the page before its own scripts. */
function recordNotices(): void {
  const shown: string[] = ((window as unknown as WithNotices).shownNotices = []);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) if (node instanceof Element && node.matches(".notice")) shown.push(node.textContent);
    }
  }).observe(document, { childList: true, subtree: true });
}

const describe = (role: string, name: Name | undefined): string => (name === undefined ? role : `${role} ${name instanceof RegExp ? String(name) : `"${name}"`}`);

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
