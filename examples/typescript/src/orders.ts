import { executor, Failure } from "a2a-edge";

export const orders = executor({
  async execute(turn) {
    const paid = turn.callback("paid");
    await turn.step("order", async ({ idempotencyKey }) => {
      const body = JSON.stringify({ article: turn.text, notify: paid.url });
      const headers = { "idempotency-key": idempotencyKey };
      const answer = await turn.fetch("https://shop.example.com/orders", { method: "POST", headers, body });
      if (!answer.ok) throw new Failure(`the shop answered ${answer.status}`, { fault: "upstream" });
    });
    turn.working("ordered; waiting for the payment");
    const answer = await paid.wait("7 days");
    if (answer.by === "time") throw new Failure("nobody has paid within a week");
    return answer.body;
  },
});
