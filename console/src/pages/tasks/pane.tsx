// What a row of a trace opens: what the work was given, what came of it, and what it took.
import type { ComponentChildren } from "preact";
import type { Head, StepEntry, TaskOf, Usage } from "../../api/timeline.ts";
import { Fact } from "../../parts/fact.tsx";
import { JsonTree } from "../../parts/json.tsx";
import { StateBadge } from "../../parts/state.tsx";
import { duration } from "../../parts/time.tsx";
import { shortened } from "../../parts/words.ts";
import { href, place } from "../../route.ts";
import { Clock, Excerpt, TextExcerpt, UsageText } from "./entries.tsx";
import { nameOf, placeOf } from "./entry.ts";
import { givenOf } from "./given.ts";
import { bytesText } from "./groups.ts";
import { plus, type Span, type Turn } from "./trace.ts";

export function Pane({ span, parent, head }: { span: Span; parent: Span | undefined; head: Head }) {
  const { path, query } = place.value;
  const step = stepOf(span);
  const usage = usageOf(span);
  const kept = step?.outcome === undefined ? undefined : jsonIn(step.outcome, step.isCut === true);
  const isOwn = path[2] === head.taskId;
  const log = step === undefined || !isOwn ? undefined : href(path, { ...Object.fromEntries(query), view: "log", row: undefined, entry: placeOf(step) });
  const task = givenOf(span) ?? (span.kind === "turn" ? (span as Turn).askedBy : undefined);
  return (
    <div class="span-pane" role="group" aria-label={`Details of ${span.name}`}>
      <dl class="task-facts">
        <Fact name="Begun"><Clock at={span.from} /></Fact>
        <Fact name="Took">{span.isOpen ? `${duration(span.until - span.from)}, not done yet` : step !== undefined && step.durationMs === undefined ? "unknown" : duration(span.until - span.from)}</Fact>
        <Fact name="Attempt">{span.kind === "turn" ? <Attempts turn={span as Turn} /> : span.attempt}</Fact>
        {span.step !== undefined && <Fact name="Step"><code>{nameOf(span.step.name, span.step.nth)}</code></Fact>}
        {usage !== undefined && <Fact name="Use of models"><UsageText usage={usage} /></Fact>}
        {task !== undefined && <Fact name={span.kind === "turn" ? "Asked by" : "Task"}><TaskLink task={task} /></Fact>}
        {step !== undefined && <Fact name="Size of the output">{bytesText(step.bytes)}</Fact>}
      </dl>
      {span.kind === "turn" && <TurnContents turn={span as Turn} />}
      {span.step !== undefined && <Contents label="Input"><Input span={span} parent={parent} head={head} /></Contents>}
      {step?.error !== undefined && <Contents label="Error"><TextExcerpt text={step.error} isCut={step.isCut === true} /></Contents>}
      {kept !== undefined && <Contents label={step?.failed === true ? "Error" : "Output"}><Output span={span} kept={kept} /></Contents>}
      {step !== undefined && step.error === undefined && step.outcome === undefined && (
        <Contents label={step.failed ? "Error" : "Output"}>
          <p class="quiet">It is shown to operators, and to you where the file of the agent says so.</p>
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
function Input({ span, parent, head }: { span: Span; parent: Span | undefined; head: Head }) {
  const step = stepOf(span);
  if (step?.input !== undefined) {
    const given = jsonIn(step.input, step.inputIsCut === true);
    if (given instanceof Cut) return <><TextExcerpt text={given.text} isCut /><p class="quiet">The rest is not kept, or not shown.</p></>;
    if (span.kind === "model" && isObject(given) && Array.isArray(given["new"])) return <Asked given={given} span={span} turn={parent} />;
    return <Value value={given} label="Input" />;
  }
  const given = argumentsIn(parent, span);
  if (given !== undefined) return <Value value={given} label="Input" />;
  if (step === undefined) return <p class="quiet">It is shown when the step is done.</p>;
  return <p class="quiet">{head.trace === "full" ? (head.traceIsFull === true ? "It is not kept: inputs have taken their tenth of what a task may hold." : "None is kept, or it is not shown to you.") : <>It is not kept. <code>trace = "full"</code> in <code>[executor.run]</code> of the agent's file keeps it.</>}</p>;
}

/** What a request to a model had that the request before it had not. */
function Asked({ given, span, turn }: { given: Record<string, unknown>; span: Span; turn: Span | undefined }) {
  const before = turn?.children.find((one) => one.kind === "model" && one.step?.nth === (span.step?.nth ?? 0) - 1);
  const kept = before === undefined ? undefined : stepOf(before)?.outcome;
  const answer = kept === undefined ? undefined : jsonIn(kept, false);
  const calls = isObject(answer) && Array.isArray(answer["calls"]) ? (answer["calls"] as unknown[]).filter(isObject) : [];
  const { instructions, tools } = given;
  const words = (one: Record<string, unknown>) => {
    if (typeof one["client"] === "string") return <p>The message of the client</p>;
    if (typeof one["result"] === "string") return <p>The result of {String(calls.find(({ id }) => id === one["result"])?.["name"] ?? "a call")}</p>;
    return Object.entries(one).map(([role, said]) => (
      <div key={role}>
        <p class="quiet">{role}</p>
        <TextExcerpt text={Array.isArray(said) ? said.join("\n") : String(said)} isCut={false} />
      </div>
    ));
  };
  return (
    <>
      {typeof instructions === "string" && <div><p class="quiet">Instructions</p><TextExcerpt text={instructions} isCut={false} /></div>}
      {Array.isArray(tools) && tools.length > 0 && <p><span class="quiet">Tools</span> {tools.join(", ")}</p>}
      <ol class="attempts">{(given["new"] as unknown[]).filter(isObject).map((one, nth) => <li key={nth}>{words(one)}</li>)}</ol>
    </>
  );
}

/** The way to another task. */
export function TaskLink({ task }: { task: TaskOf }) {
  return (
    <a href={href(["tasks", task.agent, task.id])} title={task.id}>
      {task.agent} <code>{shortened(task.id)}</code>
    </a>
  );
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
