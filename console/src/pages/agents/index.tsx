export function AgentsPage() {
  return (
    <section class="page">
      <h1>Agents</h1>
    </section>
  );
}
