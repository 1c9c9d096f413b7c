// The agents of this Worker with a search, and a field to open agents elsewhere.
import { useState } from "preact/hooks";
import { catalogue, type CataloguedAgent } from "../../api/agents.ts";
import { Icon } from "../../parts/icon.tsx";
import { NoCatalogue } from "../../parts/loading.tsx";
import { fits, Search } from "../../parts/search.tsx";
import { sentence } from "../../parts/words.ts";
import { go, href, place } from "../../route.ts";
import { kindsOf } from "../../session/schemes.ts";
import { HealthBadge, healthOf, useHealth } from "../../parts/health.tsx";

export function AgentList() {
  const agents = catalogue.value?.agents;
  useHealth(agents ?? []);
  const sought = place.value.query.get("q") ?? "";
  // The default agent is first: new users usually call it first.
  const shown = agents?.filter((agent) => fits(textsOf(agent), sought)).sort((one, other) => Number(other.isDefault) - Number(one.isDefault)) ?? [];
  const search = (text: string) => go(href(["agents"], { q: text }), { replace: true });
  return (
    <section class="page">
      <header class="page-head">
        <h1>Agents</h1>
        <a class="button small" href={href(["start"])}>
          <Icon name="send" /> A first minute
        </a>
        <OpenElsewhere />
      </header>
      {agents === undefined && <NoCatalogue />}
      {agents !== undefined && (
        <Search
          name="Search"
          sought={sought}
          placeholder="Name, skill or text"
          told={sought === "" ? numbered(agents.length, "agent") : `${shown.length} of ${numbered(agents.length, "agent")}`}
          search={search}
        />
      )}
      {agents !== undefined && shown.length === 0 && (
        <div class="empty">
          <p>{agents.length === 0 ? "This Worker has no agents yet: add a file to the folder agents/." : `No agent has “${sought}” in its name, its description or its skills.`}</p>
          {agents.length > 0 && (
            <button type="button" onClick={() => search("")}>
              Show all agents
            </button>
          )}
        </div>
      )}
      {shown.length > 0 && (
        <ul class="agent-list">
          {shown.map((agent) => (
            <AgentItem key={agent.slug} agent={agent} />
          ))}
        </ul>
      )}
    </section>
  );
}

function AgentItem({ agent }: { agent: CataloguedAgent }) {
  const { slug, name, description, version, isDefault, dialects, isOpen, skills, capabilities } = agent;
  const health = healthOf(agent);
  const kinds = kindsOf({ securitySchemes: agent.access?.securitySchemes ?? {} });
  const abilities = [capabilities?.streaming === true && "Streams", capabilities?.pushNotifications === true && "Webhooks", capabilities?.extendedAgentCard === true && "Extended card"];
  return (
    <li class="card agent-item">
      <div class="row">
        <h2>
          <a class="agent-link" data-row href={href(["agents", slug])}>
            {name === "" ? slug : name}
          </a>
        </h2>
        <HealthBadge health={health} />
      </div>
      <p class="agent-path">
        <code>/{slug}</code>
        <span>{` version ${version}${isDefault ? ", the default agent" : ""}`}</span>
      </p>
      <p class="agent-text">{description}</p>
      {health.reason !== undefined && <p class="agent-reason">{sentence(health.reason)}</p>}
      <ul class="facts" aria-label="Facts">
        {skills !== undefined && <li>{numbered(skills.length, "skill")}</li>}
        <li>{isOpen ? "Open to everybody" : kinds.join(", ") || "Needs credentials"}</li>
        {abilities.map((ability) => ability !== false && <li key={ability}>{ability}</li>)}
        {dialects.length > 0 && <li>A2A {dialects.join(", ")}</li>}
      </ul>
      <p class="agent-actions">
        <a class="button small" href={href(["chat", slug])} aria-label={`Chat with ${name}`}>
          <Icon name="chat" /> Chat
        </a>
        <a class="button small" href={href(["tasks"], { agent: slug })} aria-label={`Tasks of ${name}`}>
          <Icon name="tasks" /> Tasks
        </a>
      </p>
    </li>
  );
}

/** A field for the URL of any agent. */
function OpenElsewhere() {
  const [wrong, setWrong] = useState("");
  const open = (event: SubmitEvent) => {
    event.preventDefault();
    const given = String(new FormData(event.currentTarget as HTMLFormElement).get("url") ?? "").trim();
    const url = webUrl(given);
    if (url === undefined) setWrong("That is no URL: write it in full, as https://agents.example.com.");
    else go(href(["remote", url]));
  };
  return (
    <form class="elsewhere" onSubmit={open} noValidate>
      <label>
        Open an agent elsewhere
        <input name="url" type="url" inputMode="url" placeholder="https://agents.example.com" required aria-invalid={wrong !== ""} aria-describedby="elsewhere-wrong" onInput={() => setWrong("")} />
      </label>
      <button type="submit">
        <Icon name="remote" /> Open
      </button>
      <p id="elsewhere-wrong" class="wrong" role="alert">
        {wrong}
      </p>
    </form>
  );
}

/** The URL in a typed text, which may lack https. */
function webUrl(given: string): string | undefined {
  const isBare = /^[\w-]+(\.[\w-]+)+(:\d+)?(\/\S*)?$|^localhost(:\d+)?(\/\S*)?$/.test(given);
  const whole = isBare ? `${given.startsWith("localhost") || given.startsWith("127.") ? "http" : "https"}://${given}` : given;
  try {
    const url = new URL(whole);
    return /^https?:$/.test(url.protocol) && url.hostname !== "" ? whole : undefined;
  } catch {
    return undefined;
  }
}

function textsOf({ slug, name, description, skills = [] }: CataloguedAgent): string[] {
  return [slug, name, description, ...skills.flatMap((skill) => [skill.id, skill.name])];
}

/** For example `1 skill` or `3 skills`. */
export function numbered(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
