// The entries of a task's timeline, as a vertical line.
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { AttemptEntry, MessageExcerpt, OpenStep, PartExcerpt, StepEntry, Usage } from "../../api/timeline.ts";
import { duration } from "../../parts/time.tsx";
import { Icon } from "../../parts/icon.tsx";
import { costText } from "../../parts/numbers.ts";
import { StateBadge } from "../../parts/state.tsx";
import { now } from "../../parts/time.tsx";
import { nameOf, placeOf } from "./entry.ts";
import { hasFailed } from "./failed.ts";
import { alike, bytesText, keyOf, type Chunks, type Group, type Item, type Line } from "./groups.ts";

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle: "h23" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

/** `isOpen` is true if the attempts to call webhooks are shown. */
export function GroupView({ group, underWay, isOpen }: { group: Group; underWay: readonly OpenStep[]; isOpen: boolean }) {
  const { run, items, attempts, durationMs, longestMs } = group;
  return (
    <li class="run">
      {run !== undefined && (
        <h3 class="run-head">
          <span>
            Message {run.message}, attempt {run.attempt}
          </span>
          {run.resumes && <span class="tag">goes on where it was</span>}
          <span class="quiet">
            {[durationMs === undefined ? "" : duration(durationMs), run.caller === undefined ? "" : `for ${run.caller}`].filter((text) => text !== "").join(" · ")}
          </span>
          <Clock at={run.at} />
        </h3>
      )}
      <ol class="line">
        <Lines of={items} view={(item) => <ItemView item={item} longestMs={longestMs} />} />
        {underWay.map((step) => (
          <Row key={`${step.name} ${step.nth}`} tone="busy" at={step.since} generation={null} title={<StepTitle step={step} />}>
            <p class="quiet">Since {duration(Math.max(0, now.value - step.since))}</p>
          </Row>
        ))}
        {attempts.length > 0 && <Attempts of={attempts} isOpen={isOpen} />}
      </ol>
    </li>
  );
}

/** Lines; consecutive similar lines are shown as the first one with a number. */
function Lines<One extends Line>({ of, view }: { of: readonly One[]; view: (line: One) => JSX.Element }) {
  return (
    <>
      {alike(of).map(([first, ...more]) => first !== undefined && <Alike key={keyOf(first)} first={first} more={more} view={view} />)}
    </>
  );
}

function Alike<One extends Line>({ first, more, view }: { first: One; more: readonly One[]; view: (line: One) => JSX.Element }) {
  const last = more.at(-1);
  if (last === undefined) return view(first);
  return (
    <li class="alike">
      <ol>{view(first)}</ol>
      <Folded summary={<>{more.length} more like this, until <Clock at={last.kind === "chunks" ? last.last.at : last.at} /></>}>
        {() => <ol class="line">{more.map((line) => <Alike key={keyOf(line)} first={line} more={[]} view={view} />)}</ol>}
      </Folded>
    </li>
  );
}

function Attempts({ of, isOpen }: { of: readonly AttemptEntry[]; isOpen: boolean }) {
  const failed = of.filter(hasFailed).length;
  return (
    <li class={`entry ${failed > 0 ? "bad" : "hook"}`}>
      <Folded isOpen={isOpen} summary={`${of.length} ${of.length === 1 ? "attempt" : "attempts"} to reach webhooks${failed === 0 ? "" : `, ${failed} failed`}`}>
        {() => <ol class="line"><Lines of={of} view={(attempt) => <AttemptView attempt={attempt} />} /></ol>}
      </Folded>
    </li>
  );
}

/** A folded block whose contents are created when it is opened. */
function Folded({ summary, isOpen: isOpenFirst = false, children }: { summary: ComponentChildren; isOpen?: boolean; children: () => JSX.Element }) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children()}
    </details>
  );
}

function ItemView({ item, longestMs }: { item: Item; longestMs: number }) {
  const common = { at: item.kind === "chunks" ? item.last.at : item.at, generation: item.kind === "chunks" ? item.last.generation : item.generation };
  switch (item.kind) {
    case "task":
    case "status":
      return (
        <Row {...common} tone={hasFailed(item) ? "bad" : toneOf(item.state)} title={<><span class="kind">{item.kind === "task" ? "Task" : "State"}</span> <StateBadge state={item.state} /></>}>
          {item.message !== undefined && <Excerpt message={item.message} />}
        </Row>
      );
    case "message":
      return (
        <Row {...common} tone="said" title="Message of the client">
          <Excerpt message={item.message} />
        </Row>
      );
    case "chunks":
      return <ChunksView chunks={item} {...common} />;
    case "step":
      return <StepView step={item} longestMs={longestMs} />;
    case "usage":
      return <Row {...common} tone="step" title="Used outside of steps"><UsageText usage={item.usage} /></Row>;
    case "taken":
      return <Row {...common} tone="step" title="The run took a message" />;
    case "held":
      return <Row {...common} tone="step" title={item.chars > 0 ? `Held back ${item.chars} characters of the next chunk, which may begin a secret` : "Let out what was held back"} />;
    case "parked":
      return (
        <Row {...common} tone="wait" title="Waits outside of memory">
          <p class="quiet">
            Until {exact.format(item.until)}
            {item.orMessage && ", or a message"}
            {item.callback !== undefined && `, or the callback ${item.callback.name}`}
            {item.unanswered !== undefined && `: its program has not answered ${item.unanswered.times} ${item.unanswered.times === 1 ? "request" : "requests"} since ${exact.format(item.unanswered.since)}`}
          </p>
        </Row>
      );
    case "woken":
      return <Row {...common} tone="step" title={`The wait ended by ${{ time: "its time", message: "a message", callback: "a callback" }[item.by] ?? item.by}`} />;
    case "ended":
      return <Row {...common} tone="step" title="The run is over" />;
    case "callback":
      return (
        <Row {...common} tone="step" title={<>Callback <code>{nameOf(item.name, item.nth)}</code> made</>}>
          <p class="quiet">
            Takes {item.uses === 1 ? "one body" : `${item.uses} bodies`} until {exact.format(item.expiresAt)}
          </p>
        </Row>
      );
    case "called":
      return (
        <Row {...common} tone="step" title={<>Callback <code>{nameOf(item.name, item.nth)}</code> called</>}>
          {item.body !== undefined && <PartText part={item.body} />}
        </Row>
      );
    default:
      // A later version of the server may send other kinds.
      return <Row at={(item as Item & { at: number }).at} generation={null} tone="step" title={(item as { kind: string }).kind} />;
  }
}

interface RowProps {
  at: number;
  generation: number | null;
  /** Of a step. */
  name?: string;
  nth?: number;
  tone: string;
  title: ComponentChildren;
  children?: ComponentChildren;
}

function Row({ tone, title, children, ...entry }: RowProps) {
  const { at, generation } = entry;
  return (
    <li class={`entry ${tone}`} data-at={placeOf(entry)}>
      <div class="entry-head">
        <span class="entry-title">{title}</span>
        {generation !== null && <span class="generation" title={`Generation ${generation}`}>#{generation}</span>}
        <Clock at={at} />
      </div>
      {children}
    </li>
  );
}

export function Clock({ at }: { at: number }) {
  return (
    <time class="clock" dateTime={new Date(at).toISOString()} title={exact.format(at)}>
      {clock.format(at)}
    </time>
  );
}

export function StepTitle({ step }: { step: Pick<StepEntry, "name" | "nth" | "type" | "tool" | "agent"> | OpenStep }) {
  const tool = "tool" in step ? step.tool : undefined;
  const words = { model: "Model", tool: "Tool", agent: "Agent", step: "Step" }[step.type] ?? "Step";
  // A request to a model is identified by its number; its name has no further information.
  if (step.type === "model" && step.name === "model") return <>Model request {step.nth}</>;
  const name = step.type === "agent" ? step.agent : step.type === "tool" ? (tool ?? `call ${step.name}`) : nameOf(step.name, step.nth);
  return (
    <>
      <span class="kind">{words}</span> <code>{name}</code>
    </>
  );
}

function StepView({ step, longestMs }: { step: StepEntry; longestMs: number }) {
  const { durationMs, failed, usage, calls } = step;
  const text = step.error ?? step.outcome;
  return (
    <Row at={step.at} generation={null} name={step.name} nth={step.nth} tone={hasFailed(step) ? "bad" : step.type} title={<StepTitle step={step} />}>
      <p class="row quiet">
        {failed && <span class="failed"><Icon name="warning" /> failed</span>}
        {durationMs !== undefined && (
          <span class="took">
            <span class="length-bar" aria-hidden="true">
              <span style={{ width: `${Math.max(2, (100 * durationMs) / Math.max(longestMs, 1))}%` }} />
            </span>
            {duration(durationMs)}
          </span>
        )}
        {usage !== undefined && <UsageText usage={usage} />}
        {calls !== undefined && <span>calls {calls.join(", ")}</span>}
        {step.type === "agent" && <span>begun by call {step.name.split(" ")[1]}</span>}
        {text === undefined && <span>{bytesText(step.bytes)}</span>}
      </p>
      {text !== undefined && text !== "null" && (
        <details>
          <summary>{failed ? "Error" : "Outcome"} ({bytesText(step.bytes)})</summary>
          <pre tabIndex={0}>{text}{step.isCut === true && " …"}</pre>
        </details>
      )}
    </Row>
  );
}

export function UsageText({ usage }: { usage: Usage }) {
  return <span>{[`${usage.inputTokens} tokens in, ${usage.outputTokens} out`, costText(usage)].filter((text) => text !== "").join(" · ")}</span>;
}

function AttemptView({ attempt }: { attempt: AttemptEntry }) {
  const isGood = !hasFailed(attempt);
  const outcome = { delivered: "delivered", retry: "failed, is tried again", givenUp: "given up" }[attempt.outcome] ?? attempt.outcome;
  return (
    <Row at={attempt.at} generation={attempt.generation} tone={isGood ? "hook" : "bad"} title={<><span class="kind">Webhook</span> <code>{attempt.origin}</code></>}>
      <p class="quiet">
        {[outcome, `attempt ${attempt.attempt}`, attempt.status === undefined ? "" : `status ${attempt.status}`, duration(attempt.durationMs), isGood ? "" : (attempt.error ?? "")]
          .filter((text) => text !== "")
          .join(" · ")}
      </p>
    </Row>
  );
}

function ChunksView({ chunks, at, generation }: { chunks: Chunks; at: number; generation: number | null }) {
  const { first, last, count, bytes, text, isCut } = chunks;
  const files = first.parts.filter((part) => part.type === "raw" || part.filename !== undefined);
  return (
    <Row at={at} generation={generation} tone="result" title={<><span class="kind">Artifact</span> <code>{first.name ?? first.artifactId}</code></>}>
      <p class="quiet">
        {[count > 1 ? `${count} chunks` : "", bytesText(bytes), files.map((part) => part.filename ?? part.mediaType ?? "file").join(", "), last.lastChunk ? "complete" : ""]
          .filter((one) => one !== "")
          .join(" · ")}
      </p>
      {text !== "" && <TextExcerpt text={text} isCut={isCut} />}
    </Row>
  );
}

export function Excerpt({ message }: { message: MessageExcerpt }) {
  return (
    <>
      {message.parts.map((part, at) => (
        <PartText key={at} part={part} />
      ))}
      {message.moreParts !== undefined && <p class="quiet">and {message.moreParts} more parts</p>}
    </>
  );
}

function PartText({ part }: { part: PartExcerpt }) {
  const about = [part.filename, part.mediaType, part.type === "text" ? undefined : bytesText(part.bytes)].filter((one) => one !== undefined);
  return (
    <>
      {about.length > 0 && <p class="quiet">{about.join(" · ")}</p>}
      {part.text !== undefined && part.text !== "" && <TextExcerpt text={part.text} isCut={part.isCut === true} />}
    </>
  );
}

/** The number of lines shown before the rest is folded. */
const MAX_LINES = 6;

export function TextExcerpt({ text, isCut }: { text: string; isCut: boolean }) {
  const lines = text.split("\n");
  const shown = text.length > 400 ? text.slice(0, 400) : text;
  if (lines.length <= MAX_LINES && shown === text) return <p class="said-text" dir="auto">{text}{isCut && " …"}</p>;
  const head = shown.split("\n").slice(0, MAX_LINES).join("\n");
  return (
    <details class="long">
      <summary>
        <span class="said-text" dir="auto">{head} …</span>
      </summary>
      <p class="said-text" dir="auto">{text}{isCut && " …"}</p>
    </details>
  );
}

function toneOf(state: string): string {
  if (/COMPLETED/.test(state)) return "good";
  if (/REQUIRED/.test(state)) return "wait";
  return "state";
}
