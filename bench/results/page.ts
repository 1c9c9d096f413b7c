// docs/benchmarks.md, as text.

import { wrapped } from "../../scripts/lib/wrap.mjs";
import type { Compared } from "../comparison/compared.ts";
import { deliveries, ratios } from "../comparison/pictures.ts";
import { everything, goals } from "../comparison/tables.ts";
import type { Section } from "../figures.ts";
import { tableOf } from "../markdown.ts";
import type { Plot } from "../plots/svg.ts";
import { DISCIPLINES, SECTIONS, type Key } from "./keys.ts";
import { origins, type Origin, type Results } from "./results.ts";

/** The whole page. */
export function page(results: Results): string {
  const parts = [comparison(results), ...SECTIONS.flatMap((key) => {
    const section = results.sections[key];
    return (section?.tables ?? []).map((table, index) => part(table, section && index === 0 ? [measured(section.origin)] : []));
  })];
  return wrapped(`# Benchmarks

Written by \`npm run bench\`; do not edit. It takes about half an hour and measures again; \`npm run bench -- --runs 3\` takes the medians of
three runs, \`npm run bench -- --quick\` gives rough figures and leaves this page alone. Machines differ and are noisy, so the ratios matter:
each is to something that was measured in turn with it in the same run. Where nothing else is said, that is a GET of the agent card, which
the front Worker answers without a task object. All figures are medians over several rounds, after a warm-up. Client, Worker and storage
share one machine: what a network and Cloudflare's own machines add is not in them. Storage is in memory where the machine offers that,
since a local disk is waited for many times longer than all else takes, and is not what a task is stored on in production.

${about(results)}

${parts.filter((text) => text !== "").join("\n")}`);
}

/** The pictures of the page. */
export function plots(results: Results): Plot[] {
  const all = comparedOf(results);
  const fanOut = deliveries(all);
  return all.length === 0 ? [] : [ratios(all), ...(fanOut === undefined ? [] : [fanOut])];
}

/** A table as the console shows it. */
export const tableText = ({ columns, rows }: Section): string => tableOf(columns, rows);

const comparedOf = ({ compared }: Results): Compared[] => DISCIPLINES.flatMap((key) => compared[key] ?? []);

function comparison(results: Results): string {
  const all = comparedOf(results);
  if (all.length === 0) return "";
  const byOrigin = groups(origins({ ...results, sections: {} }));
  const said = byOrigin.map(({ keys, origin }) => (byOrigin.length === 1 ? measured(origin) : `${titles(results, keys)}: ${measured(origin)}`));
  const pictures = plots(results).map(({ name, alt }) => `![${alt}](${name}.svg)`);
  return [part(goals(all), [said.join("\n"), ...pictures]), part(everything(all), [])].join("\n");
}

const titles = ({ compared }: Results, keys: Key[]): string =>
  keys.flatMap((key) => compared[key as keyof typeof compared]?.title.split(/[,;]/)[0] ?? []).join(", ");

function part({ title, text, columns, rows }: Section, before: string[]): string {
  return `## ${title}\n\n${[text, ...before, tableOf(columns, rows)].join("\n\n")}\n`;
}

const measured = ({ date, revision, runs }: Origin): string => `Measured on ${date} at ${revision}${runs > 1 ? `, ${runs} runs` : ""}.`;

/** The origins of all figures. */
function about(results: Results): string {
  const rows = groups(origins(results)).map(({ keys, origin }) => [
    origin.date, origin.revision, origin.machine, origin.storage, origin.software, String(origin.runs), keys.map((key) => `\`${key}\``).join(", "),
  ]);
  return tableOf(["date", "revision", "machine", "storage", "software", "runs", "what"], rows);
}

/** What was measured together. */
function groups(all: [Key, Origin][]): { origin: Origin; keys: Key[] }[] {
  const found = new Map<string, { origin: Origin; keys: Key[] }>();
  for (const [key, origin] of all) {
    const name = JSON.stringify(origin);
    const group = found.get(name) ?? { origin, keys: [] };
    group.keys.push(key);
    found.set(name, group);
  }
  return [...found.values()];
}
