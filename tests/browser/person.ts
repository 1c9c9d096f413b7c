// Somebody who does a job in a tab: counts what the hands do, and measures how long the answer takes. Writes the table of docs/jobs.md.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ElementHandle, KeyInput } from "puppeteer-core";
import { packageDir } from "../../scripts/lib/paths.mjs";
import type { Name, View } from "./view.ts";

/** What a job took. */
export interface Done {
  clicks: number;
  /** Keys that were pressed; a paste is two. */
  keys: number;
  /** Fields that were filled in. */
  entries: number;
  /** Pages that were opened, the first one not counted. */
  pages: number;
  /** From the first click to the answer, without the person. */
  seconds: number;
  /** The seconds of a practised person by the keystroke-level model, without those of the console. */
  person: number;
}

/** The keystroke-level model, in seconds: to think before each step, to point, to click, to press a key. */
const [THINK, POINT, CLICK, KEY] = [1.35, 1.1, 0.2, 0.28];

export class Person {
  readonly #view: View;
  #steps = 0;
  #clicks = 0;
  #keys = 0;
  #entries = 0;
  readonly #pages: string[] = [];
  #begun: number | undefined;

  constructor(view: View) {
    this.#view = view;
    const at = (): string => view.page.url().replace(/\?.*$/, "");
    let last = at();
    view.page.on("framenavigated", () => {
      if (at() !== last) this.#pages.push((last = at()));
    });
  }

  #step(): void {
    this.#begun ??= performance.now();
    this.#steps += 1;
  }

  /** Clicks what has this role and name. In a dialog, if there is one. */
  async click(role: string, name: Name): Promise<void> {
    this.#step();
    this.#clicks += 1;
    const within = await this.#dialog();
    await this.#view.click(role, name, within === undefined ? {} : { within });
  }

  /** Clicks the summary of details that are closed. */
  async unfold(summary: Name): Promise<void> {
    this.#step();
    this.#clicks += 1;
    await this.#view.unfold(summary);
  }

  async #dialog(): Promise<ElementHandle<Element> | undefined> {
    return (await this.#view.all("dialog"))[0];
  }

  /** Clicks a field and types. */
  async fill(name: Name, text: string, role = "textbox"): Promise<void> {
    this.#step();
    this.#clicks += 1;
    this.#entries += 1;
    this.#keys += text.length;
    await this.#view.fill(name, text, role);
  }

  /** Clicks a field and pastes. */
  async paste(name: Name, text: string): Promise<void> {
    await this.fill(name, text);
    this.#keys += 2 - text.length;
  }

  /** Opens a list and picks one of it. */
  async choose(name: Name, option: string): Promise<void> {
    this.#step();
    this.#clicks += 2;
    await this.#view.choose(name, option);
  }

  /** Presses keys; they belong to the step before. */
  async press(...keys: KeyInput[]): Promise<void> {
    this.#keys += keys.length;
    await this.#view.press(...keys);
  }

  /** Presses a key with Control. */
  async chord(key: KeyInput): Promise<void> {
    this.#step();
    this.#keys += 2;
    await this.#view.page.keyboard.down("Control");
    await this.#view.page.keyboard.press(key);
    await this.#view.page.keyboard.up("Control");
  }

  /** Types into the search that has the focus. */
  async types(text: string): Promise<void> {
    this.#step();
    this.#entries += 1;
    this.#keys += text.length;
    await this.#view.focuses(/^combobox/);
    await this.#view.page.keyboard.type(text);
  }

  /** Goes down a list of what was found until this is chosen, and takes it. */
  async picks(wanted: RegExp): Promise<void> {
    const shown = (): Promise<[string, boolean][]> => this.#view.page.$$eval("[role=option]", (all) => all.map((one): [string, boolean] => [(one as HTMLElement).innerText.replace(/\s+/g, " ").trim(), one.ariaSelected === "true"]));
    await this.#view.until(async () => (await shown()).some(([text]) => wanted.test(text)), async () => `no ${wanted} in ${JSON.stringify(await shown())}`);
    this.#step();
    while (!(await shown()).some(([text, isChosen]) => isChosen && wanted.test(text))) await this.press("ArrowDown");
    await this.press("Enter");
  }

  /** What the page saves as a file with the next click. */
  async saves(): Promise<string> {
    return this.#view.page.evaluate(() => new Promise<string>((resolve) => {
      const create = URL.createObjectURL.bind(URL);
      URL.createObjectURL = (blob: Blob) => (void blob.text().then(resolve), create(blob));
    }));
  }

  /** Waits until something may be clicked, or for the answer. */
  async ready(role: string, name: Name): Promise<void> {
    const found = await this.#view.find(role, name);
    await this.#view.until(() => found.evaluate((one) => one.ariaDisabled !== "true"), `${role} may not be used`);
  }
  find(role: string, name: Name): Promise<unknown> {
    return this.#view.find(role, name);
  }
  sees(wanted: Name): Promise<void> {
    return this.#view.sees(wanted);
  }
  notices(text: string): Promise<void> {
    return this.#view.notices(text);
  }

  /** What it took, up to now. */
  done(): Done {
    const seconds = (performance.now() - (this.#begun ?? performance.now())) / 1000;
    const [clicks, keys] = [this.#clicks, this.#keys];
    const person = this.#steps * THINK + clicks * (POINT + CLICK) + keys * KEY;
    return { clicks, keys, entries: this.#entries, pages: this.#pages.length, seconds, person };
  }
}

const BEGIN = "<!-- written by `npm run bench:jobs` -->";
const END = "<!-- end of what is written -->";

/** Writes the table of the jobs into docs/jobs.md. */
export function writeTable(rows: { name: string; spec: string; done: Done }[]): void {
  const path = join(packageDir, "docs", "jobs.md");
  const text = readFileSync(path, "utf8");
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error("docs/jobs.md has no marks for the table");
  const lines = rows.map(({ name, spec, done: { clicks, entries, keys, pages, seconds, person } }, index) => {
    const link = `[${spec}](../tests/browser/${spec}.spec.ts)`;
    return `| ${index + 1} | ${name} | ${clicks} | ${entries} | ${keys} | ${pages} | ${seconds.toFixed(1)} | ${Math.round(person)} | ${link} |`;
  });
  const head = ["| | job | clicks | fields | keys | pages | console, s | person, s | spec |", "|--:|---|--:|--:|--:|--:|--:|--:|---|"];
  writeFileSync(path, `${text.slice(0, begin)}${BEGIN}\n\n${[...head, ...lines].join("\n")}\n\n${text.slice(end)}`);
}
