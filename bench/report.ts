// Writes tables, and the page that keeps them.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import type { Section } from "./figures.ts";
import { root } from "./workers.ts";

/** A table in Markdown whose columns are in line: the first to the left, figures to the right. */
export function table({ columns, rows }: Section): string {
  const widths = columns.map((_, index) => Math.max(3, ...[columns, ...rows].map((row) => row[index]?.length ?? 0)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0))).join(" | ")} |`;
  const rule = `|${widths.map((width, index) => (index === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [line(columns), rule, ...rows.map(line)].join("\n");
}

/** The whole page. */
export function page(sections: Section[]): string {
  const parts = sections.map((section) => `## ${section.title}\n\n${wrapped(section.text)}\n\n${table(section)}\n`);
  return `# Benchmarks

Written by \`npm run bench\`; do not edit. It takes about eight minutes and measures again; \`npm run bench -- --quick\` gives rough
figures sooner and leaves this page alone. Machines differ and are noisy, so the ratios matter: each is to something that was measured
in turn with it in the same run. Where nothing else is said, that is a GET of the agent card, which the front Worker answers
without a task object. All figures are medians over several rounds, after a warm-up. Client, Worker and storage share one machine:
what a network and Cloudflare's own machines add is not in them. Storage is in memory where the machine offers that, since a
local disk is waited for many times longer than all else takes, and is not what a task is stored on in production.

${about()}

${parts.join("\n")}`;
}

function wrapped(text: string): string {
  return text.replace(/(.{1,130})(?: |$)/g, "$1\n").trimEnd();
}

function about(): string {
  const processors = cpus();
  const { version } = JSON.parse(readFileSync(join(root, "node_modules", "workerd", "package.json"), "utf8")) as { version: string };
  return table({
    title: "",
    text: "",
    columns: ["measured", ""],
    rows: [
      ["date", new Date().toISOString().slice(0, 10)],
      ["revision", revision()],
      ["machine", `${processors.length} cores, ${processors[0]?.model ?? "unknown"}, ${process.platform} ${process.arch}`],
      ["storage", tmpdir().startsWith("/dev/shm/") ? "in memory (/dev/shm)" : "a disk"],
      ["software", `workerd ${version}, Node ${process.versions.node}`],
    ],
  });
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
