export function TasksPage() {
  return (
    <section class="page">
      <h1>Tasks</h1>
    </section>
  );
}
