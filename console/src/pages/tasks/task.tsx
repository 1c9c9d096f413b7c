// One task: its facts, its artifacts, and its timeline.
import { useEffect, useMemo, useState } from "preact/hooks";
import { json } from "../../api/http.ts";
import { actOn, pathOf, type Head, type TaskOf } from "../../api/timeline.ts";
import { isFinal, type Task } from "../../api/types.ts";
import { ArtifactView } from "../../parts/artifact.tsx";
import { ConfirmDialog } from "../../parts/confirm.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { Fact } from "../../parts/fact.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { notify } from "../../parts/notice.tsx";
import { ProblemBox } from "../../parts/problem.tsx";
import { costText } from "../../parts/numbers.ts";
import { FailedSteps, StateBadge } from "../../parts/state.tsx";
import { Time, duration, now } from "../../parts/time.tsx";
import { go, href, place, useKept } from "../../route.ts";
import { isOperator } from "../../session/operator.ts";
import { compareAddress } from "../compare/address.ts";
import { diagnosisOf } from "./diagnosis.ts";
import { placeOf } from "./entry.ts";
import { LiveTimeline, type Following } from "./live.ts";
import { Log, showsLog } from "./log.tsx";
import { TaskLink } from "./pane.tsx";
import { RunAgain } from "./run-again.tsx";
import { findSpan, traceOf } from "./trace.ts";
import { Trace } from "./trace.tsx";
import { useWhole, Waiting } from "./whole.tsx";

export function TaskPage({ task }: { task: TaskOf }) {
  // In another role the contents differ, so everything is loaded again.
  const kept = useKept<{ last?: LiveTimeline }>(`timeline ${isOperator.value}`, () => ({}));
  const timeline = useMemo(() => (kept.last = new LiveTimeline(task, kept.last)), [kept]);
  useEffect(() => () => timeline.close(), [timeline]);
  const head = timeline.head.value;
  const askedBy = timeline.entries.value.find((entry) => entry.kind === "run")?.askedBy;
  return (
    <section class="page task" aria-label="Task">
      <header class="page-head">
        <div class="task-title">
          <p class="quiet">
            <a href={href(["tasks"])}>Tasks</a> / {task.agent}
          </p>
          <h1>
            Task <code class="task-id">{task.id}</code>
          </h1>
        </div>
        {head !== undefined && <TaskActions task={task} head={head} timeline={timeline} />}
      </header>
      {timeline.problem.value !== undefined && <ProblemBox problem={timeline.problem.value} retry={() => timeline.refresh()} />}
      {head === undefined ? timeline.problem.value === undefined && <Loading /> : <Facts head={head} following={timeline.following.value} askedBy={askedBy} />}
      {head !== undefined && <Happened head={head} timeline={timeline} />}
      {head !== undefined && <Contents task={task} head={head} timeline={timeline} />}
      {head !== undefined && <Views timeline={timeline} head={head} />}
    </section>
  );
}

/** The trace of the task, or its log. */
function Views({ timeline, head }: { timeline: LiveTimeline; head: Head }) {
  const { path, query } = place.value;
  const isLog = showsLog(query);
  const views = [["Trace", undefined], ["Log", "log"]] as const;
  return (
    <>
      <nav class="tabs" aria-label="Views of the task">
        <ul>
          {views.map(([word, view]) => (
            <li key={word}>
              <a href={href(path, { owner: query.get("owner") ?? undefined, view })} aria-current={isLog === (view === "log") ? "page" : undefined}>
                {word}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {isLog ? <Log timeline={timeline} head={head} /> : <Trace timeline={timeline} head={head} />}
    </>
  );
}

/** What happened to the task, and the way to what shows it. */
function Happened({ head, timeline }: { head: Head; timeline: LiveTimeline }) {
  const { path, query } = place.value;
  const entries = timeline.entries.value;
  // The sentence changes with the clock only while the task is under way.
  const present = isFinal(head.state) ? 0 : now.value;
  const { tone, sentence, entry } = useMemo(() => diagnosisOf(head, entries, present === 0 ? Date.now() : present), [head, entries, present]);
  const span = entry?.kind !== "step" || showsLog(query) ? undefined : findSpan(traceOf(head, entries, present), ({ step }) => step === entry);
  const show = () => {
    const to = span === undefined ? { view: "log", entry: entry && placeOf(entry) } : { row: span.key };
    go(href(path, { owner: query.get("owner") ?? undefined, ...to }), { replace: true });
    // An address that is shown already does not change.
    requestAnimationFrame(() => document.querySelector(SHOWN)?.scrollIntoView({ block: "center" }));
  };
  return (
    <p class={`happened card ${tone}`} aria-label="What happened">
      <span dir="auto">{sentence}</span>
      {entry !== undefined && (
        <button type="button" class="small" onClick={show}>
          Show where
        </button>
      )}
    </p>
  );
}

/** The entry of the log, or the row of the trace, that the address names. */
const SHOWN = ".entry[aria-current], .span-open[aria-expanded=true]";

function TaskActions({ task, head, timeline }: { task: TaskOf; head: Head; timeline: LiveTimeline }) {
  const [isAsked, setAsked] = useState(false);
  const copied = () => JSON.stringify({ ...head, entries: timeline.entries.value }, null, 2);
  return (
    <div class="actions">
      {!isOperator.value && (
        <a class="button small" href={href(["chat", task.agent, task.id])}>
          <Icon name="chat" /> Open in chat
        </a>
      )}
      <a class="button small" href={href(["webhooks", task.agent, task.id])}>
        <Icon name="webhooks" /> Webhooks
      </a>
      <CopyButton of={copied} label="Copy as JSON" />
      <a class="button small" href={compareAddress(task)}>
        <Icon name="compare" /> Compare
      </a>
      <RunAgain task={task} hasOthers />
      {!isFinal(head.state) && (
        <button type="button" class="small danger" onClick={() => setAsked(true)}>
          <Icon name="stop" /> Cancel task
        </button>
      )}
      {isAsked && <CancelDialog task={task} close={() => setAsked(false)} done={() => timeline.refresh()} />}
    </div>
  );
}

function CancelDialog({ task, close, done }: { task: TaskOf; close: () => void; done: () => void }) {
  const cancel = async () => {
    try {
      await json<Task>({ agent: task.agent, path: pathOf(task, ":cancel"), method: "POST", body: {}, headers: actOn(task) });
      notify("The task is canceled.");
    } finally {
      done();
    }
  };
  return (
    <ConfirmDialog title="Cancel this task?" leave="Keep it" act="Cancel the task" action={cancel} close={close}>
      The agent stops its work. What it has given stays, and nobody can go on with the task.
    </ConfirmDialog>
  );
}

const FOLLOWING: Record<Following, { word: string; title: string }> = {
  live: { word: "Live", title: "Events are shown as they happen" },
  polling: { word: "Looked at every 2 s", title: "The agent offers no stream for this task" },
  broken: { word: "Reconnecting …", title: "The stream broke and is opened again" },
  over: { word: "", title: "" },
};

function Facts({ head, following, askedBy }: { head: Head; following: Following; askedBy: TaskOf | undefined }) {
  const { word, title } = FOLLOWING[following];
  const took = head.createdAt !== null && head.statusAt !== null && isFinal(head.state) ? head.statusAt - head.createdAt : undefined;
  return (
    <dl class="task-facts card">
      <Fact name="State">
        <span class="row" aria-live="polite">
          <StateBadge state={head.state} />
          <FailedSteps count={head.failedSteps ?? 0} />
          {word !== "" && <span class={`quiet following ${following}`} title={title}>{word}</span>}
        </span>
      </Fact>
      <Fact name="Context">
        <a href={href(["tasks"], { agent: head.agent, context: head.contextId })}>
          <code>{head.contextId}</code>
        </a>
      </Fact>
      {askedBy !== undefined && <Fact name="Asked by"><TaskLink task={askedBy} /></Fact>}
      {head.owner !== undefined && <Fact name="Owner"><code>{head.owner}</code></Fact>}
      <Fact name="Created"><Time at={head.createdAt} /></Fact>
      <Fact name={isFinal(head.state) ? "Ended" : "In this state since"}>
        <Time at={head.statusAt} />
        {took !== undefined && <span class="quiet"> after {duration(took)}</span>}
      </Fact>
      <Fact name="Generation">{head.generation}</Fact>
      {head.usage !== undefined && (
        <Fact name="Models">
          {head.usage.requests} {head.usage.requests === 1 ? "request" : "requests"}, {head.usage.inputTokens} tokens in, {head.usage.outputTokens} out
          {head.usage.costMicros > 0 && `, ${costText(head.usage)}`}
        </Fact>
      )}
    </dl>
  );
}

/** The open question of the task, and its complete artifacts. Loaded when the task ends or waits. */
function Contents({ task, head, timeline }: { task: TaskOf; head: Head; timeline: LiveTimeline }) {
  const { whole, problem, retry } = useWhole(task, head, { historyLength: 0 });
  const artifacts = whole?.artifacts ?? [];
  if (problem !== undefined) return <ProblemBox problem={problem} retry={retry} />;
  return (
    <>
      <Waiting task={task} head={head} whole={whole} Heading="h2" changed={() => timeline.refresh()} />
      {artifacts.length > 0 && (
        <section class="stack" aria-label="Results">
          <h2>Results</h2>
          {artifacts.map((artifact) => (
            <ArtifactView key={artifact.artifactId} artifact={artifact} />
          ))}
        </section>
      )}
    </>
  );
}
