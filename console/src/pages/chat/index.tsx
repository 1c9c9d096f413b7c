// The chat with an agent, which the address names: by its slug if it is of this Worker, by its URL if it is elsewhere.
import { useMemo } from "preact/hooks";
import { catalogue } from "../../api/agents.ts";
import { isElsewhere, localEndpoint, type Endpoint } from "../../api/endpoint.ts";
import { remoteEndpoint } from "../../api/remote.ts";
import { NoCatalogue } from "../../parts/loading.tsx";
import { Badge } from "../../parts/state.tsx";
import { href, place } from "../../route.ts";
import { HealthBadge, healthOf, useHealth } from "../../parts/health.tsx";
import { ChatView } from "./view.tsx";
import "./chat.css";

export function ChatPage() {
  const [, slug, taskId] = place.value.path;
  const endpoint = useMemo(() => (slug === undefined ? undefined : endpointOf(slug)), [slug]);
  return <section class="page chat-page">{endpoint === undefined ? <Picker /> : <ChatView key={endpoint.key} endpoint={endpoint} taskId={taskId} />}</section>;
}

function endpointOf(name: string): Endpoint {
  return isElsewhere(name) ? remoteEndpoint(name) : localEndpoint(name);
}

function Picker() {
  const agents = catalogue.value?.agents;
  useHealth(agents ?? []);
  return (
    <>
      <header>
        <h1>Chat</h1>
        <p class="quiet">Whom would you like to talk to?</p>
      </header>
      {agents === undefined && <NoCatalogue />}
      {agents?.length === 0 && <p class="empty">This Worker has no agents yet.</p>}
      <ul class="pick">
        {(agents ?? []).map((agent) => ({ ...agent, health: healthOf(agent) })).map(({ slug, name, description, health, isDefault }) => (
          <li key={slug}>
            <a class="card" href={href(["chat", slug])}>
              <strong>{name}</strong>
              <span>{description}</span>
              <span class="row">
                <code>/{slug}</code>
                {isDefault && <Badge tone="idle">default</Badge>}
                {!["ok", "unasked"].includes(health.state) && <HealthBadge health={health} />}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
