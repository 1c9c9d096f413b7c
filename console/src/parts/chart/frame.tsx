// The common part of all charts: a drawing as wide as its place, with lines for values and labels for times, and a table with the
// same contents.
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import "./chart.css";

/** A line across the drawing, and its label. */
export interface Tick {
  y: number;
  word: string;
}

/** The positions of a chart's bars or points. */
export interface Plot {
  /** The width of one time, in pixels. */
  step: number;
  left: number;
  height: number;
  /** The middle of the time with this index. */
  middle(nth: number): number;
}

interface FrameProps {
  title: string;
  /** A description of the drawing for screen readers. */
  summary: string;
  /** A label for each time; empty for times without a label. */
  times: readonly string[];
  ticks: readonly Tick[];
  legend: ComponentChildren;
  table: JSX.Element;
  draw(plot: Plot): ComponentChildren;
}

const [LEFT, TOP, RIGHT, BOTTOM] = [56, 10, 8, 26];
/** The height of the part with values. */
export const HEIGHT = 180;
/** The width that a label of a time needs. */
const WORD = 66;
/** The largest width of a bar, in pixels. */
const WIDEST = 72;

export function Frame({ title, summary, times, ticks, legend, table, draw }: FrameProps) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(640);
  const [isOpen, setIsOpen] = useState(false);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(240, element.clientWidth)));
    observer.observe(element);
    setWidth(Math.max(240, element.clientWidth));
    return () => observer.disconnect();
  }, []);

  const step = Math.min(WIDEST, (width - LEFT - RIGHT) / Math.max(1, times.length));
  const plot: Plot = { step, left: LEFT, height: HEIGHT, middle: (nth) => LEFT + step * (nth + 0.5) };
  const end = LEFT + step * times.length;
  return (
    <figure class="card chart">
      <figcaption>
        <h2>{title}</h2>
        <div class="legend">{legend}</div>
      </figcaption>
      <div ref={place} class="drawing">
        <svg role="img" aria-label={`${title}: ${summary}`} width={width} height={HEIGHT + TOP + BOTTOM}>
          <g transform={`translate(0 ${TOP})`}>
            {ticks.map(({ y, word }) => (
              <g key={word}>
                <line class="grid" x1={LEFT} x2={end} y1={y} y2={y} />
                <text class="value" x={LEFT - 8} y={y} dy="0.32em">
                  {word}
                </text>
              </g>
            ))}
            {draw(plot)}
            {shown(times, step).map(([nth, word]) => (
              <text key={nth} class="time" x={plot.middle(nth)} y={HEIGHT + 18}>
                {word}
              </text>
            ))}
          </g>
        </svg>
      </div>
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>As a table</summary>
        {isOpen && (
          <div class="scroll" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
            {table}
          </div>
        )}
      </details>
    </figure>
  );
}

/** The labels that fit next to each other. */
function shown(times: readonly string[], step: number): [number, string][] {
  const words = [...times.entries()].filter(([, word]) => word !== "");
  let free = 0;
  return words.filter(([nth]) => {
    const middle = step * (nth + 0.5);
    if (middle < free) return false;
    free = middle + WORD;
    return true;
  });
}
