// A card as a page. All its texts come from the agent: they are shown as text, and links are checked.
import type { ComponentChildren } from "preact";
import type { AgentCard, AgentSkill } from "../../api/types.ts";
import { headerOf } from "../../lint/rules/signatures.ts";
import { members } from "../../api/card.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Fact } from "../../parts/fact.tsx";
import { Icon } from "../../parts/icon.tsx";
import { JsonTree } from "../../parts/json.tsx";
import { OutLink } from "../../parts/link.tsx";
import { fits, Search } from "../../parts/search.tsx";
import { Badge } from "../../parts/state.tsx";
import { go, href, place } from "../../route.ts";
import { schemesOf, waysOf } from "../../session/schemes.ts";
import { numbered } from "./list.tsx";

interface CardPageProps {
  card: AgentCard;
  chat: (skill?: string, text?: string) => string;
  isGenuine?: boolean | undefined;
  foundAt?: string;
}

export function CardPage({ card, chat, isGenuine, foundAt }: CardPageProps) {
  return (
    <div class="card-page">
      <div class="stack">
        <p class="agent-description">{card.description}</p>
        <Skills skills={card.skills} chat={chat} />
      </div>
      <aside class="stack" aria-label="About the agent">
        <About card={card} foundAt={foundAt} isGenuine={isGenuine} />
        <Interfaces card={card} />
        <Capabilities card={card} />
        <Access card={card} />
      </aside>
    </div>
  );
}

/** With more skills, there is a search field. */
const MANY_SKILLS = 12;

function Skills({ skills, chat }: { skills: AgentSkill[]; chat: CardPageProps["chat"] }) {
  const { path, query } = place.value;
  const sought = skills.length > MANY_SKILLS ? (query.get("q") ?? "") : "";
  const shown = skills.filter(({ id, name, description, tags = [] }) => fits([id, name, description, ...tags], sought));
  const search = (text: string) => go(href(path, { q: text }), { replace: true });
  return (
    <section class="stack" aria-labelledby="skills">
      <h2 id="skills">Skills</h2>
      {skills.length === 0 && <p class="empty">The card lists no skills.</p>}
      {skills.length > MANY_SKILLS && (
        <Search
          name="Search the skills"
          sought={sought}
          placeholder="Name, tag or text"
          told={sought === "" ? numbered(skills.length, "skill") : `${shown.length} of ${numbered(skills.length, "skill")}`}
          search={search}
        />
      )}
      {skills.length > 0 && shown.length === 0 && <p class="empty">No skill has “{sought}” in its name, its description or its tags.</p>}
      {shown.map((skill, index) => (
        <article class="card skill" key={index}>
          <div class="row skill-head">
            <h3>{skill.name === "" ? skill.id : skill.name}</h3>
            <code>{skill.id}</code>
            <a class="button small" href={chat(skill.id)} aria-label={`Use the skill ${skill.name}`}>
              <Icon name="chat" /> Use
            </a>
          </div>
          <p>{skill.description}</p>
          <Tags tags={skill.tags ?? []} label="Tags" />
          {(skill.examples?.length ?? 0) > 0 && (
            <div class="examples">
              <p class="quiet">Try an example</p>
              <ul>
                {skill.examples?.map((example, index) => (
                  <li key={index}>
                    <a href={chat(skill.id, example)}>{example}</a>
                  </li>
                ))}
              </ul>
            </div>
          )}
          <Modes takes={skill.inputModes ?? []} gives={skill.outputModes ?? []} />
        </article>
      ))}
    </section>
  );
}

function About({ card, foundAt, isGenuine }: { card: AgentCard; foundAt: string | undefined; isGenuine: boolean | undefined }) {
  const { provider, documentationUrl, version } = card;
  return (
    <Box title="About">
      <dl class="members">
        <Fact name="Version">{version}</Fact>
        {provider !== undefined && (
          <Fact name="Provider">
            <OutLink url={provider.url}>{provider.organization}</OutLink>
          </Fact>
        )}
        {documentationUrl !== undefined && (
          <Fact name="Documentation">
            <OutLink url={documentationUrl} />
          </Fact>
        )}
        {foundAt !== undefined && (
          <Fact name="Card">
            <Copied text={foundAt} what="the URL of the card" />
          </Fact>
        )}
        <Fact name="Takes">{(card.defaultInputModes ?? []).join(", ")}</Fact>
        <Fact name="Gives">{(card.defaultOutputModes ?? []).join(", ")}</Fact>
        <Fact name="Signed">
          <Signed signatures={card.signatures ?? []} isGenuine={isGenuine} />
        </Fact>
      </dl>
    </Box>
  );
}

function Signed({ signatures, isGenuine }: { signatures: unknown[]; isGenuine: boolean | undefined }) {
  if (signatures.length === 0) return <span>No</span>;
  const keys = new Set(signatures.map((one) => {
    const { alg, kid } = headerOf(members(one)["protected"]) ?? {};
    return `key ${String(kid ?? "without name")} (${String(alg ?? "unknown algorithm")})`;
  }));
  return (
    <>
      {isGenuine === true && <Badge tone="good">Genuine</Badge>}
      {isGenuine === false && <Badge tone="bad">Does not fit its keys</Badge>}
      <span>By {[...keys].join(", ")}</span>
    </>
  );
}

function Interfaces({ card }: { card: AgentCard }) {
  return (
    <Box title="Interfaces">
      <ul class="interfaces">
        {card.supportedInterfaces.map(({ url, protocolBinding, protocolVersion, tenant }, index) => (
          <li key={index}>
            <span>
              {protocolBinding} <span class="quiet">{protocolVersion ?? "no version"}</span>
              {tenant !== undefined && <span class="quiet"> tenant {tenant}</span>}
            </span>
            <Copied text={url} what={`the URL for ${protocolBinding} ${protocolVersion ?? ""}`.trim()} />
          </li>
        ))}
      </ul>
    </Box>
  );
}

function Capabilities({ card: { capabilities = {} } }: { card: AgentCard }) {
  const { extensions = [], ...switches } = capabilities;
  const words = { streaming: "Streaming", pushNotifications: "Webhooks", extendedAgentCard: "Extended card" } as const;
  return (
    <Box title="Capabilities">
      <ul class="switches">
        {Object.entries(words).map(([name, word]) => {
          const isOn = switches[name as keyof typeof words] === true;
          return (
            <li key={name} class={isOn ? "on" : "off"}>
              <Icon name={isOn ? "check" : "close"} /> {word}
              {!isOn && <span class="quiet"> no</span>}
            </li>
          );
        })}
      </ul>
      {extensions.length > 0 && <p class="quiet">Extensions</p>}
      {extensions.map(({ uri, description, required, params }, index) => (
        <details key={index} class="extension">
          <summary>
            <code>{uri}</code> {required === true && <Badge tone="wait">Required</Badge>}
          </summary>
          {description !== undefined && <p>{description}</p>}
          {params !== undefined && Object.keys(params).length > 0 && <JsonTree value={params} label="Parameters" />}
        </details>
      ))}
    </Box>
  );
}

function Access({ card }: { card: AgentCard }) {
  const ways = waysOf(card);
  if (schemesOf(card).length === 0) {
    return (
      <Box title="Access">
        <p>Open: the card asks for no credentials.</p>
      </Box>
    );
  }
  return (
    <Box title="Access">
      <p class="quiet">{ways.length > 1 ? "One of these lets a caller in:" : "A caller needs:"}</p>
      <ul class="ways">
        {ways.map(({ schemes, scopes }, index) => (
          <li key={index}>
            {schemes.map(({ name, kind, where, description, links }) => (
              <div key={name}>
                <p>
                  <strong>{kind}</strong> <code>{name}</code>
                </p>
                <p class="quiet">In {where}.</p>
                {description !== undefined && <p>{description}</p>}
                {links.map(([word, url]) => (
                  <p key={word + url}>
                    {word}: <OutLink url={url} />
                  </p>
                ))}
              </div>
            ))}
            {scopes.length > 0 && <p class="quiet">Scopes: {scopes.join(", ")}</p>}
          </li>
        ))}
      </ul>
    </Box>
  );
}

function Modes({ takes, gives }: { takes: string[]; gives: string[] }) {
  if (takes.length + gives.length === 0) return null;
  return (
    <p class="quiet">{[takes.length > 0 ? `Takes ${takes.join(", ")}` : "", gives.length > 0 ? `gives ${gives.join(", ")}` : ""].filter(Boolean).join("; ")}</p>
  );
}

function Tags({ tags, label }: { tags: string[]; label: string }) {
  if (tags.length === 0) return null;
  return (
    <ul class="tags" aria-label={label}>
      {tags.map((tag, index) => (
        <li key={index}>{tag}</li>
      ))}
    </ul>
  );
}

function Copied({ text, what }: { text: string; what: string }) {
  return (
    <span class="copied">
      <code>{text}</code>
      <CopyButton of={() => text} label={`Copy ${what}`} isBare />
    </span>
  );
}

function Box({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card box" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}
