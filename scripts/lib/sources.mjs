// The sources of the Worker, the folders that wrangler watches.
import { existsSync, watch } from "node:fs";
import { basename, resolve } from "node:path";
import { projectDir } from "./paths.mjs";
import { readConfig } from "./wrangler.mjs";

/** Settles when a file of the sources, or wrangler.toml, has changed. */
export async function changeOfSources() {
  const { build } = await readConfig();
  const folders = [build?.watch_dir ?? "src"].flat().map((folder) => resolve(projectDir, folder)).filter(existsSync);
  const watchers = [];
  await new Promise((resolved) => {
    for (const folder of folders) watchers.push(watch(folder, { recursive: true }, resolved));
    watchers.push(watch(projectDir, (_, name) => {
      if (name === null || basename(name) === "wrangler.toml") resolved();
    }));
  });
  for (const watcher of watchers) watcher.close();
}
