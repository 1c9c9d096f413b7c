// The effects of attacks on others: how long honest callers wait with and without each attack, how many are answered, and
// the memory of workerd. A new attack is a file in this folder, and a line of `ATTACKS`.

import { memoryOf, warmUp } from "../../tests/e2e/hostile-bodies.ts";
import { median, milliseconds, percentile, times, type Effort, type Section } from "../figures.ts";
import { startBuilt } from "../workers.ts";
import type { Attack } from "./attack.ts";
import { honestOf, repeat, type Honest, type Told } from "./honest.ts";
import { jsonValues } from "./json-values.ts";
import { slowBodies } from "./slow-bodies.ts";
import { storms } from "./storm.ts";

const ATTACKS: Attack[] = [...slowBodies, ...jsonValues, ...storms];

export async function attacks(effort: Effort): Promise<Section> {
  const rows: string[][] = [];
  for (const attack of ATTACKS) rows.push(...(await rowsOf(attack, effort)));
  return {
    title: "Attacks",
    text:
      "Honest callers beside an attack. Each request is repeated over connections of its own, one after the other, without the attack and then with it, " +
      "in turns against one Worker; `×` is the ratio within a round. `answered` is the share of requests that got the answer which they get " +
      "without the attack, within 5 s; latencies are of those. `MB` is how much more memory the process of workerd had at its peak during the " +
      "attack and the requests beside it than just before.",
    columns: ["attack", "honest request", "p50 without", "p50 with", "×", "p99 with", "answered", "MB"],
    rows,
  };
}

/** The measurements of one request in one round. */
interface Pair {
  without: Told;
  with: Told;
}

async function rowsOf(attack: Attack, { isQuick, sliceMs }: Effort): Promise<string[][]> {
  const ground = await attack.prepare?.();
  const worker = await startBuilt(ground?.vars);
  try {
    await warmUp(worker.url);
    const honest = await honestOf(worker);
    for (const one of honest) await repeat(one, sliceMs);
    const taken = new Map<Honest, Pair[]>(honest.map((one) => [one, []]));
    const grown: number[] = [];
    for (let round = 0; round < (isQuick ? 1 : 3); round++) {
      const alone: Told[] = [];
      for (const one of honest) alone.push(await repeat(one, sliceMs));
      const memory = process.platform === "linux" ? memoryOf(worker.pid) : undefined;
      const running = await attack.begin(worker);
      for (const [index, one] of honest.entries()) {
        taken.get(one)?.push({ without: alone[index] as Told, with: await repeat(one, sliceMs) });
      }
      if (memory !== undefined) grown.push(memory.grown());
      await running.stop();
    }
    const megabytes = grown.length === 0 ? "" : String(Math.max(...grown));
    return honest.map((one, index) => {
      const first = index === 0;
      return [first ? attack.name : "", one.name, ...figures(taken.get(one) ?? []), first ? megabytes : ""];
    });
  } finally {
    await worker.stop();
    await ground?.close();
  }
}

/**
 * The medians over all rounds; ratios are taken within a round. Rounds without an answered request are left out for
 * latencies.
 */
function figures(rounds: Pair[]): string[] {
  const answered = rounds.filter((pair) => pair.with.latencies.length > 0 && pair.without.latencies.length > 0);
  const [sent, came] = [rounds.flatMap((pair) => pair.with.sent), rounds.flatMap((pair) => pair.with.latencies)];
  const share = `${Math.floor((100 * came.length) / sent.reduce((total, count) => total + count, 0))} %`;
  const without = milliseconds(median(rounds.map((pair) => percentile(pair.without.latencies, 50))));
  if (answered.length === 0) return [without, "", "", "", share];
  const half = (told: Told): number => percentile(told.latencies, 50);
  return [
    without,
    milliseconds(median(answered.map((pair) => half(pair.with)))),
    times(median(answered.map((pair) => half(pair.with) / half(pair.without))), 1),
    milliseconds(median(answered.map((pair) => percentile(pair.with.latencies, 99)))),
    share,
  ];
}
