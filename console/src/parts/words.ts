// Ids and URLs in readable form.

/** The beginning of a long id, which is usually unique. */
export function shortened(id: string, length = 12): string {
  return id.length > length + 4 ? `${id.slice(0, length)}…` : id;
}

/** The host of a URL; the text itself if it is not a URL. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

/** A text as one word of a shell: in single quotes, in which a shell interprets nothing. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text of the server as a sentence: with a capital letter, unless it begins with a name such as `historyLength`. */
export function sentence(text: string): string {
  return /^[a-z]+[\s,:;]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
