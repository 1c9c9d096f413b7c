export function ChatPage() {
  return (
    <section class="page">
      <h1>Chat</h1>
    </section>
  );
}
