export function OverviewPage() {
  return (
    <section class="page">
      <h1>Overview</h1>
    </section>
  );
}
