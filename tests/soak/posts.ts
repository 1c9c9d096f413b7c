// Bodies that a server posts to callbacks. A post is repeated under its key until it is taken: it is answered 202, or 503 with `Retry-After`, or
// not at all when the Worker is killed.

import { randomUUID } from "node:crypto";
import { sleep, type Random } from "./random.ts";

/** One body, and what became of its posts. */
export class Posting {
  readonly body: string;
  /** Whether an answer to a post was lost, so that the body may be taken already. */
  mayBeTaken = false;
  isTaken = false;
  /** Whether it was once said that there is no such callback. */
  wasUnknown = false;
  /** Which answers were neither of those. */
  readonly wrong: string[] = [];

  constructor(body: string) {
    this.body = body;
  }

  /** Posts the body after a while, until it is taken or its task is over. */
  async deliver(url: string, random: Random, isOver: () => boolean): Promise<void> {
    await sleep(random.whole(0, 1_500));
    const headers = { "content-type": "text/plain", "idempotency-key": randomUUID() };
    while (!this.isTaken && !isOver()) {
      const answer = await fetch(url, { method: "POST", headers, body: this.body }).then(async ({ status, headers, body }) => {
        await body?.cancel();
        return { status, retryAfter: headers.get("retry-after") };
      }).catch(() => undefined);
      if (answer === undefined || answer.status === 500) this.mayBeTaken = true;
      else if (answer.status === 202) this.isTaken = true;
      else if (answer.status === 404) this.wasUnknown = true;
      else if (answer.status !== 503 || answer.retryAfter === null) this.wrong.push(`lost: a post was answered ${answer.status}, Retry-After ${answer.retryAfter}`);
      if (!this.isTaken) await sleep(random.whole(5, 60));
    }
  }

  /** What is wrong with a post that was taken, or was answered 404, given whether the task was given the body. */
  wrongFor(isGiven: boolean): string[] {
    const wrong: string[] = [];
    if (this.isTaken && !isGiven) wrong.push(`lost: ${this.body} was taken and is not given`);
    // One whose answer was lost may be posted again when the callback is used up and over.
    if (this.wasUnknown && !(this.mayBeTaken && isGiven && !this.isTaken)) wrong.push(`lost: a post of ${this.body} was answered 404`);
    return wrong;
  }
}
