// What a row of a trace opens: what the work was given, what came of it, and what it took.
import type { ComponentChildren } from "preact";
import { Fact } from "../../parts/fact.tsx";
import { JsonTree } from "../../parts/json.tsx";
import { StateBadge } from "../../parts/state.tsx";
import { duration } from "../../parts/time.tsx";
import { href, place } from "../../route.ts";
import { Clock, Excerpt, TextExcerpt, UsageText } from "./entries.tsx";
import { nameOf, placeOf, type StepEntry, type Usage } from "./entry.ts";
import { bytesText } from "./groups.ts";
import { plus, type Span, type Turn } from "./trace.ts";

export function Pane({ span, parent }: { span: Span; parent: Span | undefined }) {
  const { path, query } = place.value;
  const step = stepOf(span);
  const usage = usageOf(span);
  const kept = step?.outcome === undefined ? undefined : jsonIn(step.outcome, step.isCut === true);
  const log = step === undefined ? undefined : href(path, { ...Object.fromEntries(query), view: "log", row: undefined, entry: placeOf(step) });
  return (
    <div class="span-pane" role="group" aria-label={`Details of ${span.name}`}>
      <dl class="task-facts">
        <Fact name="Begun"><Clock at={span.from} /></Fact>
        <Fact name="Took">{span.isOpen ? `${duration(span.until - span.from)}, not done yet` : step !== undefined && step.durationMs === undefined ? "unknown" : duration(span.until - span.from)}</Fact>
        <Fact name="Attempt">{span.kind === "turn" ? <Attempts turn={span as Turn} /> : span.attempt}</Fact>
        {span.step !== undefined && <Fact name="Step"><code>{nameOf(span.step.name, span.step.nth)}</code></Fact>}
        {usage !== undefined && <Fact name="Use of models"><UsageText usage={usage} /></Fact>}
        {step !== undefined && <Fact name="Size of the output">{bytesText(step.bytes)}</Fact>}
      </dl>
      {span.kind === "turn" && <TurnContents turn={span as Turn} />}
      {span.step !== undefined && <Contents label="Input"><Input span={span} parent={parent} /></Contents>}
      {step?.error !== undefined && <Contents label="Error"><TextExcerpt text={step.error} isCut={step.isCut === true} /></Contents>}
      {kept !== undefined && <Contents label={step?.failed === true ? "Error" : "Output"}><Output span={span} kept={kept} /></Contents>}
      {step !== undefined && step.error === undefined && step.outcome === undefined && (
        <Contents label={step.failed ? "Error" : "Output"}>
          <p class="quiet">It is shown to operators alone.</p>
        </Contents>
      )}
      {log !== undefined && <p><a href={log}>Show in the log</a></p>}
    </div>
  );
}

function Contents({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <section class="span-contents" aria-label={label}>
      <h3>{label}</h3>
      {children}
    </section>
  );
}

function Attempts({ turn }: { turn: Turn }) {
  const { attempts } = turn;
  if (attempts.length < 2) return <>{attempts[0]?.number ?? 1}</>;
  return (
    <ol class="attempts">
      {attempts.map(({ number, from, until, resumes }, nth) => (
        <li key={nth}>
          {number}, {duration(until - from)}
          {resumes && ", goes on where it was"} <Clock at={from} />
        </li>
      ))}
    </ol>
  );
}

function TurnContents({ turn }: { turn: Turn }) {
  return (
    <>
      {turn.message !== undefined && <Contents label="Input"><Excerpt message={turn.message} /></Contents>}
      {turn.said.length > 0 && (
        <Contents label="Output">
          {turn.said.map((item, nth) =>
            item.kind === "chunks" ? (
              <div key={nth} class="stack">
                <p class="quiet">Artifact <code>{item.first.name ?? item.first.artifactId}</code>, {bytesText(item.bytes)}</p>
                {item.text !== "" && <TextExcerpt text={item.text} isCut={item.isCut} />}
              </div>
            ) : item.kind === "status" ? (
              <div key={nth} class="stack">
                <p><StateBadge state={item.state} /></p>
                {item.message !== undefined && <Excerpt message={item.message} />}
              </div>
            ) : null,
          )}
        </Contents>
      )}
    </>
  );
}

/** What the step was given. The arguments of a model's call are also in the answer that made the call. */
function Input({ span, parent }: { span: Span; parent: Span | undefined }) {
  const given = argumentsIn(parent, span);
  if (given !== undefined) return <Value value={given} label="Input" />;
  return <p class="quiet">It is not kept.</p>;
}

/** What a step has come to: of the forms that built-in agents store, what people look for; otherwise all of it. */
function Output({ span, kept }: { span: Span; kept: unknown }) {
  if (kept instanceof Cut) return <TextExcerpt text={kept.text} isCut />;
  if (!isObject(kept)) return <Value value={kept} label="Output" />;
  if (span.kind === "tool" && typeof kept["result"] === "string") return <Value value={valueIn(kept["result"])} label="Output" />;
  if (span.kind !== "model" || !Array.isArray(kept["calls"])) return <Value value={kept} label="Output" />;
  const { text, calls, isShown, ...rest } = kept;
  const made = (calls as unknown[]).filter(isObject).map(({ name, arguments: given }) => ({ name, arguments: typeof given === "string" ? valueIn(given) : given }));
  return (
    <>
      {typeof text === "string" && text !== "" && <TextExcerpt text={text} isCut={false} />}
      {isShown === true && <p class="quiet">Its text is an artifact of the task.</p>}
      {made.length > 0 && <JsonTree value={made} label="Calls" />}
      <details>
        <summary>What else was stored</summary>
        <JsonTree value={rest} label="Answer" />
      </details>
    </>
  );
}

function Value({ value, label }: { value: unknown; label: string }) {
  if (typeof value === "string") return <TextExcerpt text={value} isCut={false} />;
  return <JsonTree value={value} label={label} />;
}

/** A text whose end is not known. */
class Cut {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function jsonIn(text: string, isCut: boolean): unknown {
  return isCut ? new Cut(text) : valueIn(text);
}

/** The JSON in a text; the text itself if it is none. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function argumentsIn(model: Span | undefined, call: Span): unknown {
  const step = model === undefined || model.kind !== "model" || call.kind !== "tool" ? undefined : stepOf(model);
  const kept = step?.outcome === undefined ? undefined : jsonIn(step.outcome, step.isCut === true);
  const calls = isObject(kept) ? kept["calls"] : undefined;
  const made: unknown = Array.isArray(calls) ? calls[Number(call.step?.name.split(".")[1]) - 1] : undefined;
  const given = isObject(made) ? made["arguments"] : undefined;
  return typeof given === "string" ? valueIn(given) : given;
}

const stepOf = ({ step }: Span): StepEntry | undefined => (step !== undefined && "failed" in step ? step : undefined);

function usageOf(span: Span): Usage | undefined {
  const own = span.kind === "turn" ? (span as Turn).used : [stepOf(span)?.usage];
  const all = [...own, ...span.children.map(usageOf)].filter((usage) => usage !== undefined);
  return all.length === 0 ? undefined : all.reduce(plus);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Cut);
