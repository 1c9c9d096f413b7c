// The dialog for a key, a token or a password by the schemes of the agent's card, with instructions for schemes without
// typed secrets.
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { catalogue, type CataloguedAgent } from "../api/agents.ts";
import { readCard } from "../api/card.ts";
import { isElsewhere, localEndpoint } from "../api/endpoint.ts";
import { Problem } from "../api/problem.ts";
import { giveHeader, remoteEndpoint } from "../api/remote.ts";
import type { AgentCard } from "../api/types.ts";
import { Choice } from "../parts/choice.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { useLoaded } from "../parts/loaded.ts";
import { Loading } from "../parts/loading.tsx";
import { OutLink } from "../parts/link.tsx";
import { notify } from "../parts/notice.tsx";
import { sentence } from "../parts/words.ts";
import { asking, type Asking } from "./asking.ts";
import { EVERY_AGENT, isSameSlot, keep, valueOf } from "./credentials.ts";
import { basicOf, schemesOf, waysOf, type Scheme, type Way } from "./schemes.ts";
import { refusalOf, type Given } from "./try-out.ts";
import "./session.css";

/** Offered if the card lists no schemes. */
const USUAL: Pick<AgentCard, "securitySchemes"> = {
  securitySchemes: {
    "bearer token": { httpAuthSecurityScheme: { scheme: "Bearer" } },
    "api key": { apiKeySecurityScheme: { location: "header", name: "X-API-Key" } },
  },
};

export function SignInDialog() {
  const open = asking.value;
  return open === undefined ? null : <SignIn key={open.agent} asking={open} />;
}

function SignIn({ asking: { agent, problem, end } }: { asking: Asking }) {
  const closed = catalogue.value?.agents.filter(({ isOpen }) => !isOpen) ?? [];
  const [picked, setPicked] = useState<string>();
  const chosen = picked ?? (agent === "" ? (closed[0]?.slug ?? "") : agent);
  const { value: ways } = useLoaded(() => waysInto(chosen), chosen);

  const name = catalogue.value?.agents.find(({ slug }) => slug === chosen)?.name ?? chosen;
  return (
    <Dialog title={agent === "" || name === "" ? "Sign in" : `Sign in to ${name}`} close={() => end(false)}>
      <div class="stack sign-in">
        {problem !== undefined && (
          <p class="asked" role="alert">
            {sentence(problem.message)}
          </p>
        )}
        {agent === "" && closed.length > 1 && <Choice name="Agent" value={chosen} of={closed.map(({ slug, name }) => [slug, name])} choose={setPicked} />}
        {ways === undefined ? <Loading /> : <WayIn key={chosen} slug={chosen} name={name} ways={ways} others={closed} end={end} />}
      </div>
    </Dialog>
  );
}

interface WayInProps {
  slug: string;
  name: string;
  ways: Way[];
  others: CataloguedAgent[];
  end: Asking["end"];
}

/** The reason why a sign-in was refused, and the scheme of the refused secret if only one was typed. */
type Refusal = { problem: Problem; field: string };

function WayIn({ slug, name, ways, others, end }: WayInProps) {
  const [index, setIndex] = useState(0);
  const [isForAll, setForAll] = useState<boolean>();
  const [refusal, setRefusal] = useState<Refusal>();
  const [isTrying, setTrying] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const way = ways[index] ?? ways[0];
  const isAway = isElsewhere(slug);
  const typed = way?.schemes.filter(({ slot }) => slot !== undefined) ?? [];
  const isShared = others.some((other) => other.slug !== slug && schemesOf({ securitySchemes: other.access?.securitySchemes ?? {} }).some((scheme) => fits(scheme, typed)));
  const audience = (isForAll ?? isShared) || slug === "" ? EVERY_AGENT : slug;

  useLayoutEffect(() => form.current?.querySelector<HTMLInputElement>("input:not([type=radio])")?.focus(), [index]);
  useLayoutEffect(() => {
    // After a refusal, the field gets the focus as soon as the refusal is shown, with its text selected: typing replaces the
    // text.
    if (refusal !== undefined) form.current?.querySelector<HTMLInputElement>("[aria-invalid=true]")?.select();
  }, [refusal]);

  if (way === undefined) return null;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const given = givenIn(new FormData(event.currentTarget as HTMLFormElement), typed);
    setTrying(true);
    setRefusal(undefined);
    const problem = slug === "" || isAway ? undefined : await refusalOf(slug, given);
    setTrying(false);
    if (problem !== undefined) return setRefusal({ problem, field: typed[0]?.name ?? "" });
    given.forEach(({ slot, secret }, at) => {
      if (!isAway) keep(audience, slot, secret, typed[at]?.kind ?? "");
      else if (slot.in !== "query") giveHeader(slug, slot.in === "header" ? slot.name : "Authorization", valueOf(slot, secret));
    });
    notify(given.length === 0 ? "The agent knows you." : "Signed in.");
    end(true);
  };

  return (
    <form class="stack" ref={form} onSubmit={(event) => void submit(event)} autocomplete="off">
      {ways.length > 1 && <Choice name="Scheme" value={String(index)} of={ways.map(({ title }, at) => [String(at), title])} choose={(at) => (setIndex(Number(at)), setRefusal(undefined))} />}
      {way.schemes.map((scheme) => (
        <SchemeFields key={scheme.name} scheme={scheme} slug={slug} refusal={refusal?.field === scheme.name ? refusal.problem : undefined} />
      ))}
      {way.scopes.length > 0 && <p class="quiet">The token needs the scopes {way.scopes.join(", ")}.</p>}
      {refusal !== undefined && typed.length === 0 && (
        <p class="refused" role="alert">
          {sentence(refusal.problem.message)}
        </p>
      )}
      {typed.length > 0 && slug !== "" && !isAway && (
        <fieldset class="audience">
          <legend>Sent to</legend>
          <label class="row">
            <input type="radio" name="audience" checked={audience !== EVERY_AGENT} onChange={() => setForAll(false)} />
            {name} alone
          </label>
          <label class="row">
            <input type="radio" name="audience" checked={audience === EVERY_AGENT} onChange={() => setForAll(true)} />
            All agents of this server
          </label>
        </fieldset>
      )}
      {typed.length > 0 && <p class="quiet">{isAway ? "Sent to the host of the agent alone, as one of its headers." : "Kept in this tab until it is closed, and sent to this server alone."}</p>}
      <div class="actions">
        <button type="button" onClick={() => end(false)}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={isTrying}>
          {isTrying ? "Trying…" : typed.length > 0 ? "Sign in" : "Try again"}
        </button>
      </div>
    </form>
  );
}

function SchemeFields({ scheme, slug, refusal }: { scheme: Scheme; slug: string; refusal: Problem | undefined }) {
  const { name, kind, doing, where, description, links } = scheme;
  const wrong = useId();
  const about = { "aria-invalid": refusal !== undefined, "aria-describedby": wrong };
  return (
    <div class="stack scheme">
      {description !== undefined && <p>{description}</p>}
      {links.map(([word, url]) => (
        <p key={word + url} class="quiet">
          {word}: <OutLink url={url} />
        </p>
      ))}
      {doing === "secret" && (
        <label>
          <span>
            {kind === "OAuth 2.0" || kind === "OpenID Connect" ? `Access token (${kind})` : kind} <span class="quiet">in {where}</span>
          </span>
          <input name={`secret:${name}`} type="password" required autocomplete="off" spellcheck={false} {...about} />
        </label>
      )}
      {doing === "password" && (
        <>
          <label>
            Name
            <input name={`user:${name}`} required autocomplete="off" spellcheck={false} />
          </label>
          <label>
            Password
            <input name={`secret:${name}`} type="password" required autocomplete="off" {...about} />
          </label>
        </>
      )}
      {doing === "cookie" && (
        <p>
          The agent knows you by {where}, which the browser sends by itself. Sign in at the page of this host that sets it, then try again.
        </p>
      )}
      {doing === "access" && (
        <p>
          The agent is behind Cloudflare Access. <a href={`/${encodeURIComponent(slug)}`} target="_blank" rel="noreferrer noopener">Sign in with Cloudflare Access</a> in a new tab, then try again.
        </p>
      )}
      {doing === "certificate" && <p>The agent wants a client certificate, which the browser offers when the connection is made. Install it, open the console anew, and choose the certificate.</p>}
      {doing === "unknown" && <p>The console does not know this kind of scheme.</p>}
      <p id={wrong} class="refused" role="alert">
        {refusal !== undefined && sentence(refusal.message)}
      </p>
    </div>
  );
}

/** The typed secrets, in the order of their schemes. */
function givenIn(form: FormData, typed: Scheme[]): Given[] {
  const text = (name: string) => String(form.get(name) ?? "");
  return typed.flatMap(({ name, doing, slot }) => {
    if (slot === undefined) return [];
    const secret = text(`secret:${name}`);
    return [{ slot, secret: doing === "password" ? basicOf(text(`user:${name}`), secret) : bare(secret) }];
  });
}

/** Cleans a typed token: it is often copied with the name of its scheme, or with spaces. */
function bare(secret: string): string {
  return secret.trim().replace(/^bearer\s+/i, "");
}

/** The ways to sign in to an agent: from the catalogue, or else from its card; the usual ways if neither lists any. */
async function waysInto(slug: string): Promise<Way[]> {
  const access = catalogue.value?.agents.find((agent) => agent.slug === slug)?.access;
  const endpoint = isElsewhere(slug) ? remoteEndpoint(slug) : localEndpoint(slug);
  const card = access ?? (slug === "" ? undefined : await endpoint.card({ isQuiet: true }).catch(() => undefined));
  const ways = waysOf(readCard(card)).filter(({ schemes }) => !isElsewhere(slug) || schemes.every(({ slot }) => slot !== undefined && slot.in !== "query"));
  return ways.length > 0 ? ways : waysOf(USUAL);
}

function fits({ slot }: Scheme, typed: Scheme[]): boolean {
  return slot !== undefined && typed.some((one) => one.slot !== undefined && isSameSlot(one.slot, slot));
}
