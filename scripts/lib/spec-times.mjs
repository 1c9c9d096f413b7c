// A reporter for `node --test`: one line for each test file with its duration in milliseconds and its name.
export default async function* specTimes(events) {
  for await (const { type, data } of events) {
    if (type === "test:summary" && data.file !== undefined) yield `${Math.round(data.duration_ms)} ${data.file}\n`;
  }
}
