// The shell: the navigation, and the page inside it.
import { useEffect, useRef, useState } from "preact/hooks";
import type { FunctionComponent, RefObject } from "preact";
import { catalogue, loadCatalogue } from "./api/agents.ts";
import { FindButton, Finding } from "./find/index.tsx";
import { AgentsPage } from "./pages/agents/index.tsx";
import { ChatPage } from "./pages/chat/index.tsx";
import { ComparePage } from "./pages/compare/index.tsx";
import { OverviewPage } from "./pages/overview/index.tsx";
import { RemotePage } from "./pages/remote/index.tsx";
import { StartPage } from "./pages/start/index.tsx";
import { TasksPage } from "./pages/tasks/index.tsx";
import { UsagePage } from "./pages/usage/index.tsx";
import { keepCount, waiting } from "./pages/waiting/count.ts";
import { WaitingPage } from "./pages/waiting/index.tsx";
import { WebhooksPage } from "./pages/webhooks/index.tsx";
import { Icon, type IconName } from "./parts/icon.tsx";
import { Notices } from "./parts/notice.tsx";
import { href, place } from "./route.ts";
import { useWayBack } from "./way-back.ts";
import { SessionMenu } from "./session/menu.tsx";
import { SignInDialog } from "./session/sign-in.tsx";

interface Page {
  title: string;
  icon: IconName;
  component: FunctionComponent;
  /** True if the navigation lists the page. */
  isListed: boolean;
}

const PAGES: Record<string, Page> = {
  agents: { title: "Agents", icon: "agents", component: AgentsPage, isListed: true },
  chat: { title: "Chat", icon: "chat", component: ChatPage, isListed: true },
  tasks: { title: "Tasks", icon: "tasks", component: TasksPage, isListed: true },
  waiting: { title: "Waiting", icon: "waiting", component: WaitingPage, isListed: true },
  webhooks: { title: "Webhooks", icon: "webhooks", component: WebhooksPage, isListed: true },
  overview: { title: "Overview", icon: "overview", component: OverviewPage, isListed: true },
  usage: { title: "Usage", icon: "usage", component: UsagePage, isListed: true },
  compare: { title: "Two tasks", icon: "compare", component: ComparePage, isListed: false },
  start: { title: "A first minute", icon: "send", component: StartPage, isListed: false },
  remote: { title: "Agent elsewhere", icon: "remote", component: RemotePage, isListed: false },
};

/** The listed page that each of the others belongs to. */
const IN: Readonly<Record<string, string>> = { compare: "tasks", remote: "agents", start: "agents" };
const FINDABLE = Object.fromEntries(Object.entries(PAGES).flatMap(([name, { title, isListed }]) => (isListed || name === "start" ? [[name, title]] : [])));

export function App() {
  const [name] = place.value.path;
  const page = PAGES[name];
  const main = useRef<HTMLElement>(null);
  const title = useTitle(main, page?.title);

  useEffect(() => void loadCatalogue(), []);
  useEffect(() => keepCount(), []);
  useWayBack(main);

  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to the content
      </a>
      <header class="side">
        <a class="brand" href={href(["agents"])} aria-label="a2a-edge console, to the agents">
          <Icon name="brand" />
          <span>a2a-edge</span>
        </a>
        <FindButton />
        <nav aria-label="Pages">
          <ul>
            {Object.entries(PAGES).map(([path, { title, icon, isListed }]) =>
              isListed ? (
                <li key={path}>
                  <a href={href([path])} aria-current={path === (IN[name] ?? name) ? "page" : undefined}>
                    <Icon name={icon} />
                    <span>{title}</span>
                    {path === "waiting" && waiting.value > 0 && (
                      <span class="count">
                        {waiting.value > 99 ? "99+" : waiting.value}
                        <span class="sr"> {waiting.value === 1 ? "task" : "tasks"}</span>
                      </span>
                    )}
                  </a>
                </li>
              ) : null,
            )}
          </ul>
        </nav>
        <div class="side-end">
          <SessionMenu />
          <p class="quiet version">{catalogue.value === undefined ? "" : `Version ${catalogue.value.version}`}</p>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {page === undefined ? <NotFound /> : <page.component />}
      </main>
      <SignInDialog />
      <Finding pages={FINDABLE} />
      <Notices />
      <p class="sr" role="status">
        {title}
      </p>
    </div>
  );
}

/**
 * Sets the title of the window from the shown heading and tab. The number of tasks that wait stands before it. Returns the title for screen readers to announce
 * after a change of address. The heading may appear, and change, when data was loaded.
 */
function useTitle(main: RefObject<HTMLElement | null>, section: string | undefined): string {
  const [said, setSaid] = useState("");
  const address = place.value.path.join("/");
  const first = useRef(address);
  const count = waiting.value;
  useEffect(() => {
    const root = main.current;
    if (root === null) return;
    const tell = () => {
      const [heading, tab] = ["h1", ".tabs [aria-current=page]"].map((found) => root.querySelector(found)?.textContent.trim().replace(/([0-9a-f]{12})[0-9a-f]{20,}/g, "$1…"));
      const words = [heading, tab, section].filter((word, at, all) => word !== undefined && word !== "" && all.indexOf(word) === at);
      document.title = `${count > 0 ? `(${count}) ` : ""}${[...words, "a2a-edge console"].join(" · ")}`;
      if (address !== first.current) setSaid(words.join(", "));
    };
    const changed = new MutationObserver(tell);
    changed.observe(root, { subtree: true, childList: true, characterData: true });
    tell();
    return () => changed.disconnect();
  }, [address, section, count]);
  return said;
}

function NotFound() {
  return (
    <section class="page">
      <h1>There is no such page</h1>
      <p>
        The address does not lead anywhere. <a href={href(["agents"])}>See the agents</a> instead.
      </p>
    </section>
  );
}
