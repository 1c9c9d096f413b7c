// An executor that orders in a shop and waits until somebody pays, and the shop: what several files test.
import { Failure, executor } from "a2a-edge";
import { testAgent } from "a2a-edge/testing";

export const orders = executor({
  async execute(turn) {
    const paid = turn.callback("paid");
    await turn.step("order", async () => {
      await turn.fetch("https://shop.example/orders", { method: "POST", body: JSON.stringify({ what: turn.text, notify: paid.url }) });
    });
    turn.working("ordered; waiting for the payment");
    const answer = await paid.wait("7 days");
    if (answer.by === "time") throw new Failure("nobody has paid within a week");
    return answer.body;
  },
});

/** A shop that takes orders, and an agent that orders there. */
export async function makeOrders() {
  const shop = { orders: [] };
  const fetch = async (request) => {
    shop.orders.push(await request.json());
    return new Response();
  };
  return Object.assign(await testAgent(orders, { fetch }), { shop });
}

/** Pays the last order. */
export const pay = (agent) => agent.post(agent.shop.orders.at(-1).notify, "49 EUR");
