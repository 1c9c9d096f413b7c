// Chance that is the same in each run of a test.

/** Random numbers that follow from a seed (xorshift). They protect nothing. */
export class Chance {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    this.#state = (Math.imul(seed, 0x9e37_79b9) ^ 0x5bf0_3635) >>> 0 || 1;
    for (let round = 0; round < 8; round += 1) this.#next();
  }

  #next() {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state;
  }

  /** Fills an array with random bytes, as `crypto.getRandomValues`. @template {ArrayBufferView} T @param {T} array @returns {T} */
  fill(array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = this.#next() >>> 11;
    return array;
  }

  /** Random bytes as hexadecimal digits. @param {number} bytes */
  hex(bytes) {
    return Buffer.from(this.fill(new Uint8Array(bytes))).toString("hex");
  }

  /** A UUID of version 4. */
  uuid() {
    const hex = this.hex(16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}
