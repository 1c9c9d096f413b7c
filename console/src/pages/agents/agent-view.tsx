// One agent, of this Worker or elsewhere: its card as a page and as JSON, its findings, and code for calling it.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Endpoint } from "../../api/endpoint.ts";
import { readCard } from "../../api/card.ts";
import { lint, type Found } from "../../lint/index.ts";
import type { Probe } from "../../lint/probe.ts";
import { Icon } from "../../parts/icon.tsx";
import { CallTab } from "./call.tsx";
import { CardPage } from "./card-page.tsx";
import { CheckTab } from "./check.tsx";
import { DocumentTab } from "./document.tsx";
import { ExtendedTab } from "./extended.tsx";
import "./agents.css";

/** The card in one form, as text. */
export interface CardDocument {
  /** The last part of the tab's address. */
  tab: string;
  label: string;
  note: string;
  load(): Promise<string>;
}

export interface AgentViewProps {
  found: Found;
  endpoint: Endpoint;
  /** The name of the shown tab; empty for the card as a page. */
  tab: string;
  /** The address of a tab. */
  address(tab: string): string;
  /** The address of a chat, optionally with a skill and a text. */
  chat(skill?: string, text?: string): string;
  documents: CardDocument[];
  /** Shown next to the name. */
  status?: ComponentChildren;
  /** Shown next to the link to the chat. */
  actions?: ComponentChildren;
}

export function AgentView({ found, endpoint, tab, address, chat, documents, status, actions }: AgentViewProps) {
  const [probe, setProbe] = useState<Probe>();
  const card = useMemo(() => readCard(found.card), [found.card]);
  const findings = useMemo(() => lint({ ...found, probe }), [found, probe]);
  const hasExtended = card.capabilities?.extendedAgentCard === true;
  const document = documents.find((one) => one.tab === tab);
  const serious = findings.filter(({ severity }) => severity !== "advice").length;
  useEffect(() => setProbe(undefined), [endpoint.key]);

  const tabs: [string, string][] = [
    ["", "Card"],
    ["check", serious === 0 ? "Check" : `Check (${serious})`],
    ["call", "How to call it"],
    ...documents.map(({ tab, label }): [string, string] => [tab, label]),
    ...(hasExtended ? [["extended", "Extended card"] as [string, string]] : []),
  ];
  return (
    <>
      <header class="page-head agent-head">
        <div class="agent-title">
          <h1>{card.name === "" ? endpoint.key : card.name}</h1>
          {status}
        </div>
        <div class="row">
          {actions}
          <a class="button primary" href={chat()}>
            <Icon name="chat" /> Chat
          </a>
        </div>
      </header>
      <nav class="tabs" aria-label="Views of the agent">
        <ul>
          {tabs.map(([path, label]) => (
            <li key={path}>
              <a href={address(path)} aria-current={path === tab ? "page" : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {tab === "" && <CardPage card={card} chat={chat} isGenuine={found.isGenuine} foundAt={found.foundAt} />}
      {tab === "check" && <CheckTab found={found} findings={findings} endpoint={endpoint} probe={probe} setProbe={setProbe} />}
      {tab === "call" && <CallTab card={card} foundAt={found.foundAt} />}
      {document !== undefined && <DocumentTab key={tab} document={document} />}
      {tab === "extended" && hasExtended && <ExtendedTab endpoint={endpoint} card={card} chat={chat} />}
      {!tabs.some(([path]) => path === tab) && (
        <p>
          There is no such view. <a href={address("")}>See the card</a>.
        </p>
      )}
    </>
  );
}
