import GRPCCore

/// A server message: the part of `sidelight.v1.ServerMessage` that loads need.
enum ServerMessage: Sendable {
  case opened(framesInFlight: Int)
  /// `total` is the time that the server had the frame.
  case delivered(sequence: UInt64, work: Duration, total: Duration)
  case dropped(sequences: ClosedRange<UInt64>, count: Int, reason: DropReason)
  case pong(id: UInt64)
  case other
}

/// Decodes server messages without their pixels.
struct ServerMessageDeserializer: MessageDeserializer {
  func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> ServerMessage {
    bytes.withUnsafeBytes { bytes in
      var reader = WireReader(bytes)
      guard let (field, value) = reader.next() else { return .other }
      var fields: [Int: UInt64] = [:]
      var timing: [Int: UInt64] = [:]
      var message = value.reader
      while let (field, value) = message.next() {
        fields[field] = value.number
        guard field == 8 else { continue }
        var nested = value.reader
        while let (field, value) = nested.next() { timing[field] = value.number }
      }
      switch field {
      case 1:
        return .delivered(
          sequence: fields[1] ?? 0, work: .microseconds(timing[2] ?? 0),
          total: .microseconds(timing[3] ?? 0))
      case 2:
        let first = fields[1] ?? 0
        return .dropped(
          sequences: first ... max(first, fields[2] ?? 0), count: Int(fields[3] ?? 0),
          reason: DropReason(rawValue: Int(fields[4] ?? 0)) ?? .unknown)
      case 16: return .opened(framesInFlight: Int(fields[2] ?? 0))
      case 22: return .pong(id: fields[1] ?? 0)
      default: return .other
      }
    }
  }
}
