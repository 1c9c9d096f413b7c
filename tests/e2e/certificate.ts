// A TLS certificate for this machine, signed by itself, as X.509 (RFC 5280) in DER: Node makes keys, but no certificates.

import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

export interface Certificate {
  /** Both as PEM. */
  cert: string;
  key: string;
}

/** A new certificate for 127.0.0.1, valid from yesterday until tomorrow. */
export function localCertificate(): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(oid("2.5.4.3"), der(0x0c, Buffer.from("a2a-edge test")))));
  const day = 86_400_000;
  const validity = sequence(time(Date.now() - day), time(Date.now() + day));
  const spki = publicKey.export({ format: "der", type: "spki" });
  const address = der(0x87, Buffer.from([127, 0, 0, 1]));
  const names = sequence(oid("2.5.29.17"), der(0x04, sequence(address)));
  const serial = der(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(8)]));
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const content = sequence(version, serial, ECDSA_WITH_SHA256, name, validity, name, spki, der(0xa3, sequence(names)));
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", content, privateKey)]));
  const body = sequence(content, ECDSA_WITH_SHA256, signature).toString("base64").replace(/.{64}/g, "$&\n");
  return { cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`, key: privateKey.export({ format: "pem", type: "pkcs8" }) as string };
}

/** A value of ASN.1 with its tag and length. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const long = [length >> 8, length & 0xff].filter((byte, at) => at > 0 || byte > 0);
  return Buffer.concat([Buffer.from([tag, ...(length < 0x80 ? [length] : [0x80 | long.length, ...long])]), content]);
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]): Buffer => der(0x31, Buffer.concat(parts));

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const base128 = (value: number): number[] => (value < 0x80 ? [value] : [...base128(value >> 7).map((byte) => byte | 0x80), value & 0x7f]);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** UTCTime, which is right until 2049. */
const time = (ms: number): Buffer => der(0x17, Buffer.from(new Date(ms).toISOString().replace(/^20|[-:T]|\.\d+/g, "")));

const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
