// Stores what `npm run bench:start` has measured: the first argument is the JSON of the rows.

import { originNow } from "./results/origin.ts";
import { store } from "./results/write.ts";

const rows = JSON.parse(process.argv[2] ?? "[]") as [string, string][];
const text =
  "What the author of a project waits for, by `npm run bench:start`: a project of the packed packages in an empty folder, until its first agent has answered; and under " +
  "`a2a-edge dev` from a saved file to the answer that it changes. What npm fetches was in its cache.";
store({ compared: {}, sections: { project: { origin: { ...originNow(), runs: 1 }, tables: [{ title: "From an empty folder", text, columns: ["", "measured"], rows }] } } });
process.exit();
