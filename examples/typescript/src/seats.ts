import { executor, Failure } from "a2a-edge";
import { z } from "zod";

export const seats = executor({
  settings: z.object({ hall: z.string() }),
  async execute(turn) {
    turn.working("reserving a seat");
    const seat = await turn.step("reserve", async ({ idempotencyKey }) => {
      const answer = await turn.fetch("https://seats.example.com/reservations", {
        method: "POST",
        headers: { "idempotency-key": idempotencyKey },
        body: JSON.stringify({ hall: turn.settings.hall, guest: turn.text }),
      });
      if (!answer.ok) throw new Failure(`no seat: ${await answer.text()}`, { fault: "upstream" });
      return answer.json<{ row: number; seat: number }>();
    }, { retry: 3 });
    await turn.step("mail", async () => {
      const text = `Row ${seat.row}, seat ${seat.seat}.`;
      await turn.env.MAIL.send({ from: "seats@example.com", to: "office@example.com", subject: "A seat", text });
    });
    return { data: seat };
  },
  onCancel: async (turn) => {
    await turn.fetch(`https://seats.example.com/reservations?task=${turn.taskId}`, { method: "DELETE" });
  },
});
