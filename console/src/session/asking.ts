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

/** Asks the person to sign in with an agent; whether it did. Requests that are refused at the same time ask once. */
export function askToSignIn(agent: string, problem?: Problem): Promise<boolean> {
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
