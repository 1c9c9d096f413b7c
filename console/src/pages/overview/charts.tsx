// The two charts of the overview: the final states of tasks, and the durations of completed tasks.
import { Frame, HEIGHT, type Plot } from "../../parts/chart/frame.tsx";
import { ticks } from "../../parts/chart/ticks.ts";
import { counted, numberWord, percentWord } from "../../parts/numbers.ts";
import { ended, ENDS, failureRate, quantile, type End, type Quantile, type Sums } from "./numbers.ts";
import { dayWord, END_WORDS, hourWord, quantileWord, shortly, whenWord } from "./words.ts";

interface ChartProps {
  groups: readonly Sums[];
  /** The sums over all groups. */
  all: Sums;
  bounds: readonly number[];
  /** True if the labels below the charts are days, for a week. */
  areDays: boolean;
}

/** The final states of tasks, as stacked bars. Each state has a pattern in addition to its colour. */
export function EndsChart({ groups, all, areDays }: ChartProps) {
  const most = Math.max(...groups.map(ended));
  const lines = ticks(most);
  const top = lines.at(-1) ?? 1;
  const y = (count: number): number => HEIGHT - (count / top) * HEIGHT;
  return (
    <Frame
      title="How tasks ended"
      summary={`${counted(ended(all), "task")}: ${ENDS.map((end) => `${numberWord(all.states[end])} ${END_WORDS[end].toLowerCase()}`).join(", ")}; at most ${numberWord(most)} in one bar.`}
      times={timesOf(groups, areDays)}
      ticks={lines.map((line) => ({ y: y(line), word: numberWord(line) }))}
      legend={ENDS.map((end) => (
        <span key={end}>
          <svg class="swatch" width="16" height="16" aria-hidden="true">
            <Patterns name="legend" />
            <rect class={`bar ${end}`} width="16" height="16" />
            <rect width="16" height="16" fill={patternOf(end, "legend")} />
          </svg>
          {END_WORDS[end]}
        </span>
      ))}
      draw={(plot) => (
        <>
          <Patterns name="ends" />
          {groups.map((sums, nth) => (
            <Stack key={sums.from} sums={sums} nth={nth} plot={plot} y={y} />
          ))}
        </>
      )}
      table={
        <NumbersTable
          heads={[...ENDS.map((end) => END_WORDS[end]), "Failure rate", "With failed steps"]}
          groups={groups}
          cells={(sums) => [...ENDS.map((end) => numberWord(sums.states[end])), percentWord(failureRate(sums)), numberWord(sums.withFailedSteps)]}
        />
      }
    />
  );
}

function Stack({ sums, nth, plot, y }: { sums: Sums; nth: number; plot: Plot; y(count: number): number }) {
  const gap = Math.min(6, plot.step * 0.2);
  let below = 0;
  return (
    <g>
      <title>{`${periodWord(sums)}\n${ENDS.map((end) => `${END_WORDS[end]}: ${numberWord(sums.states[end])}`).join("\n")}`}</title>
      {/* Makes the tooltip appear over the whole height. */}
      <rect class="hit" x={plot.left + plot.step * nth} y={0} width={plot.step} height={plot.height} />
      {ENDS.filter((end) => sums.states[end] > 0).map((end) => {
        const [bottom, top] = [y(below), y((below += sums.states[end]))];
        // A bar has a minimum height, so that small counts are visible next to large ones.
        const place = { x: plot.left + plot.step * nth + gap / 2, y: Math.min(top, bottom - 2), width: plot.step - gap, height: Math.max(2, bottom - top) };
        return (
          <g key={end}>
            <rect class={`bar ${end}`} {...place} />
            <rect {...place} fill={patternOf(end, "ends")} />
          </g>
        );
      })}
    </g>
  );
}

/** Patterns of lines over the colours: they distinguish the states without colour vision. */
function Patterns({ name }: { name: string }) {
  const pattern = (end: End, path: string) => (
    <pattern id={`${name}-${end}`} width="8" height="8" patternUnits="userSpaceOnUse">
      <path class="hatch" d={path} />
    </pattern>
  );
  return (
    <defs>
      {pattern("failed", "M-2 2 2-2M0 8 8 0M6 10l4-4")}
      {pattern("rejected", "M0 0 8 8M8 0 0 8")}
      {pattern("canceled", "M0 2h8M0 6h8")}
    </defs>
  );
}

const patternOf = (end: End, name: string): string => (end === "completed" ? "none" : `url(#${name}-${end})`);

/** The contents of a chart as numbers: a row for each time. */
function NumbersTable({ heads, groups, cells }: { heads: readonly string[]; groups: readonly Sums[]; cells(sums: Sums, nth: number): readonly string[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Time</th>
          {heads.map((head) => (
            <th key={head} scope="col" class="number">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {groups.map((sums, nth) => (
          <tr key={sums.from}>
            <th scope="row">{periodWord(sums)}</th>
            {cells(sums, nth).map((cell, column) => (
              <td key={column} class="number">
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const LINES_MS = [1, 10, 100, 1000, 10_000, 60_000, 600_000, 3_600_000, 21_600_000];

/** The durations of completed tasks: the median as a line with dots, the 95th percentile as a broken line with squares, each in the middle of its range. */
export function DurationsChart({ groups, all, bounds, areDays }: ChartProps) {
  const found = groups.map(({ durations }) => ({ median: quantile(durations, bounds, 0.5), high: quantile(durations, bounds, 0.95) }));
  const values = found.flatMap(({ median, high }) => [median, high]).flatMap((one) => (one === undefined ? [] : [Math.max(1, one.from), Math.max(1, one.to)]));
  const least = LINES_MS.findLast((line) => line <= Math.min(...values)) ?? 1;
  const most = LINES_MS.find((line) => line >= Math.max(...values) && line > least) ?? 21_600_000;
  const y = (ms: number): number => HEIGHT * (1 - Math.log(Math.max(least, ms) / least) / Math.log(most / least));
  const middle = ({ from, to }: Quantile): number => (y(from) + y(to)) / 2;
  const points = (which: "median" | "high", plot: Plot): ([number, number] | undefined)[] =>
    found.map((one, nth) => (one[which] === undefined ? undefined : [plot.middle(nth), middle(one[which])]));
  // Drawn next to each other if both have the same range.
  const ranges = (which: "median" | "high", plot: Plot, aside: number): string =>
    found.map(({ [which]: one }, nth) => (one === undefined ? "" : `M${plot.middle(nth) + aside} ${y(one.from)}V${y(one.to)}`)).join("");
  return (
    <Frame
      title="How long completed tasks took"
      summary={`the median of all is ${quantileWord(quantile(all.durations, bounds, 0.5))}, the 95th percentile ${quantileWord(quantile(all.durations, bounds, 0.95))}.`}
      times={timesOf(groups, areDays)}
      ticks={LINES_MS.filter((line) => line >= least && line <= most).map((line) => ({ y: y(line), word: shortly(line) }))}
      legend={
        <>
          <span>
            <svg class="swatch wide" width="28" height="16" aria-hidden="true">
              <path class="curve median" d="M1 8h26" />
              <circle class="point median" cx="14" cy="8" r="3.5" />
            </svg>
            Median
          </span>
          <span>
            <svg class="swatch wide" width="28" height="16" aria-hidden="true">
              <path class="curve high" d="M1 8h26" />
              <rect class="point high" x="10.5" y="4.5" width="7" height="7" />
            </svg>
            95th percentile
          </span>
        </>
      }
      draw={(plot) => (
        <>
          <path class="range high" d={ranges("high", plot, 2)} />
          <path class="range median" d={ranges("median", plot, -2)} />
          <path class="curve high" d={pathOf(points("high", plot))} />
          <path class="curve median" d={pathOf(points("median", plot))} />
          {points("high", plot).map((point, nth) => point && <rect key={nth} class="point high" x={point[0] - 3} y={point[1] - 3} width="6" height="6" />)}
          {points("median", plot).map((point, nth) => point && <circle key={nth} class="point median" cx={point[0]} cy={point[1]} r="3.5" />)}
          {groups.map((sums, nth) => (
            <rect key={sums.from} class="hit" x={plot.left + plot.step * nth} y={0} width={plot.step} height={plot.height}>
              <title>{`${periodWord(sums)}\nMedian: ${quantileWord(found[nth]?.median)}\n95th percentile: ${quantileWord(found[nth]?.high)}`}</title>
            </rect>
          ))}
        </>
      )}
      table={
        <NumbersTable
          heads={["Completed", "Median", "95th percentile"]}
          groups={groups}
          cells={(sums, nth) => [numberWord(sums.states.completed), quantileWord(found[nth]?.median), quantileWord(found[nth]?.high)]}
        />
      }
    />
  );
}

/** A line through the existing points, interrupted where a point is missing. */
function pathOf(points: readonly ([number, number] | undefined)[]): string {
  return points.map((point, nth) => (point === undefined ? "" : `${points[nth - 1] === undefined ? "M" : "L"}${point[0].toFixed(1)} ${point[1].toFixed(1)}`)).join("");
}

const timesOf = (groups: readonly Sums[], areDays: boolean): string[] =>
  groups.map(({ from }, nth) => {
    if (!areDays) return hourWord(from);
    const day = dayWord(from);
    const before = groups[nth - 1];
    return before !== undefined && dayWord(before.from) === day ? "" : day;
  });

/** For example `Mon, Jan 5, 14:00 to 15:00`. */
export const periodWord = ({ from, hours }: Sums): string => `${whenWord(from)} to ${hourWord(from + hours * 3_600_000)}`;
