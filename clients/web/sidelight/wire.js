/** The wire format of protobuf: varints, fixed-size values and blocks of bytes. */

export const VARINT = 0, FIXED64 = 1, BLOCK = 2, GROUP_START = 3, GROUP_END = 4, FIXED32 = 5;
/** The maximum size of a varint, in bytes. */
const MAX_VARINT_BYTES = 10;
/** The depth of nested groups at which skipping ends. */
const MAX_GROUPS = 64;

/** The reason why bytes are not a message, or an object cannot be one. */
export class CodecError extends Error {}

/** Writes values into a buffer that grows. */
export class Writer {
  #bytes = new Uint8Array(64);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Returns the bytes so far. The writer must not be used afterwards. */
  bytes() {
    return this.#bytes.subarray(0, this.#length);
  }

  /** @param {number} number @param {number} wire */
  tag(number, wire) {
    this.uint32(((number << 3) | wire) >>> 0);
  }

  /** @param {number} value At least 0, less than 2^32. */
  uint32(value) {
    this.#reserve(5);
    while (value > 0x7f) {
      this.#bytes[this.#length++] = (value & 0x7f) | 0x80;
      value >>>= 7;
    }
    this.#bytes[this.#length++] = value;
  }

  /** @param {bigint} value At least 0, less than 2^64. */
  varint(value) {
    if (value < 0x80000000n) return this.uint32(Number(value));
    this.#reserve(MAX_VARINT_BYTES);
    while (value > 0x7fn) {
      this.#bytes[this.#length++] = Number(value & 0x7fn) | 0x80;
      value >>= 7n;
    }
    this.#bytes[this.#length++] = Number(value);
  }

  /** @param {Uint8Array} bytes */
  block(bytes) {
    this.uint32(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** @param {number} size @param {(view: DataView, offset: number) => void} write */
  fixed(size, write) {
    this.#reserve(size);
    write(this.#view, this.#length);
    this.#length += size;
  }

  /** @param {number} count */
  #reserve(count) {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + count));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** Reads values from bytes, and never beyond their end. */
export class Reader {
  #bytes;
  #view;
  #offset = 0;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd() {
    return this.#offset >= this.#bytes.length;
  }

  /**
   * Returns the field number and the wire type that come next.
   *
   * @returns {[number, number]}
   */
  tag() {
    const tag = this.varint();
    const number = Number(tag >> 3n);
    if (number < 1 || number > 0x1fffffff) throw new CodecError(`${number} is no field number`);
    return [number, Number(tag & 7n)];
  }

  /** @returns {bigint} */
  varint() {
    const first = this.#bytes[this.#offset];
    if (first < 0x80) {
      this.#offset += 1;
      return BigInt(first);
    }
    let value = 0n;
    for (let count = 0; count < MAX_VARINT_BYTES; count += 1) {
      const byte = this.#bytes[this.#advance(1)];
      value |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new CodecError(`a varint is longer than ${MAX_VARINT_BYTES} bytes`);
  }

  /** Returns the bytes of a block, which share the memory of the message. */
  block() {
    const length = this.varint();
    if (length > BigInt(this.#bytes.length)) throw this.#beyondEnd(length);
    const start = this.#advance(Number(length));
    return this.#bytes.subarray(start, start + Number(length));
  }

  /** @template T @param {number} size @param {(view: DataView, offset: number) => T} read */
  fixed(size, read) {
    return read(this.#view, this.#advance(size));
  }

  /**
   * Skips the value of an unknown field.
   *
   * @param {number} wire
   * @param {number} number The number of the field, for the end of a group.
   */
  skip(wire, number, depth = 0) {
    switch (wire) {
      case VARINT: return void this.varint();
      case FIXED64: return void this.#advance(8);
      case BLOCK: return void this.block();
      case FIXED32: return void this.#advance(4);
      case GROUP_START: return this.#skipGroup(number, depth);
      default: throw new CodecError(`field ${number} has the wire type ${wire}`);
    }
  }

  /** @param {number} number @param {number} depth */
  #skipGroup(number, depth) {
    if (depth >= MAX_GROUPS) throw new CodecError(`groups nest deeper than ${MAX_GROUPS}`);
    for (;;) {
      const [inner, wire] = this.tag();
      if (wire !== GROUP_END) this.skip(wire, inner, depth + 1);
      else if (inner === number) return;
      else throw new CodecError(`group ${number} ends as group ${inner}`);
    }
  }

  /** @param {number} count @returns {number} The offset before. */
  #advance(count) {
    const start = this.#offset;
    if (start + count > this.#bytes.length) throw this.#beyondEnd(count);
    this.#offset += count;
    return start;
  }

  /** @param {number|bigint} count */
  #beyondEnd(count) {
    return new CodecError(
      `${count} bytes follow offset ${this.#offset}, the message has ${this.#bytes.length} bytes`);
  }
}
