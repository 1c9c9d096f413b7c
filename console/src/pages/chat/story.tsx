// One task of the conversation: its messages, artifacts and states as they arrive, and its question.
import { useEffect, useState } from "preact/hooks";
import { isElsewhere, type Endpoint } from "../../api/endpoint.ts";
import type { Feed } from "../../api/follow.ts";
import type { Entry } from "../../api/fold.ts";
import { CREDENTIALS_MEDIA_TYPE, isWaiting, type Message, type Part } from "../../api/types.ts";
import { ArtifactView } from "../../parts/artifact.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { Question, schemaIn } from "../../parts/form/question.tsx";
import { Icon } from "../../parts/icon.tsx";
import { JsonTree } from "../../parts/json.tsx";
import { notify } from "../../parts/notice.tsx";
import { Parts } from "../../parts/part.tsx";
import { StateBadge, stateWord } from "../../parts/state.tsx";
import { now } from "../../parts/time.tsx";
import { sentence } from "../../parts/words.ts";
import { href } from "../../route.ts";
import { AskedAgents } from "./asked.tsx";

interface StoryProps {
  endpoint: Endpoint;
  feed: Feed;
  /** True for the newest task of the conversation. */
  isLast: boolean;
  answer: (parts: Part[]) => void;
  /** True if the agent accepts files. */
  takesFiles: boolean;
  /** True if the page has a place for a message to the task, as the chat. */
  hasComposer?: boolean;
}

export function StoryView({ endpoint, feed, isLast, answer, takesFiles, hasComposer = true }: StoryProps) {
  const { entries, task } = feed.story.value;
  const state = task?.status.state;
  const isAsking = state !== undefined && isWaiting(state);
  const isBusy = state === undefined ? feed.link.value.state !== "idle" : /_(SUBMITTED|WORKING)$/.test(state);
  const receives = entries.some((entry) => entry.kind === "artifact" && entry.isLive);
  return (
    <article class="turn" aria-label={task === undefined ? "A message" : `Task ${task.id.slice(0, 8)}`}>
      {grouped(entries, isBusy).map((group) =>
        group.kind === "states" ? <States key={group.key} words={group.words} /> : <EntryView key={group.entry.key} entry={group.entry} hidesForm={isAsking} />,
      )}
      {isBusy && !receives && (
        <p class="working">
          <span class="dots" aria-hidden="true">
            <i />
            <i />
            <i />
          </span>
          {state === undefined ? "Sending" : stateWord(state)}
        </p>
      )}
      {task !== undefined && !isElsewhere(endpoint.key) && <AskedAgents task={{ agent: endpoint.key, id: task.id }} settled={isBusy ? undefined : `${state} ${task.status.timestamp}`} />}
      {isAsking && isLast && <Question state={state} message={task?.status.message} answer={answer} isSending={feed.link.value.state === "connecting"} takesFiles={takesFiles} hasComposer={hasComposer} />}
      <LinkState feed={feed} />
      {task !== undefined && (
        <footer class="turn-foot">
          <StateBadge state={task.status.state} />
          <a class="quiet" href={href(["tasks", ...endpoint.path, task.id])} title={task.id}>{`Task ${task.id.slice(0, 8)}`}</a>
          <CopyButton of={() => task.id} label="Copy the id of the task" isBare />
          {feed.isOpen && <CancelButton feed={feed} />}
        </footer>
      )}
    </article>
  );
}

/** A message that was answered by a message, without a task. */
export function SaidView({ sent, answer }: { sent: Message; answer: Message }) {
  return (
    <article class="turn" aria-label="A message and its answer">
      <MessageView message={sent} tone="" />
      <MessageView message={answer} tone="" />
    </article>
  );
}

type Group = { kind: "states"; key: string; words: string[] } | { kind: "entry"; entry: Entry };

/** Groups consecutive states into one line. The state of an idle task is shown at its foot instead. */
function grouped(entries: readonly Entry[], isBusy: boolean): Group[] {
  const groups: Group[] = [];
  for (const entry of !isBusy && entries.at(-1)?.kind === "state" ? entries.slice(0, -1) : entries) {
    const last = groups.at(-1);
    if (entry.kind !== "state") groups.push({ kind: "entry", entry });
    else if (last?.kind === "states") last.words.push(stateWord(entry.state));
    else groups.push({ kind: "states", key: entry.key, words: [stateWord(entry.state)] });
  }
  return groups;
}

function States({ words }: { words: string[] }) {
  return (
    <p class="states">
      {words.map((word, at) => (
        <span key={at}>{word}</span>
      ))}
    </p>
  );
}

function EntryView({ entry, hidesForm }: { entry: Entry; hidesForm: boolean }) {
  if (entry.kind === "artifact") return <ArtifactView artifact={entry.artifact} isLive={entry.isLive} />;
  if (entry.kind === "state") return null;
  const tone = /_WORKING$/.test(entry.state ?? "") ? "note" : /_(FAILED|REJECTED)$/.test(entry.state ?? "") ? "bad" : isWaiting(entry.state ?? "TASK_STATE_WORKING") ? "asks" : "";
  return <MessageView message={entry.message} tone={tone} hidesForm={hidesForm} />;
}

function MessageView({ message, tone, hidesForm = false }: { message: Message; tone: string; hidesForm?: boolean }) {
  const isOwn = message.role === "ROLE_USER";
  const schema = hidesForm ? schemaIn(message) : undefined;
  const parts = message.parts.filter((part) => schema === undefined || part.data !== schema);
  return (
    <div class={`message ${isOwn ? "own" : "other"} ${tone}`}>
      <span class="sr">{isOwn ? "You:" : "Agent:"}</span>
      {isOwn ? parts.map((part, at) => <OwnPart key={at} part={part} />) : <Parts parts={parts} />}
      {!isOwn && message.metadata !== undefined && Object.keys(message.metadata).length > 0 && (
        <details>
          <summary class="quiet">Metadata</summary>
          <JsonTree value={message.metadata} label="metadata of the message" />
        </details>
      )}
    </div>
  );
}

/** A text of the person is shown unchanged. */
function OwnPart({ part }: { part: Part }) {
  if (part.mediaType === CREDENTIALS_MEDIA_TYPE) return <p class="quiet">Credentials, which are not shown</p>;
  const isShort = part.text !== undefined && part.text.length < 16_384;
  return isShort ? <p class="plain-text">{part.text}</p> : <Parts parts={[part]} />;
}

/** A problem of the connection, if there is one. */
function LinkState({ feed }: { feed: Feed }) {
  const link = feed.link.value;
  if (link.state === "waiting") {
    const seconds = Math.max(0, Math.ceil((link.until - now.value) / 1000));
    return (
      <p class="link-state" role="status">
        <Icon name="refresh" />
        <span>
          {link.isSend ? "The message is sent again" : "Reconnecting"}
          <span aria-hidden="true">{seconds > 0 ? ` in ${seconds} s` : ""}</span>. {sentence(link.problem.message)}
        </span>
        <button type="button" class="small" onClick={() => feed.retry()}>
          Now
        </button>
      </p>
    );
  }
  if (link.state === "lost") {
    return (
      <p class="link-state bad" role="alert">
        <Icon name="warning" />
        <span>The task can no longer be followed: {link.problem.message}</span>
        <button type="button" class="small" onClick={() => feed.retry()}>
          Try again
        </button>
      </p>
    );
  }
  return link.state === "polling" ? <p class="link-state quiet">The agent does not stream: the task is asked for every few seconds.</p> : null;
}

function CancelButton({ feed }: { feed: Feed }) {
  const [isAsked, setAsked] = useState(false);
  const state = feed.story.value.task?.status.state;
  useEffect(() => setAsked(false), [state]);
  const cancel = async () => {
    setAsked(true);
    try {
      await feed.cancel();
    } catch (error) {
      setAsked(false);
      notify(`The task was not canceled: ${error instanceof Error ? error.message : String(error)}`, { isBad: true });
    }
  };
  return (
    <button type="button" class="small danger" disabled={isAsked} onClick={() => void cancel()}>
      <Icon name="stop" />
      <span>Cancel</span>
    </button>
  );
}
