// A first minute: an agent is greeted, and in development its server is killed in the middle of a task.
import { useEffect, useMemo, useState } from "preact/hooks";
import { catalogue, runnableAgents, type CataloguedAgent } from "../../api/agents.ts";
import { takesFiles } from "../../api/card.ts";
import { localEndpoint } from "../../api/endpoint.ts";
import { abilitiesOf } from "../../api/follow.ts";
import type { AgentCard, Part } from "../../api/types.ts";
import { Choice } from "../../parts/choice.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { healthOf, useHealth } from "../../parts/health.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, NoCatalogue } from "../../parts/loading.tsx";
import { useLoaded } from "../../parts/loaded.ts";
import { ProblemBox } from "../../parts/problem.tsx";
import { href } from "../../route.ts";
import { isSignedIn } from "../../session/credentials.ts";
import { Conversation } from "../chat/conversation.ts";
import { SaidView, StoryView } from "../chat/story.tsx";
import "../chat/chat.css";
import { Outlive } from "./outlive.tsx";
import "./start.css";

export function StartPage() {
  const all = runnableAgents();
  useHealth(all ?? []);
  // An agent that asks for credentials, or whose program does not run, is not the first one to be met.
  const agents = (all ?? []).filter((agent) => (agent.isOpen || isSignedIn(agent.slug)) && ["ok", "partial", "unasked"].includes(healthOf(agent).state)).sort((one, other) => Number(other.isDefault) - Number(one.isDefault));
  return (
    <section class="page start">
      <header>
        <h1>A first minute</h1>
        <p class="quiet">Talk to an agent of this server, look at its task, and write an agent of your own.</p>
      </header>
      {all === undefined ? <NoCatalogue /> : agents.length === 0 ? <NoAgent hasOthers={all.length > 0} /> : <Steps agents={agents} />}
      <WriteAgent />
    </section>
  );
}

function NoAgent({ hasOthers }: { hasOthers: boolean }) {
  return (
    <div class="empty">
      <p>{hasOthers ? "Every agent here asks for credentials, or does not run." : "This server has no agent that can run."}</p>
      {hasOthers && (
        <p>
          <a href={href(["agents"])}>See the agents</a>, and sign in to one of them.
        </p>
      )}
    </div>
  );
}

function Steps({ agents }: { agents: readonly CataloguedAgent[] }) {
  const [chosen, setChosen] = useState("");
  const agent = agents.find(({ slug }) => slug === chosen) ?? agents[0]!;
  const { value: card, problem, again } = useLoaded((signal) => localEndpoint(agent.slug).card({ signal }), agent.slug);
  return (
    <>
      <section class="card stack" aria-label="Say hello">
        <div class="page-head">
          <h2>Say hello</h2>
          {agents.length > 1 && <Choice name="Agent" class="row" value={agent.slug} of={agents.map(({ slug, name }) => [slug, `${name.slice(0, 40)} (${slug})`] as const)} choose={setChosen} />}
        </div>
        {problem !== undefined ? <ProblemBox problem={problem} retry={again} /> : card === undefined ? <Loading /> : <Hello key={agent.slug} agent={agent} card={card} />}
      </section>
      {catalogue.value?.development === true && <Outlive agents={agents} />}
    </>
  );
}

function Hello({ agent, card }: { agent: CataloguedAgent; card: AgentCard }) {
  const endpoint = useMemo(() => localEndpoint(agent.slug), []);
  const [talk, setTalk] = useState(() => new Conversation(endpoint, abilitiesOf(card, true)));
  const [problem, setProblem] = useState<unknown>();
  useEffect(() => () => talk.close(), [talk]);
  const mode = card.capabilities?.streaming === true ? "stream" : "wait";
  const send = async (to: Conversation, parts: Part[]) => {
    setProblem(undefined);
    try {
      await to.send({ parts, mode, acceptedOutputModes: [], skill: undefined, isNewTask: false });
    } catch (error) {
      setProblem(error);
    }
  };
  const greet = () => {
    const next = new Conversation(endpoint, abilitiesOf(card, true));
    setTalk(next);
    void send(next, [{ text: "hello" }]);
  };
  const items = talk.items.value;
  const taskId = talk.taskId.value;
  return (
    <>
      <p>{card.description}</p>
      <div class="row">
        <button type="button" class="primary" aria-disabled={talk.isSending.value} onClick={() => talk.isSending.value || greet()}>
          <Icon name="send" />
          <span>{items.length === 0 ? "Say hello" : "Say hello again"}</span>
        </button>
        <span class="quiet">
          sends <code>hello</code> to <code>/{agent.slug}</code>
        </span>
      </div>
      {problem !== undefined && <ProblemBox problem={problem} />}
      {items.map((item, at) =>
        item.kind === "said" ? (
          <SaidView key={item.key} sent={item.sent} answer={item.answer} />
        ) : (
          <StoryView key={item.key} endpoint={endpoint} feed={item.feed} isLast={at === items.length - 1} answer={(parts) => void send(talk, parts)} takesFiles={takesFiles(card)} hasComposer={false} />
        ),
      )}
      {items.length > 0 && (
        <p class="row">
          {taskId !== undefined && (
            <a class="button small" href={href(["tasks", agent.slug, taskId])}>
              <Icon name="tasks" /> What happened in the task
            </a>
          )}
          <a class="button small" href={href(taskId === undefined ? ["chat", agent.slug] : ["chat", agent.slug, taskId])}>
            <Icon name="chat" /> Go on in the chat
          </a>
          <a class="button small" href={href(["agents", agent.slug])}>
            <Icon name="agents" /> About the agent
          </a>
        </p>
      )}
    </>
  );
}

/** An agent that needs no code: it answers by a rule. */
const AGENT = `name = "Mine"
description = "Says what it was told."
version = "1.0.0"

[access]
open = true

[[skills]]
id = "repeat"
name = "Repeat"
description = "Say anything."
tags = ["example"]
examples = ["hello"]

[executor]
kind = "script"

[[executor.script.rules]]
then = [{ do = "artifact", id = "answer", text = "You said: {text}" }, { do = "complete" }]
`;

function WriteAgent() {
  return (
    <section class="card stack" aria-label="Write an agent">
      <div class="page-head">
        <h2>Write an agent</h2>
        <CopyButton of={() => AGENT} label="Copy the file" />
      </div>
      <p>
        Save this as <code>agents/mine.toml</code>. While <code>npm run dev</code> runs the agent is there at once, at <code>/mine</code> and in the list of <a href={href(["agents"])}>agents</a>.
      </p>
      <pre tabIndex={0} aria-label="agents/mine.toml">
        {AGENT}
      </pre>
      <p class="quiet">
        Other kinds of agents call tools, ask a model, run TypeScript or Rust, or call a program in any language: <code>docs/first-agent.md</code> and <code>docs/executors.md</code> of the project tell how.
      </p>
    </section>
  );
}
