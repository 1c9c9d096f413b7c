// Files in a message.
import { base64Of, byteSize } from "./bytes.ts";
import { Icon } from "./icon.tsx";
import type { Part } from "../api/types.ts";

/** A chosen file. */
export interface Attachment {
  name: string;
  mediaType: string;
  size: number;
  raw: string;
}

/**
 * The largest total size of the files of a message, in bytes: a body has at most 4 MiB (`MAX_BODY_BYTES`), and base64
 * turns three bytes into four.
 */
export const MAX_FILES_BYTES = 3_000_000;

/**
 * Reads files and adds them to the attached ones.
 *
 * @throws {Error} if the total is too large, or a file cannot be read.
 */
export async function attached(before: readonly Attachment[], files: Iterable<File>): Promise<Attachment[]> {
  const added = [...files];
  const size = [...before, ...added].reduce((sum, file) => sum + file.size, 0);
  if (size > MAX_FILES_BYTES) {
    throw new Error(`The files have ${byteSize(size)}. A message takes ${byteSize(MAX_FILES_BYTES)} of files; give larger ones by a URL.`);
  }
  const read = added.map(async (file): Promise<Attachment> => {
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      return { name: file.name === "" ? "file" : file.name, mediaType: file.type === "" ? "application/octet-stream" : file.type, size: file.size, raw: base64Of(bytes) };
    } catch {
      throw new Error(`${file.name} cannot be read.`);
    }
  });
  return [...before, ...(await Promise.all(read))];
}

export function partOf({ name, mediaType, raw }: Attachment): Part {
  return { raw, filename: name, mediaType };
}

export function Attachments({ files, remove }: { files: readonly Attachment[]; remove: (at: number) => void }) {
  if (files.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Attached files">
      {files.map(({ name, size }, at) => (
        <li key={at} class="file">
          <Icon name="file" />
          <span class="file-name">{name}</span>
          <span class="quiet">{byteSize(size)}</span>
          <button type="button" class="plain" aria-label={`Remove ${name}`} onClick={() => remove(at)}>
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
