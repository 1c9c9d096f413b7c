import { Failure, executor } from "a2a-edge";

/** Where orders go: put your shop here. It gets a URL, to which it posts when somebody has paid. */
const SHOP = "https://shop.example.com/orders";

/**
 * The executor of agents/orders.toml. It may be interrupted anywhere, by a crash or a deploy, and begins again then. A step that is done is not done
 * again, so nothing is ordered twice.
 */
export const orders = executor({
  async execute(turn) {
    const paid = turn.callback("paid");
    await turn.step("order", async ({ idempotencyKey }) => {
      const body = JSON.stringify({ article: turn.text, notify: paid.url });
      const answer = await turn.fetch(SHOP, { method: "POST", headers: { "idempotency-key": idempotencyKey }, body });
      if (!answer.ok) throw new Failure(`the shop answered ${answer.status}`, { fault: "upstream" });
    });
    turn.working("ordered; waiting for the payment");
    const answer = await paid.wait("7 days");
    if (answer.by === "time") throw new Failure("nobody has paid within a week");
    return answer.body;
  },
});
