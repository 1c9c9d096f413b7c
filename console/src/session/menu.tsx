// What the person has signed in with, and whether it acts as an operator.
import { Icon } from "../parts/icon.tsx";
import { place } from "../route.ts";
import { askToSignIn } from "./asking.ts";
import { forget, isSignedIn } from "./credentials.ts";
import { isOperator } from "./operator.ts";

export function SessionMenu() {
  const [, agent = ""] = place.value.path;
  return (
    <div class="session">
      <label class="switch">
        <input type="checkbox" role="switch" checked={isOperator.value} onChange={(event) => (isOperator.value = event.currentTarget.checked)} />
        <span>Operator</span>
      </label>
      <button type="button" class="small" onClick={() => void askToSignIn(agent)}>
        <Icon name="key" />
        <span>Sign in</span>
      </button>
      {isSignedIn() && (
        <button type="button" class="small" onClick={() => forget()}>
          Sign out
        </button>
      )}
    </div>
  );
}
