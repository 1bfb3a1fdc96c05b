package import NIOCore
import NIOHTTP2
import SidelightWire

/// Delivers the messages of a call in batches, one batch for each poll of the event loop
/// (``Guard/messageBatches``).
///
/// A single DATA frame can hold a hundred thousand messages of a few bytes. Without this handler all of
/// them would be decoded and handled before the loop polls its sockets again, and every other
/// connection of that loop would wait. Bytes that wait here keep their place in order; a reset or a
/// closed stream discards them.
final class MessageBatcher: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  /// The weight of a batch: a message counts 1, and 1 more for each ``bytesPerWeight`` bytes. A batch
  /// ends where this is used up, so it has 16 messages or some 8 KiB of small ones.
  private static let batchWeight = 16
  private static let bytesPerWeight = 512

  private let turns: LoopTurns
  private var waiting: CircularBuffer<HTTP2Frame.FramePayload> = []
  private var boundaries = MessageBoundaries()
  /// The weight that may still be delivered before the next poll.
  private var budget = MessageBatcher.batchWeight
  /// Whether the handlers above have asked for more.
  private var isReadPending = false
  private var isTurnRequested = false
  /// Whether the ledger knows that this call was held back.
  private var isRecorded = false
  private let address: String
  private let ledger: ConnectionLedger

  /// - Parameters:
  ///   - turns: The turns of the server's event loops.
  ///   - address: The peer's address.
  ///   - ledger: Counts the calls that were held back.
  init(turns: LoopTurns, address: String, ledger: ConnectionLedger) {
    self.turns = turns
    self.address = address
    self.ledger = ledger
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let payload = self.unwrapInboundIn(data)
    if case .rstStream = payload {
      // The client has given the call up.
      self.waiting.removeAll()
      return context.fireChannelRead(data)
    }
    self.waiting.append(payload)
    self.deliver(context: context)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // HTTP/2 has delivered what a poll brought.
    if self.waiting.isEmpty { self.budget = Self.batchWeight }
    context.fireChannelReadComplete()
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.waiting.removeAll()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.waiting.removeAll() }

  func read(context: ChannelHandlerContext) {
    guard !self.waiting.isEmpty else { return context.read() }
    self.isReadPending = true
    guard !self.isTurnRequested else { return }
    self.isTurnRequested = true
    if !self.isRecorded {
      self.isRecorded = true
      self.ledger.record(.messageBatches, against: self.address)
    }
    self.turns.turn(of: context.eventLoop).afterPoll { self.takeTurn(context: context) }
  }

  private func takeTurn(context: ChannelHandlerContext) {
    self.isTurnRequested = false
    guard self.isReadPending, !self.waiting.isEmpty else { return }
    self.isReadPending = false
    self.budget = Self.batchWeight
    self.deliver(context: context)
    context.fireChannelReadComplete()
    // The stream reads by itself only after what it has delivered itself.
    context.channel.read()
  }

  /// Delivers from the head of the queue as much as the budget allows. A message that has begun is
  /// delivered to its end.
  private func deliver(context: ChannelHandlerContext) {
    while self.budget > 0 || self.boundaries.isWithinMessage,
      let payload = self.waiting.popFirst()
    {
      guard case .data(let data) = payload, case .byteBuffer(var bytes) = data.data else {
        context.fireChannelRead(self.wrapInboundOut(payload))
        continue
      }
      let (count, weight) = self.boundaries.advance(
        over: bytes, weight: self.budget, bytesPerWeight: Self.bytesPerWeight)
      self.budget -= weight
      guard count < bytes.readableBytes, let batch = bytes.readSlice(length: count) else {
        context.fireChannelRead(self.wrapInboundOut(payload))
        continue
      }
      self.waiting.prepend(
        .data(.init(data: .byteBuffer(bytes), endStream: data.endStream)))
      if batch.readableBytes > 0 {
        context.fireChannelRead(
          self.wrapInboundOut(.data(.init(data: .byteBuffer(batch), endStream: false))))
      }
    }
  }
}

/// Finds where gRPC's messages end in the pieces in which HTTP/2 delivers them.
package struct MessageBoundaries: Sendable {
  /// The bytes of a prefix that has begun, and how many they are.
  private var prefix: (bytes: UInt64, count: Int) = (0, 0)
  /// Bytes of the message under way that have not come.
  private var remaining = 0

  package init() {}

  /// Whether a message has begun and not ended.
  package var isWithinMessage: Bool { self.remaining > 0 || self.prefix.count > 0 }

  /// Moves over bytes until messages of a given weight have ended.
  ///
  /// - Parameters:
  ///   - bytes: The next piece.
  ///   - limit: The weight at which to stop, at the end of a message.
  ///   - bytesPerWeight: The divisor of the weight of a message of n bytes, 1 + n / `bytesPerWeight`.
  /// - Returns: The bytes moved over, and the weight of the messages that begin in them.
  package mutating func advance(
    over bytes: ByteBuffer, weight limit: Int, bytesPerWeight: Int
  ) -> (count: Int, weight: Int) {
    var weight = 0
    var count = 0
    bytes.withUnsafeReadableBytes { bytes in
      while count < bytes.count {
        if self.remaining == 0 {
          if self.prefix.count == 0, weight >= limit { break }
          self.prefix.bytes = self.prefix.bytes << 8 | UInt64(bytes[count])
          self.prefix.count += 1
          count += 1
          guard self.prefix.count == FramedMessage.prefixByteCount else { continue }
          self.remaining = Int(self.prefix.bytes & 0xFFFF_FFFF)
          self.prefix = (0, 0)
          weight += 1 + self.remaining / bytesPerWeight
        } else {
          let step = min(self.remaining, bytes.count - count)
          self.remaining -= step
          count += step
        }
      }
    }
    return (count, weight)
  }
}
