import GRPCCore

/// A client message: the part of `sidelight.v1.ClientMessage` that loads need.
enum ClientMessage: Sendable {
  case open(pipeline: [UInt8], budget: Duration?, neverDrop: Bool)
  case select(pipeline: [UInt8])
  case frame(sequence: UInt64, image: [UInt8])
  case ping(id: UInt64)
}

/// Encodes client messages.
struct ClientMessageSerializer: MessageSerializer {
  func serialize<Bytes: GRPCContiguousBytes>(_ message: ClientMessage) throws -> Bytes {
    switch message {
    case .open(let pipeline, let budget, let neverDrop):
      let open = WireWriter.message {
        $0.message(1, pipeline)
        // DROP_POLICY_NEVER_DROP; left out, the newest wins.
        if neverDrop { $0.varint(3, 3) }
        if let budget { $0.varint(5, UInt64(budget / .microseconds(1))) }
      }
      return Bytes(WireWriter.message { $0.message(16, open) })
    case .select(let pipeline):
      let select = WireWriter.message { $0.message(1, pipeline) }
      return Bytes(WireWriter.message { $0.message(17, select) })
    case .ping(let id):
      let ping = WireWriter.message { $0.varint(1, id) }
      return Bytes(WireWriter.message { $0.message(22, ping) })
    case .frame(let sequence, let image):
      let head = WireWriter.message {
        $0.varint(1, sequence)
        $0.length(2, image.count)
      }
      var writer = WireWriter()
      writer.length(1, head.count + image.count)
      let prefix = writer.bytes + head
      var bytes = Bytes(repeating: 0, count: prefix.count + image.count)
      bytes.withUnsafeMutableBytes { target in
        target.copyBytes(from: prefix)
        UnsafeMutableRawBufferPointer(rebasing: target[prefix.count...]).copyBytes(from: image)
      }
      return bytes
    }
  }
}
