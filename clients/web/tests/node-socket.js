/** A WebSocket for Node 18 and 20, which do not have one: the part that the client needs. */
import { randomBytes } from "node:crypto";
import { request } from "node:http";

const TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10;

/**
 * Returns a class of WebSockets whose handshakes have headers.
 *
 * @param {Record<string, string>} headers
 */
export function socketClass(headers) {
  return class NodeSocket {
    readyState = 0;
    bufferedAmount = 0;
    #bytes = Buffer.alloc(0);

    constructor(url, protocols) {
      const address = new URL(url);
      address.protocol = "http:";
      const handshake = request(address, { headers: {
        ...headers, Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
        "Sec-WebSocket-Protocol": [protocols].flat().join(", "),
      } });
      handshake.on("upgrade", (_, connection, head) => this.#open(connection, head));
      handshake.on("response", () => this.#end(1006));
      handshake.on("error", () => this.#end(1006));
      handshake.end();
    }

    send(data) {
      this.#write(typeof data === "string" ? TEXT : BINARY, Buffer.from(data));
    }

    close() {
      if (this.connection) this.#write(CLOSE, Buffer.from([3, 232]));
      this.connection?.end();
    }

    #open(connection, head) {
      this.connection = connection;
      this.readyState = 1;
      connection.on("data", (data) => this.#read(data));
      connection.on("close", () => this.#end(1006));
      connection.on("error", () => {});
      this.onopen();
      this.#read(head);
    }

    #write(opcode, content) {
      const { length } = content;
      const head = Buffer.alloc(length < 126 ? 2 : length < 65536 ? 4 : 10);
      head[0] = 0x80 | opcode;
      head[1] = 0x80 | (length < 126 ? length : length < 65536 ? 126 : 127);
      if (head.length === 4) head.writeUInt16BE(length, 2);
      if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
      // A mask of zeros has no effect.
      this.connection.write(Buffer.concat([head, Buffer.alloc(4), content]));
    }

    #read(data) {
      this.#bytes = Buffer.concat([this.#bytes, data]);
      while (this.#bytes.length >= 2) {
        const short = this.#bytes[1] & 0x7f;
        const start = short < 126 ? 2 : short === 126 ? 4 : 10;
        if (this.#bytes.length < start) return;
        const length = short < 126 ? short
          : short === 126 ? this.#bytes.readUInt16BE(2) : Number(this.#bytes.readBigUInt64BE(2));
        if (this.#bytes.length < start + length) return;
        const content = this.#bytes.subarray(start, start + length);
        const opcode = this.#bytes[0] & 0x0f;
        this.#bytes = this.#bytes.subarray(start + length);
        if (opcode === TEXT) this.onmessage({ data: content.toString() });
        else if (opcode === BINARY) this.onmessage({ data: new Uint8Array(content).buffer });
        else if (opcode === PING) this.#write(PONG, content);
        else if (opcode === CLOSE) {
          this.#end(content.length ? content.readUInt16BE(0) : 1005);
          this.close();
        }
      }
    }

    #end(code) {
      if (this.readyState === 3) return;
      this.readyState = 3;
      this.onclose({ code });
    }
  };
}
