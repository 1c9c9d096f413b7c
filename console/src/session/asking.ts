// A 401 asks the person to sign in; the request goes on with what it gives.
import { signal } from "@preact/signals";
import type { Problem } from "../api/problem.ts";

/** What the dialog is open for. */
export interface Asking {
  agent: string;
  problem: Problem | undefined;
  /** Ends the asking: whether the person has signed in. */
  end(hasSignedIn: boolean): void;
}

/** The dialog that is open, if one is (session/sign-in.tsx). */
export const asking = signal<Asking | undefined>(undefined);

let pending: Promise<boolean> | undefined;

const LEFT = "a2a-edge.signed-out";
/** Whether the person has just signed out: until they do something, the page says what it cannot show instead of asking. */
let hasLeft = sessionStorage.getItem(LEFT) !== null;
sessionStorage.removeItem(LEFT);
for (const act of ["pointerdown", "keydown"]) addEventListener(act, () => (hasLeft = false), { once: true, capture: true });

/** Shows the page anew to a person who has signed out: what it shows was meant for whoever was signed in. */
export function leave(): void {
  sessionStorage.setItem(LEFT, "true");
  location.reload();
}

/** Asks the person to sign in with an agent; whether it did. Requests that are refused at the same time ask once. `agent` is a URL for one elsewhere. */
export function askToSignIn(agent: string, problem?: Problem): Promise<boolean> {
  if (hasLeft) return Promise.resolve(false);
  pending ??= new Promise<boolean>((resolve) => {
    asking.value = {
      agent,
      problem,
      end(hasSignedIn) {
        asking.value = undefined;
        pending = undefined;
        resolve(hasSignedIn);
      },
    };
  });
  return pending;
}
