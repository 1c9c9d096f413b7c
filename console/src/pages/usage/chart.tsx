// The tokens of each day, as stacked bars.
import { Frame, HEIGHT, type Plot } from "../../parts/chart/frame.tsx";
import { ticks } from "../../parts/chart/ticks.ts";
import { counted, numberWord } from "../../parts/numbers.ts";
import { tokens, total, type Sum } from "./sums.ts";
import { dayWord, shortNumber } from "./words.ts";

export function TokensChart({ days }: { days: readonly Sum[] }) {
  const most = Math.max(...days.map(tokens));
  const lines = ticks(most);
  const top = lines.at(-1) ?? 1;
  const all = total(days);
  const y = (count: number): number => HEIGHT - (count / top) * HEIGHT;
  return (
    <Frame
      title="Tokens by day"
      summary={`${counted(tokens(all), "token")}: ${numberWord(all.inputTokens)} read, ${numberWord(all.outputTokens)} written; at most ${numberWord(most)} in one day.`}
      times={days.map(({ key }) => dayWord(key))}
      ticks={lines.map((line) => ({ y: y(line), word: shortNumber(line) }))}
      legend={["read", "written"].map((kind) => (
        <span key={kind}>
          <svg class="swatch" width="16" height="16" aria-hidden="true">
            <rect class={`bar ${kind}`} width="16" height="16" />
            {kind === "written" && <rect width="16" height="16" fill="url(#usage-written)" />}
          </svg>
          Tokens {kind}
        </span>
      ))}
      draw={(plot) => (
        <>
          <Pattern />
          {days.map((sum, nth) => (
            <Stack key={sum.key} sum={sum} nth={nth} plot={plot} y={y} />
          ))}
        </>
      )}
      table={
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col" class="number">Tokens read</th>
              <th scope="col" class="number">Tokens written</th>
            </tr>
          </thead>
          <tbody>
            {days.map((sum) => (
              <tr key={sum.key}>
                <th scope="row">{sum.key}</th>
                <td class="number">{numberWord(sum.inputTokens)}</td>
                <td class="number">{numberWord(sum.outputTokens)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      }
    />
  );
}

function Stack({ sum, nth, plot, y }: { sum: Sum; nth: number; plot: Plot; y(count: number): number }) {
  const gap = Math.min(6, plot.step * 0.2);
  const at = { x: plot.left + plot.step * nth + gap / 2, width: plot.step - gap };
  const all = tokens(sum);
  const [middle, top] = [y(sum.inputTokens), y(all)];
  const written = { ...at, y: Math.min(top, middle - 2), height: Math.max(2, middle - top) };
  return (
    <g>
      <title>{`${sum.key}\nTokens read: ${numberWord(sum.inputTokens)}\nTokens written: ${numberWord(sum.outputTokens)}`}</title>
      {/* Makes the tooltip appear over the whole height. */}
      <rect class="hit" x={plot.left + plot.step * nth} y={0} width={plot.step} height={plot.height} />
      {sum.inputTokens > 0 && <rect class="bar read" {...at} y={Math.min(middle, plot.height - 2)} height={Math.max(2, plot.height - middle)} />}
      {sum.outputTokens > 0 && (
        <>
          <rect class="bar written" {...written} />
          <rect {...written} fill="url(#usage-written)" />
        </>
      )}
    </g>
  );
}

/** Lines over the colour: they distinguish the bars without colour vision. */
function Pattern() {
  return (
    <defs>
      <pattern id="usage-written" width="8" height="8" patternUnits="userSpaceOnUse">
        <path class="hatch" d="M-2 2 2-2M0 8 8 0M6 10l4-4" />
      </pattern>
    </defs>
  );
}
