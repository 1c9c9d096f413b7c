// Ids and URLs as people read them.

/** The beginning of a long id, which is enough to tell it from others. */
export function shortened(id: string, length = 12): string {
  return id.length > length + 4 ? `${id.slice(0, length)}…` : id;
}

/** The host that a URL leads to; the text itself if it is no URL. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

/** A text as one word of a shell: in single quotes, in which a shell reads nothing but their end. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text of a server that stands alone: with a capital, unless it begins with a name, as `historyLength`. */
export function sentence(text: string): string {
  return /^[a-z]+[\s,:;]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
