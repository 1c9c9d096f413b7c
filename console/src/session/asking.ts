// Opens the sign-in after a 401; the request is then repeated with the new credentials.
import { signal } from "@preact/signals";
import type { Problem } from "../api/problem.ts";

/** The data of the open dialog. */
export interface Asking {
  agent: string;
  problem: Problem | undefined;
  /** Closes the dialog; the argument is true if the person has signed in. */
  end(hasSignedIn: boolean): void;
}

/** The open dialog, if there is one (session/sign-in.tsx). */
export const asking = signal<Asking | undefined>(undefined);

let pending: Promise<boolean> | undefined;

const LEFT = "a2a-edge.signed-out";
/** True if the person has just signed out: until the next action, the page shows what it cannot load instead of opening the sign-in. */
let hasLeft = sessionStorage.getItem(LEFT) !== null;
sessionStorage.removeItem(LEFT);
for (const act of ["pointerdown", "keydown"]) addEventListener(act, () => (hasLeft = false), { once: true, capture: true });

/** Reloads the page after the person has signed out: its contents were for the signed-in person. */
export function leave(): void {
  sessionStorage.setItem(LEFT, "true");
  location.reload();
}

/**
 * Opens the sign-in for an agent; resolves to true if the person has signed in. Requests that are refused at the same time share one dialog. `agent` is
 * a URL for an agent elsewhere.
 */
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
