// The weight of the upload: with `no_bundle`, wrangler uploads exactly these two modules.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { inRoot } from "./paths.mjs";
import { say } from "./ui.mjs";
import { outputs } from "./worker.mjs";

const LIMIT_KB = 450;

/** Prints the sizes of one of the outputs; answers whether it is within the limit. */
export function printSize(output) {
  const dir = outputs[output];
  const rows = ["index_bg.wasm", "index.js"].map((name) => {
    const bytes = readFileSync(inRoot(dir, name));
    return { name: `${dir}/${name}`, raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length };
  });
  const total = { name: "total", raw: sum(rows, "raw"), gzip: sum(rows, "gzip") };
  for (const { name, raw, gzip } of [...rows, total]) {
    say(`${name.padEnd(28)} ${kilobytes(raw).padStart(10)} ${kilobytes(gzip).padStart(10)} gzip`);
  }
  const fits = total.gzip < LIMIT_KB * 1000;
  say(`${"limit".padEnd(28)} ${"".padStart(10)} ${kilobytes(LIMIT_KB * 1000).padStart(10)} gzip: ${fits ? "ok" : "EXCEEDED"}`);
  return fits;
}

const sum = (rows, key) => rows.reduce((total, row) => total + row[key], 0);

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
