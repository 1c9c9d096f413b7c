export function WebhooksPage() {
  return (
    <section class="page">
      <h1>Webhooks</h1>
    </section>
  );
}
