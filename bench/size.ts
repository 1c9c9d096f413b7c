// The size of what is uploaded, and the price of tasks.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { digits, grouped, sum, type Section } from "./figures.ts";
import { readTable } from "./gate/table.ts";
import { bundleOf } from "./baselines/start.ts";
import { priceOf } from "./scale/page.ts";
import { kinds } from "./scale/kinds.ts";
import { builtFolder, root } from "./workers.ts";

/** The engine, which is nearly all of the upload of a project. */
const MODULES = ["index_bg.wasm", "engine.js"];

const MODULE_MB = 2.6;
const UPLOAD_KB = 1_060;
const PRICE = 9;

export async function size(): Promise<Section> {
  const modules = MODULES.map((name) => readFileSync(join(root, builtFolder, name)));
  const gzip = sum(modules.map(zipped));
  const raw = (modules[0]?.length ?? NaN) / 1e6;
  const [quick] = kinds;
  if (quick === undefined) throw new Error("there is no kind of task");
  const price = priceOf(quick, readTable());
  const met = (value: number, limit: number): string => (value <= limit ? "yes" : "no");
  const theirs = (name: string): string => `${digits(zipped(Buffer.from(bundleOf(name))) / 1_000)} KB`;
  return {
    title: "Size and price",
    text:
      "The upload is that of the engine; a project adds its agents and its code. The baselines are bundled and minified by esbuild. The price is that of [scale](scale.md), beyond what the plan includes.",
    columns: ["", "a2a-edge", "goal", "met", "TypeScript", "`agents`"],
    rows: [
      ["upload, gzip", `${grouped(gzip / 1_000)} KB`, `≤ ${grouped(UPLOAD_KB)} KB`, met(gzip / 1_000, UPLOAD_KB), theirs("sdk.ts"), theirs(join("agents", "worker.js"))],
      ["WebAssembly module, raw", `${digits(raw)} MB`, `≤ ${MODULE_MB} MB`, met(raw, MODULE_MB), "", ""],
      ["a million quick tasks, with their deletion", `$${price.toFixed(2)}`, `≤ $${PRICE}`, met(price, PRICE), "", ""],
    ],
  };
}

const zipped = (bytes: Buffer): number => gzipSync(bytes, { level: 9 }).length;
