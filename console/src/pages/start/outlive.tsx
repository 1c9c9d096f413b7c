// A task outlives its server: in development, the person has the server killed while a task runs, and watches both come back.
import { useEffect, useState } from "preact/hooks";
import type { CataloguedAgent } from "../../api/agents.ts";
import { killServer } from "../../api/development.ts";
import { localEndpoint } from "../../api/endpoint.ts";
import { abilitiesOf, Feed } from "../../api/follow.ts";
import { askSeveral } from "../../api/several.ts";
import type { AgentCard } from "../../api/types.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { useLoaded } from "../../parts/loaded.ts";
import { ProblemBox } from "../../parts/problem.tsx";
import { stateWord } from "../../parts/state.tsx";
import { StoryView } from "../chat/story.tsx";
import { Sightings } from "./sightings.ts";

/** What the agents of examples work for ten seconds at, and what their cards give as an example of it. */
const LONG = "count 40 every 250";
const IS_LONG = /^count \d+ every \d+$/;
/** The number of agents whose cards are read for one that works long enough. */
const MAX_CARDS = 8;
/** The server may be killed when this many events have come: the task is then stored, and at work. */
const EVENTS = 3;

export function Outlive({ agents }: { agents: readonly CataloguedAgent[] }) {
  const streaming = agents.filter(({ capabilities }) => capabilities?.streaming === true).slice(0, MAX_CARDS);
  const { value: cards } = useLoaded((signal) => askSeveral(streaming, ({ slug }) => localEndpoint(slug).card({ signal }), signal), streaming.map(({ slug }) => slug).join());
  if (streaming.length === 0) return null;
  const works = cards?.find(({ answer }) => answer?.skills.some(({ examples = [] }) => examples.some((text) => IS_LONG.test(text)))) ?? cards?.find(({ answer }) => answer !== undefined);
  return (
    <section class="card stack" aria-label="Kill the server">
      <h2>Kill the server</h2>
      <p>
        Begin a task that takes a while, and kill the server in the middle of it. It is started again, the task goes on, and this page says what it sees. Only <code>npm start</code> and <code>npm run dev</code> can be killed from here; nothing that is deployed can.
      </p>
      {cards === undefined ? <Loading /> : works?.answer !== undefined && <Trial key={works.agent.slug} agent={works.agent} card={works.answer} />}
    </section>
  );
}

interface Run {
  feed: Feed;
  seen: Sightings;
}

function Trial({ agent, card }: { agent: CataloguedAgent; card: AgentCard }) {
  const endpoint = localEndpoint(agent.slug);
  const example = card.skills.flatMap(({ examples = [] }) => examples);
  const [text, setText] = useState(example.some((one) => IS_LONG.test(one)) ? LONG : (example[0] ?? "hello"));
  const [run, setRun] = useState<Run>();
  const [isKilled, setKilled] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const task = run?.feed.story.value.task;
  const state = task?.status.state;
  const isBusy = run !== undefined && (state === undefined || /_(SUBMITTED|WORKING)$/.test(state));
  useEffect(() => () => run?.feed.close(), [run]);
  useEffect(() => {
    if (state !== undefined) run?.seen.reached(state, Date.now());
  }, [state]);

  const begin = async () => {
    const seen = new Sightings(Date.now(), stateWord);
    const feed = new Feed(endpoint, abilitiesOf(card, true), () => (item) => seen.take(item));
    setRun({ feed, seen });
    setKilled(false);
    setProblem(undefined);
    try {
      const message = { messageId: crypto.randomUUID(), role: "ROLE_USER" as const, parts: [{ text }] };
      const direct = await feed.send({ message, mode: "stream" });
      if (direct !== undefined) throw new Error("The agent answered at once, without a task. Send it something that takes a while.");
    } catch (error) {
      setProblem(error);
      setRun(undefined);
    }
  };
  const kill = async () => {
    setKilled(true);
    setProblem(undefined);
    try {
      await killServer();
      run?.seen.killed(Date.now());
    } catch (error) {
      setKilled(false);
      setProblem(error);
    }
  };
  // Not `disabled`, which would take the focus from whoever has pressed a button.
  const mayBegin = !isBusy && text.trim() !== "";
  const mayKill = isBusy && !isKilled && (run?.seen.events.value ?? 0) >= EVENTS;
  return (
    <>
      <div class="row outlive">
        <label>
          <span>
            Message to <code>/{agent.slug}</code>
          </span>
          <input value={text} disabled={isBusy} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button type="button" class="primary" aria-disabled={!mayBegin} onClick={() => mayBegin && void begin()}>
          <Icon name="send" />
          <span>{run === undefined || isBusy ? "Begin a task" : "Begin another task"}</span>
        </button>
        <button type="button" class="danger" aria-disabled={!mayKill} onClick={() => mayKill && void kill()}>
          <Icon name="stop" />
          <span>Kill the server now and watch</span>
        </button>
      </div>
      {problem !== undefined && <ProblemBox problem={problem} />}
      {run !== undefined && (
        <>
          <ol class="sightings" aria-label="What the page sees" aria-live="polite">
            {run.seen.lines.value.map(({ at, tone, text }, nth) => (
              <li key={nth} class={tone}>
                <span class="quiet">{(at / 1000).toFixed(1)} s</span> <span>{text}</span>
              </li>
            ))}
          </ol>
          <StoryView endpoint={endpoint} feed={run.feed} isLast={false} answer={() => undefined} takesFiles={false} />
        </>
      )}
    </>
  );
}
