// An agent of this Worker: its card in the form for clients of each version.
import { agentOf, catalogue } from "../../api/agents.ts";
import { localEndpoint } from "../../api/endpoint.ts";
import { send } from "../../api/http.ts";
import { readCard } from "../../api/card.ts";
import { jsonIn } from "../../api/json-in.ts";
import { Problem, UnfitCard } from "../../api/problem.ts";
import type { Found } from "../../lint/index.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { useLoaded } from "../../parts/loaded.ts";
import { ProblemBox } from "../../parts/problem.tsx";
import { href, place } from "../../route.ts";
import { AgentView, type CardDocument } from "./agent-view.tsx";
import { genuine } from "./genuine.ts";
import { UnfitCardView } from "./unfit-card.tsx";
import { sentence } from "../../parts/words.ts";
import { HealthBadge, healthOf, useHealth } from "../../parts/health.tsx";

const CARD = ".well-known/agent-card.json";

export function LocalAgent({ slug }: { slug: string }) {
  const { value: found, problem, again } = useLoaded(async (signal) => foundIn(slug, await textOf(slug, "1.0", signal)), slug);
  // The signatures are checked after the card is loaded: the page does not wait for the result.
  const { value: isGenuine } = useLoaded(async () => (found === undefined ? undefined : genuine(found)), found?.text ?? "");
  const endpoint = localEndpoint(slug);

  const agent = agentOf(slug);
  const health = agent === undefined ? undefined : healthOf(agent);
  useHealth(agent === undefined ? [] : [agent]);
  const isUnknown = catalogue.value !== undefined && agent === undefined;
  const [, , tab = ""] = place.value.path;
  return (
    <section class="page">
      <a class="back" href={href(["agents"])}>
        <Icon name="agents" /> All agents
      </a>
      {problem !== undefined && (
        <>
          <h1>{agent?.name ?? slug}</h1>
          {isUnknown ? <p>This Worker has no agent at <code>/{slug}</code>.</p> : problem instanceof UnfitCard ? <UnfitCardView unfit={problem} again={again} /> : <ProblemBox problem={problem} retry={again} />}
        </>
      )}
      {problem === undefined && found === undefined && <Loading />}
      {found !== undefined && (
        <AgentView
          found={{ ...found, ...(isGenuine === undefined ? {} : { isGenuine }), isDevelopment: catalogue.value?.development ?? false }}
          endpoint={endpoint}
          tab={tab}
          address={(wanted) => href(wanted === "" ? ["agents", slug] : ["agents", slug, wanted])}
          chat={(skill, text) => href(["chat", slug], { skill, text })}
          documents={documentsOf(slug, found)}
          status={
            health !== undefined && (
              <>
                <HealthBadge health={health} />
                {health.reason !== undefined && <p class="agent-reason">{sentence(health.reason)}</p>}
              </>
            )
          }
          actions={
            <a class="button" href={href(["tasks"], { agent: slug })}>
              <Icon name="tasks" /> Tasks
            </a>
          }
        />
      )}
    </section>
  );
}

/** The card in each form that this Worker serves. */
function documentsOf(slug: string, found: Found): CardDocument[] {
  return [
    { tab: "json", label: "JSON 1.0", note: "As it is served to clients that send `A2A-Version: 1.0`.", load: () => Promise.resolve(found.text) },
    {
      tab: "json-0.3",
      label: "JSON 0.3",
      note: "As it is served to clients that send no version, or 0.3: with the members of both.",
      load: () => textOf(slug, "0.3"),
    },
  ];
}

/** The served text of the card for clients of a version. @throws {Problem} */
async function textOf(slug: string, version: string, signal?: AbortSignal): Promise<string> {
  const response = await send({ agent: slug, path: `/${slug}/${CARD}`, headers: { "a2a-version": version }, isQuiet: true, signal });
  return response.text();
}

function foundIn(slug: string, text: string): Found {
  const json = jsonIn(text);
  const foundAt = new URL(`/${slug}/${CARD}`, location.origin).href;
  if (json === undefined) throw new UnfitCard(new Problem("The card is not JSON."), { text, isCut: false, foundAt });
  return { card: readCard(json), text, foundAt, isLocal: true };
}
