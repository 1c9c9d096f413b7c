// Two tasks side by side: their states, numbers and answers, live.
import { useEffect, useMemo } from "preact/hooks";
import { json } from "../../api/http.ts";
import { actOn, type Head, type TaskOf } from "../../api/timeline.ts";
import { isFinal, type ListTasksResponse, type Message } from "../../api/types.ts";
import { ArtifactView } from "../../parts/artifact.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { useLoaded } from "../../parts/loaded.ts";
import { Parts } from "../../parts/part.tsx";
import { ProblemBox } from "../../parts/problem.tsx";
import { FailedSteps, StateBadge } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { Whose } from "../../parts/whose.ts";
import { shortened } from "../../parts/words.ts";
import { href, place } from "../../route.ts";
import { isOperator } from "../../session/operator.ts";
import { LiveTimeline } from "../tasks/live.ts";
import { RunAgain } from "../tasks/run-again.tsx";
import { useWhole, Waiting } from "../tasks/whole.tsx";
import { compareAddress, taskNamed } from "./address.ts";
import { rowsOf, sentenceOf, type Row } from "./verdicts.ts";
import "./compare.css";

export function ComparePage() {
  const { query } = place.value;
  const [one, other] = [taskNamed(query.get("a")), taskNamed(query.get("b"))];
  return (
    <section class="page compare">
      <header>
        <h1>Two tasks</h1>
        <p class="quiet">Their states, numbers and answers beside each other.</p>
      </header>
      {one === undefined ? (
        <div class="empty">
          <p>
            The address names no task. <a href={href(["tasks"])}>Choose one</a>, and compare it from there.
          </p>
        </div>
      ) : other === undefined ? (
        <Others key={`${one.agent}/${one.id}`} one={one} />
      ) : (
        <Comparison key={`${one.agent}/${one.id} ${other.agent}/${other.id} ${isOperator.value}`} one={one} other={other} />
      )}
    </section>
  );
}

function Comparison({ one, other }: { one: TaskOf; other: TaskOf }) {
  const [first, second] = useMemo(() => [new LiveTimeline(one), new LiveTimeline(other)] as const, []);
  useEffect(
    () => () => {
      first.close();
      second.close();
    },
    [],
  );
  const heads = [first.head.value, second.head.value] as const;
  const rows = heads[0] === undefined || heads[1] === undefined ? undefined : rowsOf(heads[0], heads[1]);
  return (
    <>
      {heads[0] !== undefined && heads[1] !== undefined && (
        <p class="card" role="status" aria-label="Comparison">
          {sentenceOf(heads[0], heads[1])} {better(rows, 0, "first")} {better(rows, 1, "second")}
        </p>
      )}
      <div class="sides">
        <Side name="First task" task={one} timeline={first} rows={rows} at={0} />
        <Side name="Second task" task={other} timeline={second} rows={rows} at={1} />
      </div>
    </>
  );
}

/** What one of the tasks did better, as a sentence. */
function better(rows: readonly Row[] | undefined, at: 0 | 1, word: string): string {
  const found = (rows ?? []).filter((row) => row.better[at] !== "").map((row) => `${row.name.toLowerCase()} ${row.better[at]}`);
  return found.length === 0 ? "" : `The ${word} did better: ${found.join(", ")}.`;
}

function Side({ name, task, timeline, rows, at }: { name: string; task: TaskOf; timeline: LiveTimeline; rows: readonly Row[] | undefined; at: 0 | 1 }) {
  const head = timeline.head.value;
  return (
    <section class="side-task" aria-label={name}>
      <header class="stack">
        <h2>
          {name}: <bdi>{task.agent}</bdi>{" "}
          <a href={href(["tasks", task.agent, task.id])}>
            <code>{shortened(task.id)}</code>
          </a>
        </h2>
        <div class="row">{head !== undefined && <RunAgain task={task} />}</div>
      </header>
      {timeline.problem.value !== undefined && <ProblemBox problem={timeline.problem.value} retry={() => timeline.refresh()} />}
      {head === undefined ? timeline.problem.value === undefined && <Loading /> : <Numbers head={head} rows={rows} at={at} />}
      <Whose.Provider value={` of the ${name.toLowerCase()}`}>{head !== undefined && <Answers task={task} head={head} changed={() => timeline.refresh()} />}</Whose.Provider>
    </section>
  );
}

function Numbers({ head, rows, at }: { head: Head; rows: readonly Row[] | undefined; at: 0 | 1 }) {
  return (
    <dl class="card numbers">
      <div>
        <dt>State</dt>
        <dd class="row" aria-live="polite">
          <StateBadge state={head.state} />
          <FailedSteps count={head.failedSteps ?? 0} />
        </dd>
      </div>
      <div>
        <dt>Begun</dt>
        <dd>
          <Time at={head.createdAt} />
        </dd>
      </div>
      {rows?.map(({ name, values, better }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {values[at] ?? <span class="quiet">none yet</span>}
            {better[at] !== "" && (
              <strong class="better">
                <Icon name="check" /> {better[at]}
              </strong>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The message that began the task, and what has come of it. */
function Answers({ task, head, changed }: { task: TaskOf; head: Head; changed: () => void }) {
  const { whole, problem, retry } = useWhole(task, head, { isEarly: true });
  if (problem !== undefined) return <ProblemBox problem={problem} retry={retry} />;
  if (whole === undefined) return <Loading />;
  const begun = whole.history?.find(({ role }) => role === "ROLE_USER");
  const { message } = whole.status;
  const artifacts = whole.artifacts ?? [];
  return (
    <>
      {begun !== undefined && <Said title="The message" message={begun} />}
      <Waiting task={task} head={head} whole={whole} Heading="h3" changed={changed} />
      {message !== undefined && isFinal(head.state) && <Said title="The last word" message={message} />}
      {artifacts.map((artifact) => (
        <ArtifactView key={artifact.artifactId} artifact={artifact} />
      ))}
      {artifacts.length === 0 && isFinal(head.state) && <p class="quiet">It has given no artifacts.</p>}
    </>
  );
}

function Said({ title, message }: { title: string; message: Message }) {
  return (
    <div class="stack said-in-full">
      <h3>{title}</h3>
      <Parts parts={message.parts} />
    </div>
  );
}

/** How many tasks are offered for a comparison. */
const OFFERED = 20;

/** The newest other tasks of the agent, each with the address of the comparison with it. */
function Others({ one }: { one: TaskOf }) {
  const query = { pageSize: OFFERED + 1, historyLength: 0 };
  const { value, problem, again } = useLoaded((signal) => json<ListTasksResponse>({ agent: one.agent, path: `/${one.agent}/tasks`, query, headers: actOn(one), signal }), `${one.agent}/${one.id}`);
  if (problem !== undefined) return <ProblemBox problem={problem} retry={again} />;
  if (value === undefined) return <Loading />;
  const others = value.tasks.filter(({ id }) => id !== one.id).slice(0, OFFERED);
  return (
    <>
      <p>
        With which task shall <code>{shortened(one.id)}</code> be compared? These are the newest ones of <bdi>{one.agent}</bdi>.
      </p>
      {others.length === 0 && <p class="empty">The agent has no other task. Run it again instead.</p>}
      <ul class="pick">
        {others.map(({ id, status }) => (
          <li key={id}>
            <a class="card" href={compareAddress(one, { agent: one.agent, id })}>
              <code>{shortened(id)}</code>
              <span class="row">
                <StateBadge state={status.state} /> <Time at={status.timestamp} />
              </span>
            </a>
          </li>
        ))}
      </ul>
      <div class="row">
        <RunAgain task={one} hasOthers />
      </div>
    </>
  );
}
