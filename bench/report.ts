// Writes tables, and the page that contains them.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import type { Section } from "./figures.ts";
import { wrapped } from "../scripts/lib/wrap.mjs";
import { tableOf } from "./markdown.ts";
import { root } from "./workers.ts";

/** The table of a section. */
export function table({ columns, rows }: Section): string {
  return tableOf(columns, rows);
}

/** The whole page. */
export function page(sections: Section[]): string {
  const parts = sections.map((section) => {
    const plots = (section.plots ?? []).map(({ name, alt }) => `![${alt}](${name}.svg)`);
    return `## ${section.title}\n\n${[section.text, ...plots, table(section)].join("\n\n")}\n`;
  });
  return wrapped(`# Benchmarks

Written by \`npm run bench\`; do not edit. It takes about ten minutes and measures again; \`npm run bench -- --quick\` gives rough
figures in two and leaves this page alone. Machines differ and are noisy, so the ratios matter: each is to something that was measured
in turn with it in the same run. Where nothing else is said, that is a GET of the agent card, which the front Worker answers
without a task object. All figures are medians over several rounds, after a warm-up. Client, Worker and storage share one machine:
what a network and Cloudflare's own machines add is not in them. Storage is in memory where the machine offers that, since a
local disk is waited for many times longer than all else takes, and is not what a task is stored on in production.

${about()}

${parts.join("\n")}`);
}

function about(): string {
  const processors = cpus();
  const { version } = JSON.parse(readFileSync(join(root, "node_modules", "workerd", "package.json"), "utf8")) as { version: string };
  return tableOf(
    ["measured", ""],
    [
      ["date", new Date().toISOString().slice(0, 10)],
      ["revision", revision()],
      ["machine", `${processors.length} cores, ${processors[0]?.model ?? "unknown"}, ${process.platform} ${process.arch}`],
      ["storage", tmpdir().startsWith("/dev/shm/") ? "in memory (/dev/shm)" : "a disk"],
      ["software", `workerd ${version}, Node ${process.versions.node}`],
    ],
  );
}

function revision(): string {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    const changed = git("status", "--porcelain", "--", ".", ":!docs/benchmarks.md") !== "";
    return git("rev-parse", "--short", "HEAD") + (changed ? " with changes" : "");
  } catch {
    return "unknown";
  }
}
