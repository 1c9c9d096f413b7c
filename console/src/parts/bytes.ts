// Bytes of parts: decoded from base64, and passed to the browser as object URLs, which are revoked later.
import { useEffect, useState } from "preact/hooks";

/** The bytes of base64 in either alphabet; undefined if the text is not base64. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const text = atob(base64.replaceAll("-", "+").replaceAll("_", "/").replace(/\s+/g, ""));
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
    return bytes;
  } catch {
    return undefined;
  }
}

/** The base64 of bytes. */
export function base64Of(bytes: Uint8Array): string {
  let text = "";
  // The number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** The text of bytes in UTF-8; undefined if the bytes are not UTF-8. */
export function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** An object URL of bytes, revoked when the component unmounts or the bytes change. Undefined at first. */
export function useObjectUrl(bytes: Uint8Array<ArrayBuffer> | undefined, mediaType: string): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (bytes === undefined) return;
    const made = URL.createObjectURL(new Blob([bytes], { type: mediaType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, mediaType]);
  return url;
}

/**
 * Makes the browser save bytes as a file. The bytes never open as a page, which would have the rights of this origin.
 */
export function save(content: Uint8Array<ArrayBuffer> | string, name: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A name without path separators and without characters that hide its ending. */
export function fileName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? "";
  const plain = last.replace(/[\p{Cc}\p{Cf}<>:"|?*]/gu, "").replace(/^\.+/, "").trim();
  return plain === "" ? "file" : plain.slice(0, 120);
}

/** A number of bytes in readable form, for example `12 KB`. */
export function byteSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
