// The size of the console, the time until a browser without a cache shows it, and the cost of static assets for requests to
// agents.

import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser } from "puppeteer-core";
import { launch } from "../tests/browser/chrome.ts";
import { digits, median, milliseconds, sum, times, type Effort, type Section } from "./figures.ts";
import { card, Connections, type Slice } from "./http.ts";
import { root, startBuilt, type Worker } from "./workers.ts";

/** Loading the page takes a tenth of a second. */
const ROUNDS = 11;

const EMPTY = "<!doctype html><html lang=\"en\"><title>Empty</title><h1>Empty</h1>\n";

const ASSETS = join(root, "build-console", "assets");

export async function console_(effort: Effort): Promise<Section[]> {
  const folder = mkdtempSync(join(tmpdir(), "empty-page-"));
  mkdirSync(join(folder, "console"));
  writeFileSync(join(folder, "console", "index.html"), EMPTY);
  const workers: Worker[] = [];
  const browser = await launch();
  try {
    const started = async (assets?: string): Promise<Worker> => {
      const worker = await startBuilt({}, undefined, assets);
      workers.push(worker);
      return worker;
    };
    const [empty, ours, plain] = [await started(folder), await started(ASSETS), await started()];
    const pages = await painted(browser, empty, ours);
    return [
      {
        title: "The console",
        text:
          "The page at `/console/`, in a browser that has never seen it, until it paints for the first time, and until it paints the largest thing on it, " +
          "which is in the list of the agents and needs an answer of the Worker. The baseline is a page with one heading, served as an asset in the same way. " +
          "The size is that of all files together; Cloudflare sends them compressed.",
        columns: ["page", "size", "gzip", "first paint", "×", "largest paint", "×"],
        rows: [
          ["one heading (baseline)", ...sizes(folder), milliseconds(pages.empty.first), "1×", milliseconds(pages.empty.largest), "1×"],
          ["the console", ...sizes(ASSETS), milliseconds(pages.ours.first), times(pages.first, 1), milliseconds(pages.ours.largest), times(pages.largest, 1)],
        ],
      },
      await requests(plain, ours, effort),
    ];
  } finally {
    await browser.close();
    for (const worker of workers) await worker.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The bytes of all files below a folder, plain and compressed individually. */
function sizes(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => statSync(join(folder, name)).isFile() && name !== "_headers");
  const files = names.map((name) => readFileSync(join(folder, name)));
  const kilobytes = (bytes: number[]): string => `${digits(sum(bytes) / 1000)} KB`;
  return [kilobytes(files.map(({ length }) => length)), kilobytes(files.map((file) => gzipSync(file, { level: 9 }).length))];
}

/** The times of paints, in milliseconds from the start of the navigation. */
interface Paint {
  first: number;
  largest: number;
}

async function painted(browser: Browser, empty: Worker, ours: Worker): Promise<{ empty: Paint; ours: Paint } & Paint> {
  const pairs: [Paint, Paint][] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const pair: [Paint, Paint] = [await paint(browser, `${empty.url}/console/`), await paint(browser, `${ours.url}/console/`)];
    // The first round only warms up the browser and the Workers.
    if (round >= 0) pairs.push(pair);
  }
  const over = (figure: (pair: [Paint, Paint]) => number): number => median(pairs.map(figure));
  return {
    empty: { first: over(([page]) => page.first), largest: over(([page]) => page.largest) },
    ours: { first: over(([, page]) => page.first), largest: over(([, page]) => page.largest) },
    first: over(([baseline, page]) => page.first / baseline.first),
    largest: over(([baseline, page]) => page.largest / baseline.largest),
  };
}

/** Opens a page with empty browser caches. */
async function paint(browser: Browser, url: string): Promise<Paint> {
  const context = await browser.createBrowserContext();
  try {
    const page = await context.newPage();
    const response = await page.goto(url, { waitUntil: "networkidle0" });
    if (response?.status() !== 200) throw new Error(`${url} was answered with ${response?.status()}`);
    return (await page.evaluate(`new Promise((done) => {
      const [{ startTime: first }] = performance.getEntriesByName("first-contentful-paint");
      new PerformanceObserver((list) => done({ first, largest: list.getEntries().at(-1).startTime })).observe({ type: "largest-contentful-paint", buffered: true });
    })`)) as Paint;
  } finally {
    await context.close();
  }
}

/** The additional time of a request with assets. */
async function requests(plain: Worker, ours: Worker, { rounds, sliceMs }: Effort): Promise<Section> {
  using connections = new Connections(1);
  const slice = (worker: Worker): Promise<Slice> => connections.repeat(card(worker.url), sliceMs);
  const pairs: [Slice, Slice][] = [];
  for (let round = -1; round < 2 * rounds; round += 1) {
    const pair: [Slice, Slice] = [await slice(plain), await slice(ours)];
    if (round >= 0) pairs.push(pair);
  }
  const [without, beside] = [median(pairs.map(([slice]) => slice.p50)), median(pairs.map(([, slice]) => slice.p50))];
  return {
    title: "Requests beside static assets",
    text:
      "A GET of the agent card from a Worker with the console and from one without, in turn on one connection. With assets, wrangler puts a Worker of its own in " +
      "front, which compares each path with the rules of `run_worker_first` and hands all but the console's on; what is measured here is that Worker. Cloudflare does " +
      "the same by a part of its platform, whose time cannot be measured from here. All other figures on this page are without assets.",
    columns: ["worker", "p50", "×"],
    rows: [
      ["without assets (baseline)", milliseconds(without), "1×"],
      ["with the console", milliseconds(beside), times(median(pairs.map(([baseline, own]) => own.p50 / baseline.p50)), 1)],
    ],
  };
}
