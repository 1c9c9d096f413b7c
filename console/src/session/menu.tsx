// The kept credentials, and the switch for acting as an operator.
import { useState } from "preact/hooks";
import { agentOf, catalogue } from "../api/agents.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { place } from "../route.ts";
import { askToSignIn, leave } from "./asking.ts";
import { EVERY_AGENT, forget, isSignedIn, keptSchemes, type Slot } from "./credentials.ts";
import { isOperator } from "./operator.ts";
import "./session.css";

export function SessionMenu() {
  const [shown, setShown] = useState<"session" | "operator">();
  return (
    <div class="session">
      <div class={isOperator.value ? "operator on" : "operator"}>
        <label class="switch">
          <input type="checkbox" role="switch" checked={isOperator.value} onChange={(event) => (isOperator.value = event.currentTarget.checked)} />
          <span>Operator</span>
        </label>
        <button type="button" class="plain" aria-label="What an operator is" onClick={() => setShown("operator")}>
          <span class="what" aria-hidden="true">?</span>
        </button>
      </div>
      {isSignedIn() ? (
        <button type="button" class="small" onClick={() => setShown("session")}>
          <Icon name="key" />
          <span>Signed in</span>
        </button>
      ) : (
        <button type="button" class="small" onClick={() => void askToSignIn(agentShown())}>
          <Icon name="key" />
          <span>Sign in</span>
        </button>
      )}
      {shown === "session" && <Session close={() => setShown(undefined)} />}
      {shown === "operator" && <AboutOperators close={() => setShown(undefined)} />}
    </div>
  );
}

/** The agent of this Worker that the page concerns, if any. */
function agentShown(): string {
  const [page, slug = ""] = place.value.path;
  const named = page === "remote" ? "" : slug || (place.value.query.get("agent") ?? "");
  // Until the catalogue is loaded, the name in the address is used.
  if (catalogue.value === undefined) return named;
  return agentOf(named)?.isOpen === false ? named : "";
}

function Session({ close }: { close: () => void }) {
  const kept = keptSchemes();
  const signOut = (...of: Parameters<typeof forget>) => {
    forget(...of);
    if (!isSignedIn()) isOperator.value = false;
    leave();
  };
  return (
    <Dialog title="Signed in" close={close}>
      <div class="stack">
        <p class="quiet">What you signed in with is kept in this tab until it is closed. Agents do not tell the console your name.</p>
        <ul class="kept">
          {kept.map(({ audience, slot, scheme }) => (
            <li key={`${audience} ${placeOf(slot)}`}>
              <div>
                <strong>{scheme}</strong>
                <p class="quiet">
                  {placeOf(slot)}, {audience === EVERY_AGENT ? "for all agents of this server" : `for ${agentOf(audience)?.name ?? audience} alone`}
                </p>
              </div>
              <button type="button" class="small" aria-label={`Sign out: ${scheme}, ${placeOf(slot)}`} onClick={() => signOut(audience, slot)}>
                Sign out
              </button>
            </li>
          ))}
        </ul>
        <div class="actions">
          <button type="button" onClick={() => (close(), void askToSignIn(agentShown()))}>
            Sign in with more
          </button>
          <button type="button" onClick={() => signOut()}>
            Sign out of all
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function AboutOperators({ close }: { close: () => void }) {
  const agents = catalogue.value?.agents.filter(({ access }) => access?.hasOperators === true) ?? [];
  const isKnown = catalogue.value?.agents.some(({ access }) => access !== undefined) === true;
  return (
    <Dialog title="Acting as an operator" close={close}>
      <div class="stack">
        <p>
          Callers see their own tasks. With the switch on, the console sends <code>Act-As: operator</code>: you see the tasks of all callers, follow and cancel them, and look after their webhooks. Each act is a line in the audit log.
        </p>
        <p>
          You need credentials of a caller with the permission <code>operator</code>, which the table <code>[access]</code> of the agent's file gives. Without it the agent refuses. Operators send no messages: the chat speaks for yourself.
        </p>
        {isKnown && (
          <p class="quiet">{agents.length === 0 ? "No agent of this server knows such callers." : `Agents that know operators: ${agents.map(({ name }) => name).join(", ")}.`}</p>
        )}
        <div class="actions">
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="button" class="primary" onClick={() => ((isOperator.value = !isOperator.value), close())}>
            {isOperator.value ? "Act for myself" : "Act as an operator"}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function placeOf(slot: Slot): string {
  if (slot.in === "authorization") return `header Authorization, as ${slot.scheme}`;
  return slot.in === "header" ? `header ${slot.name}` : `query parameter ${slot.name}`;
}
