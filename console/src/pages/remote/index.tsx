// An agent elsewhere, opened by its URL: its card, its findings, code for calling it, and the headers for its origin.
import { useMemo } from "preact/hooks";
import { Problem, UnfitCard } from "../../api/problem.ts";
import { findElsewhere, headersFor, remoteEndpoint, type FoundElsewhere } from "../../api/remote.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { useLoaded } from "../../parts/loaded.ts";
import { ProblemBox } from "../../parts/problem.tsx";
import { href, place } from "../../route.ts";
import { AgentView } from "../agents/agent-view.tsx";
import { UnfitCardView } from "../agents/unfit-card.tsx";
import { HeadersForm } from "./headers.tsx";
import "./remote.css";

export function RemotePage() {
  const [, url, tab = ""] = place.value.path;
  return (
    <section class="page">
      <a class="back" href={href(["agents"])}>
        <Icon name="agents" /> All agents
      </a>
      {url === undefined ? <h1>Open an agent elsewhere by its URL, below all agents</h1> : <Elsewhere key={url} url={url} tab={tab} />}
    </section>
  );
}

function Elsewhere({ url, tab }: { url: string; tab: string }) {
  const { value: card, problem, attempt, again } = useLoaded((signal) => findElsewhere(url, { signal }), url);
  const endpoint = useMemo(() => remoteEndpoint(url), [url]);

  const isRefused = problem instanceof Problem && (problem.status === 401 || problem.status === 403);
  return (
    <>
      {card === undefined && <h1 class="remote-url">{url}</h1>}
      {problem instanceof UnfitCard ? <UnfitCardView unfit={problem} again={again} /> : problem !== undefined && <ProblemBox problem={problem} retry={again} />}
      {problem === undefined && card === undefined && <Loading />}
      {card !== undefined && (
        <>
          <AgentView
            found={{ ...card, isLocal: false }}
            endpoint={endpoint}
            tab={tab}
            address={(wanted) => href(wanted === "" ? ["remote", url] : ["remote", url, wanted])}
            chat={(skill, text) => href(["chat", url], { skill, text })}
            documents={[
              { tab: "json", label: "JSON 1.0", note: "In the words of A2A 1.0.", load: () => Promise.resolve(JSON.stringify(card.card)) },
              { tab: "served", label: "As served", note: `From ${card.foundAt}`, load: () => Promise.resolve(card.text) },
            ]}
          />
          <Called {...card} />
        </>
      )}
      <HeadersForm key={attempt} url={url} isOpen={isRefused || headersFor(url).headers.length > 0 || (card?.card.securityRequirements ?? []).length > 0} done={again} />
    </>
  );
}

/** Shows the interface through which the agent is called. */
function Called({ interface: called, problem, card }: FoundElsewhere) {
  if (called === null) return <p role="alert">The agent cannot be called from here: {problem}.</p>;
  const isNamed = card.supportedInterfaces.some(({ url }) => url.startsWith(new URL(called.url).origin));
  return (
    <p class="remote-url quiet">
      Called at <code>{called.url}</code> by A2A {called.protocolVersion} over {called.protocolBinding}, {called.streams ? "with" : "without"} streams.
      {!isNamed && " Its card names another host, which is not called."}
    </p>
  );
}
