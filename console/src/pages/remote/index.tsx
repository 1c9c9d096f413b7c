export function RemotePage() {
  return (
    <section class="page">
      <h1>Remote</h1>
    </section>
  );
}
