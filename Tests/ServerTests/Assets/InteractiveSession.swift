import Foundation
import GRPCCore
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// A session of generated code, in which a test sends and receives individual messages.
final class InteractiveSession: @unchecked Sendable {  // one task uses it at a time
  let opened: Sidelight_V1_Opened
  private var answers: RPCAsyncSequence<Sidelight_V1_ServerMessage, any Error>.AsyncIterator
  private let continuation: AsyncStream<Sidelight_V1_ClientMessage>.Continuation
  private var sequence: UInt64 = 0

  fileprivate init(
    _ answers: RPCAsyncSequence<Sidelight_V1_ServerMessage, any Error>,
    _ continuation: AsyncStream<Sidelight_V1_ClientMessage>.Continuation
  ) async throws {
    self.answers = answers.makeAsyncIterator()
    self.continuation = continuation
    guard case .opened(let opened)? = try await self.answers.next()?.kind else {
      throw RPCError(code: .internalError, message: "The session did not open.")
    }
    self.opened = opened
  }

  func send(_ message: Sidelight_V1_ClientMessage) { self.continuation.yield(message) }

  /// Sends a frame, and returns the first pixel of the result.
  func color(of image: Sidelight_V1_Image = AssetTests.gray) async throws -> [UInt8] {
    self.sequence += 1
    self.send(.frame(self.sequence, image))
    while let message = try await self.answers.next() {
      if case .frame(let frame)? = message.kind { return AssetTests.color(frame.image) }
    }
    throw RPCError(code: .internalError, message: "The server has closed the stream.")
  }

  /// The next error.
  func receiveError() async throws -> Sidelight_V1_Error {
    while let message = try await self.answers.next() {
      if case .error(let error)? = message.kind { return error }
    }
    throw RPCError(code: .internalError, message: "The server has closed the stream.")
  }
}

extension AssetTests {
  /// Opens a session for as long as `body` runs.
  static func withSession<Result: Sendable>(
    _ client: AssetClient, _ pipeline: Pipeline,
    _ body: @escaping @Sendable (InteractiveSession) async throws -> Result
  ) async throws -> Result {
    let (requests, continuation) = AsyncStream<Sidelight_V1_ClientMessage>.makeStream()
    return try await client.stub.process(options: largeMessages) { writer in
      try await writer.write(.open(pipeline))
      for await message in requests { try await writer.write(message) }
    } onResponse: { response in
      defer { continuation.finish() }
      return try await body(try await InteractiveSession(response.messages, continuation))
    }
  }
}

extension Sidelight_V1_Image {
  /// An opaque BGRA picture of one grey.
  static func gray(_ width: Int, _ height: Int, level: UInt8 = 128) -> Self {
    .with {
      $0.format = .bgra8
      $0.width = UInt32(width)
      $0.height = UInt32(height)
      $0.color.alpha = .opaque
      $0.inline = Data(repeating: level, count: 4 * width * height)
    }
  }
}
