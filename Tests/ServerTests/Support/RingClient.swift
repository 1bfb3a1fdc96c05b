import Foundation
import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// A client of generated code that holds a session's ring. It sends and receives individual
/// messages.
final class RingClient: @unchecked Sendable {  // one task uses it at a time
  typealias Answers = RPCAsyncSequence<Sidelight_V1_ServerMessage, any Error>

  let opened: Sidelight_V1_Opened
  let ring: SharedMemoryRing
  private var answers: Answers.AsyncIterator
  private let continuation: AsyncStream<Sidelight_V1_ClientMessage>.Continuation

  fileprivate init(
    _ answers: Answers, _ continuation: AsyncStream<Sidelight_V1_ClientMessage>.Continuation
  ) async throws {
    self.answers = answers.makeAsyncIterator()
    self.continuation = continuation
    guard case .opened(let opened)? = try await self.answers.next()?.kind else {
      throw RPCError(code: .internalError, message: "The session did not open.")
    }
    self.opened = opened
    let offer = opened.sharedMemory
    let answer = try DescriptorSocket.fetch(
      offer.hello(of: opened.sessionID), at: offer.socketPath)
    guard let memory = answer.memory else {
      throw RPCError(code: .internalError, message: "The server did not send the ring.")
    }
    self.ring = try SharedMemoryRing(mapping: memory, try RingLayout(offer))
  }

  func send(_ message: Sidelight_V1_ClientMessage) {
    self.continuation.yield(message)
  }

  /// Returns when the server has read all messages. It must send no outcome meanwhile.
  func settle() async throws {
    self.send(.with { $0.ping.id = 1 })
    while let message = try await self.answers.next() {
      switch message.kind {
      case .pong?: return
      case .frame?, .dropped?:
        throw RPCError(code: .internalError, message: "The server sent \(message).")
      default: break
      }
    }
  }

  /// The next message that is a frame's outcome, an error or an analysis.
  func receive() async throws -> Sidelight_V1_ServerMessage.OneOf_Kind {
    while let message = try await self.answers.next() {
      switch message.kind {
      case .frame(let frame)?: return .frame(frame)
      case .dropped(let dropped)?: return .dropped(dropped)
      case .error(let error)?: return .error(error)
      case .analysis(let analysis)?: return .analysis(analysis)
      default: break
      }
    }
    throw RPCError(code: .internalError, message: "The server has closed the stream.")
  }

  /// The next message, which must be a frame that came back.
  func receiveFrame() async throws -> Sidelight_V1_FilteredFrame {
    switch try await self.receive() {
    case .frame(let frame): return frame
    case let other: throw RPCError(code: .internalError, message: "The server sent \(other).")
    }
  }

  /// The next message, which must be a drop.
  func receiveDrop() async throws -> Sidelight_V1_Dropped {
    switch try await self.receive() {
    case .dropped(let dropped): return dropped
    case let other: throw RPCError(code: .internalError, message: "The server sent \(other).")
    }
  }

  /// Closes the client's side, and returns the final counts.
  func finish() async throws -> Sidelight_V1_Stats {
    self.continuation.finish()
    var last = Sidelight_V1_Stats()
    while let message = try await self.answers.next() {
      if case .stats(let stats)? = message.kind { last = stats }
    }
    return last
  }

  // MARK: Slots

  /// Writes an inline image into a slot.
  ///
  /// - Returns: The image in that slot.
  func put(_ image: Sidelight_V1_Image, in slot: Int) -> Sidelight_V1_Image {
    let count = image.inline.count
    self.ring.buffer(slot: slot, byteCount: count)
      .copy(PixelBuffer(copying: [UInt8](image.inline)))
    var placed = image
    placed.sharedMemory = .with {
      $0.slot = UInt32(slot)
      $0.length = UInt64(count)
    }
    return placed
  }

  /// The samples of an image, from its slot if it is in one.
  func bytes(of image: Sidelight_V1_Image) throws -> [UInt8] {
    guard case .sharedMemory(let reference)? = image.pixels else { return [UInt8](image.inline) }
    let (slot, count) = try self.ring.layout.check(reference, .input, .output)
    let pixels = self.ring.buffer(slot: slot, byteCount: count)
    return try image.frame(over: pixels, limits: .unlimited).bytes
  }
}

extension Stub {
  /// Opens a session with a ring of small slots for as long as `body` runs.
  func withRing<Result: Sendable>(
    _ pipeline: Pipeline = [], inputs: UInt32 = 2, outputs: UInt32 = 2,
    slotBytes: UInt64 = 1 << 16, policy: Sidelight_V1_DropPolicy = .neverDrop,
    _ configure: @escaping @Sendable (inout Sidelight_V1_Open) -> Void = { _ in },
    _ body: @escaping @Sendable (RingClient) async throws -> Result
  ) async throws -> Result {
    let (requests, continuation) = AsyncStream<Sidelight_V1_ClientMessage>.makeStream()
    return try await self.process(options: largeMessages) { writer in
      try await writer.write(
        .open(pipeline, policy: policy) {
          $0.sharedMemory.slotBytes = slotBytes
          $0.sharedMemory.inputSlots = inputs
          $0.sharedMemory.outputSlots = outputs
          configure(&$0)
        })
      for await message in requests { try await writer.write(message) }
    } onResponse: { response in
      defer { continuation.finish() }
      return try await body(try await RingClient(response.messages, continuation))
    }
  }
}

extension PixelBuffer {
  /// The bytes, to be compared.
  var bytesForTest: [UInt8] { [UInt8](UnsafeRawBufferPointer(self.bytes)) }
}

extension SharedMemoryRing {
  /// Writes to a slot against the protocol.
  func overwrite(_ value: UInt8, over slot: Int) {
    let bytes = self.buffer(slot: slot, byteCount: self.layout.slotBytes).bytes
    for offset in stride(from: 0, to: bytes.count, by: 13) {
      bytes[offset] = value &+ UInt8(truncatingIfNeeded: offset)
    }
  }
}
