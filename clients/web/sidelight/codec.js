/**
 * Serializes and parses protobuf messages, by the tables of `Generated/messages.js`.
 *
 * A message is an object with a property for each field. Parsed messages have proto3's defaults
 * where a field is missing; messages, optional fields and the members of a oneof are then absent.
 * Enums are the names of their values without prefix, or numbers if the name is not known. Maps are
 * `Map`s. Integers of 64 bits are numbers, or `BigInt`s beyond 2^53 - 1. Fields that are not in the
 * table are skipped.
 */

import { enums, messages } from "./Generated/messages.js";
import { BLOCK, CodecError, FIXED32, FIXED64, Reader, VARINT, Writer } from "./wire.js";

export { CodecError };

/**
 * @typedef {(string|number)[][]} MessageTable
 * @typedef {Record<number, string>} EnumTable
 *
 * @typedef {object} Field
 * @property {number} number
 * @property {string} name
 * @property {string} kind
 * @property {string} of The type of messages and enums.
 * @property {string} label
 * @property {number} wire
 * @property {string[]} siblings The other members of the oneof.
 *
 * @typedef {{fields: Field[], byNumber: Map<number, Field>, byName: Map<string, Field>}} Schema
 */

/** The depth of nested messages at which parsing ends. Pipelines nest at most 8 levels deep. */
const MAX_DEPTH = 64;
/** @type {Record<string, number>} */
const WIRES = {
  double: FIXED64, fixed64: FIXED64, sfixed64: FIXED64,
  float: FIXED32, fixed32: FIXED32, sfixed32: FIXED32,
  string: BLOCK, bytes: BLOCK, message: BLOCK,
};
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @type {Map<string, Schema>} */
const schemas = new Map();

/**
 * Returns the bytes of a message.
 *
 * @param {string} type The full name, such as `sidelight.v1.Frame`.
 * @param {object} message
 * @returns {Uint8Array}
 * @throws {CodecError} If a value does not fit its field, or a property is not a field.
 */
export function encode(type, message) {
  const schema = schemaOf(type);
  const writer = new Writer();
  for (const [name, value] of Object.entries(message)) {
    const field = schema.byName.get(name);
    if (!field) throw new CodecError(`${type} has no field ${name}`);
    if (value === undefined || value === null) continue;
    try {
      writeField(writer, field, value);
    } catch (error) {
      if (error instanceof CodecError) throw error;
      throw new CodecError(`${type}.${name}: ${/** @type {Error} */ (error).message}`);
    }
  }
  return writer.bytes();
}

/**
 * Returns the message of some bytes.
 *
 * @param {string} type The full name, such as `sidelight.v1.ServerMessage`.
 * @param {Uint8Array} bytes
 * @returns {any}
 * @throws {CodecError} If the bytes are not such a message.
 */
export function decode(type, bytes) {
  return read(type, bytes, undefined, 0);
}

/** @param {string} type @returns {Schema} */
export function schemaOf(type) {
  const known = schemas.get(type);
  if (known) return known;
  if (!Object.hasOwn(messages, type)) throw new CodecError(`there is no message ${type}`);
  const fields = messages[type].map(([number, name, kind, of = "", label = ""], _, table) => ({
    number: Number(number), name: String(name), kind: String(kind), of: String(of),
    label: String(label), wire: label === "map" ? BLOCK : WIRES[kind] ?? VARINT,
    siblings: !String(label).startsWith("oneof ") ? [] :
      table.filter((other) => other[4] === label && other[0] !== number)
        .map((other) => String(other[1])),
  }));
  const schema = {
    fields,
    byNumber: new Map(fields.map((field) => [field.number, field])),
    byName: new Map(fields.map((field) => [field.name, field])),
  };
  schemas.set(type, schema);
  return schema;
}

/** @param {Writer} writer @param {Field} field @param {any} value */
function writeField(writer, field, value) {
  const { number, kind, of, label, wire } = field;
  if (label === "map") {
    for (const [key, each] of value) {
      const entry = new Writer();
      entry.tag(1, BLOCK);
      entry.block(encoder.encode(key));
      entry.tag(2, WIRES[kind] ?? VARINT);
      writeValue(entry, kind, of, each);
      writer.tag(number, BLOCK);
      writer.block(entry.bytes());
    }
  } else if (label === "repeated" && wire !== BLOCK) {
    if (!value.length) return;
    const packed = new Writer();
    for (const each of value) writeValue(packed, kind, of, each);
    writer.tag(number, BLOCK);
    writer.block(packed.bytes());
  } else {
    const isPlain = !label && kind !== "message";
    for (const each of label === "repeated" ? value : [value]) {
      if (isPlain && isDefault(kind, of, each)) continue;
      writer.tag(number, wire);
      writeValue(writer, kind, of, each);
    }
  }
}

/** @param {Writer} writer @param {string} kind @param {string} of @param {any} value */
function writeValue(writer, kind, of, value) {
  switch (kind) {
    case "message": return writer.block(encode(of, value));
    case "string": return writer.block(encoder.encode(value));
    case "bytes": return writer.block(value);
    case "bool": return writer.varint(value ? 1n : 0n);
    case "enum": return writer.varint(BigInt.asUintN(64, BigInt(enumNumber(of, value))));
    case "double": return writer.fixed(8, (view, at) => view.setFloat64(at, value, true));
    case "float": return writer.fixed(4, (view, at) => view.setFloat32(at, value, true));
    case "fixed32": return writer.fixed(4, (view, at) => view.setUint32(at, value, true));
    case "sfixed32": return writer.fixed(4, (view, at) => view.setInt32(at, value, true));
    case "fixed64": case "sfixed64": {
      const bits = BigInt(value);
      return writer.fixed(8, (view, at) => view.setBigInt64(at, bits, true));
    }
    default: return writer.varint(integerBits(kind, value));
  }
}

/** @param {string} of @param {string|number} value @returns {number} */
function enumNumber(of, value) {
  if (typeof value === "number") return value;
  const found = Object.entries(enums[of]).find(([, name]) => name === value);
  if (!found) throw new RangeError(`${of} has no value ${value}`);
  return Number(found[0]);
}

/** @param {string} kind @param {number|bigint} value @returns {bigint} */
function integerBits(kind, value) {
  const integer = BigInt(value);
  const size = kind.endsWith("64") ? 64 : 32;
  const kept = kind.startsWith("u") ? BigInt.asUintN(size, integer) : BigInt.asIntN(size, integer);
  if (kept !== integer) throw new RangeError(`${value} is not a ${kind}`);
  return BigInt.asUintN(64, kind.startsWith("s") ? (integer << 1n) ^ (integer >> 63n) : integer);
}

/** @param {string} kind @param {string} of @param {any} value */
function isDefault(kind, of, value) {
  if (kind === "string" || kind === "bytes") return value.length === 0;
  if (kind === "enum") return enumNumber(of, value) === 0;
  return Object.is(value, 0) || value === 0n || value === false;
}

/**
 * Reads a message, into an earlier one if there is one.
 *
 * @param {string} type
 * @param {Uint8Array} bytes
 * @param {Record<string, any>|undefined} earlier
 * @param {number} depth
 * @returns {Record<string, any>}
 */
function read(type, bytes, earlier, depth) {
  if (depth > MAX_DEPTH) throw new CodecError(`messages nest deeper than ${MAX_DEPTH}`);
  const schema = schemaOf(type);
  const message = earlier ?? empty(schema);
  const reader = new Reader(bytes);
  while (!reader.isAtEnd) {
    const [number, wire] = reader.tag();
    const field = schema.byNumber.get(number);
    if (!field || !readField(reader, field, wire, message, depth)) reader.skip(wire, number);
  }
  return message;
}

/** @param {Schema} schema @returns {Record<string, any>} */
function empty(schema) {
  /** @type {Record<string, any>} */
  const message = {};
  for (const { name, kind, of, label } of schema.fields) {
    if (label === "map") message[name] = new Map();
    else if (label === "repeated") message[name] = [];
    else if (!label && kind !== "message") message[name] = defaultOf(kind, of);
  }
  return message;
}

/** @param {string} kind @param {string} of @returns {any} */
function defaultOf(kind, of) {
  switch (kind) {
    case "string": return "";
    case "bytes": return new Uint8Array(0);
    case "bool": return false;
    case "enum": return enums[of][0] ?? 0;
    case "message": return empty(schemaOf(of));
    default: return 0;
  }
}

/**
 * Reads the value of a field into a message. Returns whether the value has the field's type.
 *
 * @param {Reader} reader
 * @param {Field} field
 * @param {number} wire
 * @param {Record<string, any>} message
 * @param {number} depth
 */
function readField(reader, field, wire, message, depth) {
  const { name, kind, of, label } = field;
  if (label === "repeated" && wire === BLOCK && field.wire !== BLOCK) {
    const packed = new Reader(reader.block());
    while (!packed.isAtEnd) message[name].push(readValue(packed, kind, of, depth));
    return true;
  }
  if (wire !== field.wire) return false;
  if (label === "map") {
    const [key, value] = readEntry(reader.block(), kind, of, depth);
    message[name].set(key, value);
  } else if (label === "repeated") {
    message[name].push(readValue(reader, kind, of, depth));
  } else {
    for (const sibling of field.siblings) delete message[sibling];
    message[name] = readValue(reader, kind, of, depth, message[name]);
  }
  return true;
}

/**
 * @param {Uint8Array} bytes
 * @param {string} kind
 * @param {string} of
 * @param {number} depth
 * @returns {[string, any]}
 */
function readEntry(bytes, kind, of, depth) {
  const reader = new Reader(bytes);
  let key = "", value = defaultOf(kind, of);
  while (!reader.isAtEnd) {
    const [number, wire] = reader.tag();
    if (number === 1 && wire === BLOCK) key = readValue(reader, "string", "", depth);
    else if (number === 2 && wire === (WIRES[kind] ?? VARINT)) {
      value = readValue(reader, kind, of, depth, value);
    } else reader.skip(wire, number);
  }
  return [key, value];
}

/**
 * @param {Reader} reader
 * @param {string} kind
 * @param {string} of
 * @param {number} depth
 * @param {any} [earlier] The message that an earlier occurrence of the field had.
 * @returns {any}
 */
function readValue(reader, kind, of, depth, earlier) {
  switch (kind) {
    case "message": return read(of, reader.block(), earlier, depth + 1);
    case "string": return text(reader.block());
    case "bytes": return reader.block();
    case "bool": return reader.varint() !== 0n;
    case "enum": {
      const number = Number(BigInt.asIntN(32, reader.varint()));
      return enums[of][number] ?? number;
    }
    case "double": return reader.fixed(8, (view, at) => view.getFloat64(at, true));
    case "float": return reader.fixed(4, (view, at) => view.getFloat32(at, true));
    case "fixed32": return reader.fixed(4, (view, at) => view.getUint32(at, true));
    case "sfixed32": return reader.fixed(4, (view, at) => view.getInt32(at, true));
    case "fixed64": return number(reader.fixed(8, (view, at) => view.getBigUint64(at, true)));
    case "sfixed64": return number(reader.fixed(8, (view, at) => view.getBigInt64(at, true)));
    default: return number(integer(kind, reader.varint()));
  }
}

/** @param {Uint8Array} bytes */
function text(bytes) {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new CodecError("a text is not valid UTF-8");
  }
}

/** @param {string} kind @param {bigint} bits @returns {bigint} */
function integer(kind, bits) {
  const size = kind.endsWith("64") ? 64 : 32;
  const kept = BigInt.asUintN(size, bits);
  if (kind.startsWith("u")) return kept;
  if (kind.startsWith("s")) return (kept >> 1n) ^ -(kept & 1n);
  return BigInt.asIntN(size, kept);
}

/** @param {bigint} value @returns {number|bigint} */
function number(value) {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}
