import Foundation
import GRPCCore
import SidelightTestSupport
import SidelightTransport
import SidelightWire
import SwiftProtobuf

extension Sidelight_V1_SharedMemoryOffer {
  /// Returns the message of a client that fetches the ring.
  func hello(of sessionID: String) -> DescriptorHello {
    DescriptorHello(token: Array(self.token), sessionID: sessionID)
  }
}

extension Stub {
  /// Opens a session that asks for a ring, and leaves it open while `body` runs.
  func withOpened<Result: Sendable>(
    _ request: Sidelight_V1_SharedMemoryRequest = .with { $0.slotBytes = 1 << 16 },
    _ body: @escaping @Sendable (Sidelight_V1_Opened) async throws -> Result
  ) async throws -> Result {
    let (done, finish) = AsyncStream<Never>.makeStream()
    return try await self.process { writer in
      try await writer.write(.open { $0.sharedMemory = request })
      for await _ in done {}
    } onResponse: { response in
      defer { finish.finish() }
      var result: Result?
      for try await message in response.messages {
        guard case .opened(let opened)? = message.kind else { continue }
        result = try await body(opened)
        finish.finish()
      }
      guard let result else {
        throw RPCError(code: .internalError, message: "The session did not open.")
      }
      return result
    }
  }
}
