// The trace of a task: what its agent did, on one time axis. A row opens what the work was given and came to.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { Head, TaskOf } from "../../api/timeline.ts";
import { isFinal } from "../../api/types.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { costText, counted, numberWord } from "../../parts/numbers.ts";
import { duration, now } from "../../parts/time.tsx";
import { go, href, place } from "../../route.ts";
import { axisOf, type Axis, type Interval } from "./axis.ts";
import { givenOf, givesTasks, GivenTasks, MAX_DEPTH, treeSum } from "./given.ts";
import { STEPS_MS, type LiveTimeline } from "./live.ts";
import { Pane } from "./pane.tsx";
import { intervalsOf, sumOf, traceOf, type Span, type Turn } from "./trace.ts";
import "./trace.css";

/** A trace is made of at most this many pages of entries until the person asks for more. */
const PAGES = 10;
/** The number of rows below a span that are shown at first, and added each time. */
const ROWS = 100;
/** Deeper rows are not indented further. */
const MAX_INDENT = 8;

const KINDS: Record<Span["kind"], string> = { turn: "Turn", wait: "Waits", model: "Model", tool: "Tool", agent: "Agent", step: "Step" };

/** What all rows of a trace share. */
interface Shared {
  axis: Axis;
  given: GivenTasks;
  present: number;
}

export function Trace({ timeline, head }: { timeline: LiveTimeline; head: Head }) {
  const entries = timeline.entries.value;
  const present = isFinal(head.state) ? 0 : now.value;
  const turns = useMemo(() => traceOf(head, entries, present === 0 ? Date.now() : present), [head, entries, present]);
  const axis = useMemo(() => axisOf(intervalsOf(turns)), [turns]);
  const given = useMemo(() => new GivenTasks(), [timeline]);
  useEffect(() => () => given.close(), [given]);
  const earlier = timeline.earlier.value;
  useEffect(() => void timeline.readEarlier({ pages: PAGES }), [timeline]);
  return (
    <section class="stack trace" aria-label="Trace">
      <Summary turns={turns} given={given} />
      {earlier !== "none" && (
        <button type="button" disabled={earlier === "reading"} onClick={() => void timeline.readEarlier({ pages: PAGES })}>
          {earlier === "reading" ? "Loading…" : "Show what came before"}
        </button>
      )}
      {turns.length === 0 ? (
        <p class="empty">{head.trace === "off" ? "The file of the agent says that nothing is shown of its steps." : "Its agent has not begun yet."}</p>
      ) : (
        <div class="trace-rows card" onKeyDown={moveAlong}>
          <AxisHead axis={axis} />
          <Rows spans={turns} parent={undefined} head={head} shared={{ axis, given, present: present === 0 ? Date.now() : present }} depth={0} inside={0} />
        </div>
      )}
    </section>
  );
}

function Summary({ turns, given }: { turns: readonly Turn[]; given: GivenTasks }) {
  const { requests, calls } = sumOf(turns);
  const { failed, usage, read } = treeSum(turns, given.tasks.value);
  const gives = givesTasks(turns);
  const words = [
    requests > 0 && counted(requests, "request to models", "requests to models"),
    calls > 0 && counted(calls, "call"),
    usage.inputTokens + usage.outputTokens > 0 && `${numberWord(usage.inputTokens)} tokens in, ${numberWord(usage.outputTokens)} out`,
    costText(usage),
    read > 0 && `with ${counted(read, "task")} of other agents`,
  ].filter((word) => typeof word === "string" && word !== "");
  if (words.length === 0 && failed === 0) return null;
  return (
    <p class="row quiet trace-sum">
      <span>{words.join(" · ")}</span>
      {failed > 0 && (
        <span class="failed">
          <Icon name="warning" /> {failed} failed
        </span>
      )}
      {gives && !given.wantsAll.value && (
        <button type="button" class="small" onClick={() => (given.wantsAll.value = true)}>
          Show the tasks of other agents
        </button>
      )}
    </p>
  );
}

/** The times of the axis. Each row tells its own times to screen readers. */
function AxisHead({ axis }: { axis: Axis }) {
  return (
    <div class="axis" aria-hidden="true">
      <span class="axis-track">
        {axis.pauses.map((pause) => (
          <span key={pause.from} class="pause" style={placed(pause)} title={`${duration(pause.ms)} without work`} />
        ))}
        {axis.ticks.map(({ at, ms }, nth) => (
          <span key={at} class={nth % 2 === 0 ? "tick" : "tick between"} style={{ left: percent(at) }}>
            <span>{duration(ms)}</span>
          </span>
        ))}
      </span>
    </div>
  );
}

interface Place {
  parent: Span | undefined;
  /** The task of the spans. */
  head: Head;
  shared: Shared;
  depth: number;
  /** How many tasks the task is inside of. */
  inside: number;
}

function Rows({ spans, ...place }: Place & { spans: readonly Span[] }) {
  const [shown, setShown] = useState(ROWS);
  return (
    <ol>
      {spans.slice(0, shown).map((span) => (
        <Row key={span.key} span={span} {...place} />
      ))}
      {spans.length > shown && (
        <li>
          <button type="button" class="small" onClick={() => setShown(shown + ROWS)}>
            {`Show ${Math.min(ROWS, spans.length - shown)} more of ${spans.length}`}
          </button>
        </li>
      )}
    </ol>
  );
}

function Row({ span, parent, head, shared, depth, inside }: Place & { span: Span }) {
  const { axis, given } = shared;
  const task = inside < MAX_DEPTH ? givenOf(span) : undefined;
  const [folded, setFolded] = useState<boolean>();
  // A task of another agent is read when its row is opened.
  const isFolded = folded ?? (task !== undefined && !given.wantsAll.value);
  useEffect(() => {
    if (task !== undefined && !isFolded) void given.read(task);
  }, [task?.id, isFolded]);
  const below = { parent: span, head, shared, depth: depth + 1, inside };
  const { path, query } = place.value;
  const isOpen = query.get("row") === span.key;
  const toggle = () => go(href(path, { ...Object.fromEntries(query), row: isOpen ? undefined : span.key }), { replace: true });
  const tone = span.hasFailed ? "bad" : span.kind;
  return (
    <li>
      <div class="span-row" style={{ "--depth": Math.min(depth, MAX_INDENT) }}>
        {span.children.length > 0 || task !== undefined ? (
          <button type="button" class="plain fold" aria-expanded={!isFolded} aria-label={`Parts of ${KINDS[span.kind]} ${span.name}`} onClick={() => setFolded(!isFolded)}>
            <Icon name="down" />
          </button>
        ) : (
          <span class="fold" />
        )}
        <button type="button" class={`plain span-open ${tone}`} aria-expanded={isOpen} onClick={toggle}>
          <span class="span-name">
            <span class="kind">{KINDS[span.kind]}</span> <bdi>{span.name}</bdi>
            {span.hasFailed && (
              <span class="failed">
                {" "}
                <Icon name="warning" />
                <span class="sr">, failed</span>
              </span>
            )}
          </span>
          <span class="span-took">{tookOf(span)}</span>
          <span class="span-track" aria-hidden="true">
            <Bars span={span} axis={axis} />
          </span>
        </button>
      </div>
      {isOpen && <Pane span={span} parent={parent} head={head} />}
      {!isFolded && span.children.length > 0 && <Rows {...below} spans={span.children} />}
      {!isFolded && task !== undefined && <TaskRows {...below} task={task} span={span} />}
    </li>
  );
}

/** The turns of another agent's task that belong to the call which began or continued it. */
function TaskRows({ task, span, ...place }: Place & { task: TaskOf; span: Span }) {
  const { given, present } = place.shared;
  const read = given.of(task);
  useEffect(() => {
    if (read?.state !== "read" || !/_(SUBMITTED|WORKING)$/.test(read.head.state)) return;
    const timer = setInterval(() => document.visibilityState === "visible" && void given.read(task, { isAgain: true }), STEPS_MS);
    return () => clearInterval(timer);
  }, [read]);
  if (read === undefined || read.state === "reading") return <Loading />;
  if (read.state === "failed") {
    return <p class="quiet span-note" role="alert">{read.problem instanceof Error ? read.problem.message : String(read.problem)}</p>;
  }
  const all = traceOf(read.head, read.entries, present).map((turn) => within(turn, `${task.agent}/${task.id}`));
  const own = all.filter(({ from, until }) => from <= span.until && until >= span.from);
  return (
    <>
      <Rows {...place} head={read.head} spans={own.length === 0 ? all : own} inside={place.inside + 1} />
      {!read.isWhole && <p class="quiet span-note">It has more entries than are read here.</p>}
    </>
  );
}

/** The span with keys that no other task has. */
function within<One extends Span>(span: One, task: string): One {
  return { ...span, key: `${task}: ${span.key}`, children: span.children.map((child) => within(child, task)) };
}

/** The bars of a span: a turn has one for each attempt. */
function Bars({ span, axis }: { span: Span; axis: Axis }): JSX.Element {
  const bars: readonly Interval[] = span.kind === "turn" ? (span as Turn).attempts : [span];
  return (
    <>
      {bars.map(({ from, until }) => (
        <span key={from} class={span.isOpen ? "bar open" : "bar"} style={placed({ from: axis.at(from), until: axis.at(until) })} />
      ))}
    </>
  );
}

function tookOf({ from, until, isOpen, step }: Span): string {
  // A step of an old version, or one that was dropped, has no known begin.
  if (!isOpen && step !== undefined && "failed" in step && step.durationMs === undefined) return "";
  return `${duration(until - from)}${isOpen ? " …" : ""}`;
}

const percent = (part: number): string => `${(100 * part).toFixed(3)}%`;
const placed = ({ from, until }: Interval) => ({ left: percent(from), width: percent(until - from) });

/** The arrow keys go from row to row. */
function moveAlong(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>(".span-open")];
  const next = rows[rows.indexOf(document.activeElement as HTMLElement) + (step ?? 0)];
  if (step === undefined || next === undefined || !rows.includes(document.activeElement as HTMLElement)) return;
  event.preventDefault();
  next.focus();
}
