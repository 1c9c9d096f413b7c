// The icons of the console, as lines in the colour of the text.

const PATHS = {
  brand: "M5 18 12 5l7 13M5 18a1.6 1.6 0 1 0 .01 0M19 18a1.6 1.6 0 1 0 .01 0M12 5a1.6 1.6 0 1 0 .01 0",
  agents: "M12 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8ZM4 21c0-4.4 3.6-7 8-7s8 2.6 8 7",
  chat: "M4 5h16v11H9l-5 4V5Z",
  tasks: "M9 6h11M9 12h11M9 18h11M4 6h.01M4 12h.01M4 18h.01",
  waiting: "M4 13h4l2 3h4l2-3h4M4 13 7 5h10l3 8v6H4Z",
  webhooks: "M4 12h10M10 7l5 5-5 5M19 5v14",
  overview: "M4 20V10M10 20V4M16 20v-7M3 20h18",
  usage: "M5 6c0-4 14-4 14 0s-14 4-14 0ZM5 6v12c0 4 14 4 14 0V6M5 12c0 4 14 4 14 0",
  remote: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18",
  key: "M15 3a6 6 0 1 1-4.2 10.2L5 19v2H3v-3l7-7A6 6 0 0 1 15 3ZM16 8h.01",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12.5 10 17 19 7",
  close: "M6 6l12 12M18 6 6 18",
  warning: "M12 4 2.8 20h18.4L12 4ZM12 10v4M12 17h.01",
  attach: "M20 11 12 19a5 5 0 0 1-7-7l8-8a3.5 3.5 0 0 1 5 5l-8 8a2 2 0 0 1-3-3l7-7",
  send: "M4 12 20 4l-5 16-3.5-6.5L4 12Z",
  stop: "M6 6h12v12H6z",
  down: "M6 9l6 6 6-6",
  refresh: "M20 11a8 8 0 1 0-2.3 5.7M20 5v6h-6",
  external: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  search: "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13ZM15.5 15.5 20 20",
  compare: "M4 5h6v14H4zM14 5h6v14h-6z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  plus: "M12 5v14M5 12h14",
} as const;

export type IconName = keyof typeof PATHS;

/** An icon next to a text with the same meaning; a button with only the icon needs an `aria-label`. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
