// Asks for a key or a token, by the schemes of the agent's card.
import { useEffect, useState } from "preact/hooks";
import { catalogue } from "../api/agents.ts";
import { localEndpoint } from "../api/endpoint.ts";
import { Dialog } from "../parts/dialog.tsx";
import { asking, type Asking } from "./asking.ts";
import { EVERY_AGENT, keep, slotsOf, type Slot } from "./credentials.ts";

type Choice = { scheme: string; slot: Slot; description: string | undefined };

/** Offered where a card names nothing that can be typed. */
const USUAL: Choice[] = [
  { scheme: "Bearer token", slot: { in: "authorization", scheme: "Bearer" }, description: undefined },
  { scheme: "API key", slot: { in: "header", name: "x-api-key" }, description: undefined },
];

export function SignInDialog() {
  const open = asking.value;
  return open === undefined ? null : <SignIn asking={open} />;
}

function SignIn({ asking: { agent, problem, end } }: { asking: Asking }) {
  const [choices, setChoices] = useState<Choice[]>(USUAL);
  const [place, setPlace] = useState(0);
  const [isForAll, setForAll] = useState(true);
  const slug = agent === "" ? catalogue.value?.agents.find(({ isOpen }) => !isOpen)?.slug : agent;

  useEffect(() => {
    if (slug === undefined) return;
    const read = localEndpoint(slug).card().then(slotsOf, () => []);
    void read.then((found) => {
      if (found.length > 0) setChoices(found);
    });
  }, [slug]);

  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const secret = new FormData(event.target as HTMLFormElement).get("secret");
    const choice = choices[place] ?? choices[0];
    if (typeof secret !== "string" || secret === "" || choice === undefined) return;
    keep(isForAll || agent === "" ? EVERY_AGENT : agent, choice.slot, secret.trim());
    end(true);
  };

  return (
    <Dialog title="Sign in" close={() => end(false)}>
      <form class="stack" onSubmit={submit}>
        {problem !== undefined && <p role="alert">{problem.message}</p>}
        <label>
          Scheme
          <select value={place} onChange={(event) => setPlace(Number(event.currentTarget.value))}>
            {choices.map(({ scheme }, index) => (
              <option key={scheme} value={index}>
                {scheme}
              </option>
            ))}
          </select>
        </label>
        <label>
          Key or token
          <input name="secret" type="password" required autocomplete="off" />
        </label>
        {agent !== "" && (
          <label class="row">
            <input type="checkbox" checked={isForAll} onChange={(event) => setForAll(event.currentTarget.checked)} />
            For all agents here
          </label>
        )}
        <p class="quiet">Kept until this tab is closed, and sent to this server alone.</p>
        <div class="actions">
          <button type="button" onClick={() => end(false)}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Sign in
          </button>
        </div>
      </form>
    </Dialog>
  );
}
