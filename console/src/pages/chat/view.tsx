// The chat with one agent, of this Worker or elsewhere.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { takesFiles } from "../../api/card.ts";
import { isElsewhere, type Endpoint } from "../../api/endpoint.ts";
import { abilitiesOf } from "../../api/follow.ts";
import { Problem } from "../../api/problem.ts";
import { inputSchemas } from "../../api/schemas.ts";
import type { AgentCard, Part } from "../../api/types.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { useLoaded } from "../../parts/loaded.ts";
import { ProblemBox } from "../../parts/problem.tsx";
import { stateWord } from "../../parts/state.tsx";
import { go, href, place } from "../../route.ts";
import { adviceFor } from "./advice.ts";
import { Composer } from "./composer.tsx";
import { asks, Conversation, type Draft } from "./conversation.ts";
import { RawPanel } from "./raw.tsx";
import { SaidView, StoryView } from "./story.tsx";
import { useFollowedEnd } from "./scrolling.ts";
import { Welcome } from "./welcome.tsx";
import "./chat.css";

/** `taskId` comes from the address. The chat adds the task that it begins to the address. */
export function ChatView({ endpoint, taskId }: { endpoint: Endpoint; taskId?: string | undefined }) {
  const { value: card, problem, again } = useLoaded((signal) => endpoint.card({ signal }), endpoint.key);
  if (problem !== undefined) return <ProblemBox problem={problem} retry={again} />;
  if (card === undefined) return <Loading />;
  return <Chat key={endpoint.key} endpoint={endpoint} card={card} taskId={taskId} />;
}

function Chat({ endpoint, card, taskId }: { endpoint: Endpoint; card: AgentCard; taskId: string | undefined }) {
  const isLocal = !isElsewhere(endpoint.key);
  const { query } = place.value;
  const context = query.get("context") ?? undefined;
  const [schemas, setSchemas] = useState<Record<string, unknown>>({});
  const [first, setFirst] = useState({ text: query.get("text") ?? "", skill: query.get("skill") ?? "" });
  const [refused, setRefused] = useState<Problem>();
  const [showsRaw, setShowsRaw] = useState(false);
  const [talk, setTalk] = useState(() => new Conversation(endpoint, abilitiesOf(card, isLocal)));
  const end = useRef<HTMLDivElement>(null);
  const items = talk.items.value;
  const isEmpty = items.length === 0 && !talk.isLoading.value && talk.problem.value === undefined;
  const { isAway, toEnd } = useFollowedEnd(end, !isEmpty);

  // Another task in the address opens another conversation, except for the task that this conversation has begun. This is a layout effect because it
  // must run before a message can be sent: later, the new task would not be in the address yet, and its conversation would be dropped.
  useLayoutEffect(() => {
    if (taskId !== undefined && talk.items.value.some((item) => item.kind === "task" && item.feed.taskId === taskId)) return;
    if (taskId === undefined && talk.items.value.length === 0 && context === undefined) return;
    if (taskId === undefined && context !== undefined && talk.contextId.value === context) return;
    const next = new Conversation(endpoint, abilitiesOf(card, isLocal));
    setTalk(next);
    setRefused(undefined);
    if (taskId !== undefined) void next.open(taskId);
    else if (context !== undefined) void next.openContext(context);
  }, [taskId, context]);
  useEffect(() => () => talk.close(), [talk]);
  useEffect(() => {
    if (isLocal) void inputSchemas(endpoint.key).then(setSchemas);
  }, [endpoint.key, isLocal]);

  const begun = talk.taskId.value;
  const kept = begun === undefined && talk.items.value.at(-1)?.kind === "said" ? talk.contextId.value : undefined;
  useEffect(() => {
    // Direct messages belong to no task, so the address contains their context.
    if (kept !== undefined && taskId === undefined) go(href(["chat", ...endpoint.path], { context: kept }), { replace: true });
  }, [kept]);
  useEffect(() => {
    if (begun !== undefined && begun !== taskId && talk.items.value.length > 0 && !talk.isLoading.value) go(href(["chat", ...endpoint.path, begun]), { replace: true });
  }, [begun]);

  const send = async (draft: Draft): Promise<boolean> => {
    setRefused(undefined);
    toEnd();
    try {
      await talk.send(draft);
      return true;
    } catch (error) {
      setRefused(error instanceof Problem ? error : new Problem(String(error)));
      return false;
    }
  };
  const answer = (parts: Part[]) => void send({ parts, mode: card.capabilities?.streaming === true ? "stream" : "wait", acceptedOutputModes: [], skill: undefined, isNewTask: false });
  const anew = () => {
    setFirst({ text: "", skill: "" });
    setTalk(new Conversation(endpoint, abilitiesOf(card, isLocal)));
    setRefused(undefined);
    go(href(["chat", ...endpoint.path]));
  };

  const current = talk.current.value;
  const state = current?.story.value.task?.status.state;
  return (
    <div class={showsRaw ? "chat with-raw" : "chat"}>
      <div class="chat-main">
        <header class="chat-head">
          <div>
            <h1>{card.name}</h1>
            <a class="quiet" href={href(["agents", ...endpoint.path])}>
              About this agent
            </a>
          </div>
          <div class="row">
            <button type="button" class="small" onClick={anew} disabled={isEmpty}>
              <Icon name="plus" />
              <span>New conversation</span>
            </button>
            <button type="button" class="small" aria-pressed={showsRaw} onClick={() => setShowsRaw(!showsRaw)}>
              <span aria-hidden="true">{"{ }"}</span>
              <span>Raw</span>
            </button>
          </div>
        </header>
        <div class="talk">
          {talk.isLoading.value && items.length === 0 && <Loading />}
          {talk.problem.value !== undefined && (
            <>
              <ProblemBox problem={talk.problem.value} retry={taskId === undefined ? undefined : () => void talk.open(taskId)} />
              {adviceFor(talk.problem.value) !== undefined && <p class="quiet">{adviceFor(talk.problem.value)}</p>}
            </>
          )}
          {isEmpty && <Welcome card={card} schemas={schemas} pick={setFirst} />}
          {items.map((item, at) =>
            item.kind === "said" ? (
              <SaidView key={item.key} sent={item.sent} answer={item.answer} />
            ) : (
              <StoryView key={item.key} endpoint={endpoint} feed={item.feed} isLast={at === items.length - 1} answer={answer} takesFiles={takesFiles(card)} />
            ),
          )}
        </div>
        <div ref={end} class="talk-end" />
        <div class="chat-foot">
          {isAway && (
            <button type="button" class="small to-end" onClick={toEnd}>
              <Icon name="down" />
              <span>Newest</span>
            </button>
          )}
          {refused !== undefined && (
            <div class="send-refused">
              <ProblemBox problem={refused} />
              {adviceFor(refused) !== undefined && <p class="quiet">{adviceFor(refused)}</p>}
            </div>
          )}
          <Composer
            key={endpoint.key}
            card={card}
            schemas={schemas}
            first={first}
            isSending={talk.isSending.value}
            target={current === undefined ? undefined : asks(current) ? "asks" : "works"}
            send={send}
          />
        </div>
        <Announcer word={announced(state, talk)} />
      </div>
      {showsRaw && <RawPanel log={talk.raw} close={() => setShowsRaw(false)} />}
    </div>
  );
}

/** Announces states and questions, but not chunks, to screen readers. */
function Announcer({ word }: { word: string }) {
  return (
    <p class="sr" role="status">
      {word}
    </p>
  );
}

function announced(state: string | undefined, talk: Conversation): string {
  if (state !== undefined) return `The task is in the state: ${stateWord(state)}`;
  const last = talk.items.value.at(-1);
  if (last?.kind === "said") return "The agent has answered";
  const ended = last?.feed.story.value.task?.status.state;
  return ended === undefined ? "" : `The task has ended: ${stateWord(ended)}`;
}
