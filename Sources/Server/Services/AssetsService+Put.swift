import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
import SidelightKernels
import SidelightWire

extension AssetsService {
  private enum Part: Sendable {
    case file(AssetUpload.Contents, AssetLedger.Lease)
    case watch
  }

  /// Takes a file in, decodes it, and puts it.
  ///
  /// - Returns: What was put, and whether it took the place of another.
  /// - Throws: ``AssetFault``; CANCELLED if the caller goes; UNAVAILABLE if the server shuts down.
  func put(
    _ messages: RPCAsyncSequence<Sidelight_V1_PutAssetRequest, any Error>, of owner: String,
    cancellation: ServerContext.RPCCancellationHandle
  ) async throws -> (StoredAsset, isReplaced: Bool) {
    let library = self.engine.assets
    return try await withThrowingTaskGroup(of: Part.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await self.receive(messages, of: owner) }
      group.addTask {
        // A caller that goes ends no handler by itself; nor does a shutdown, which this waits for too.
        try await cancellation.cancelled
        if Task.isShuttingDownGracefully { throw GoogleRPCStatus.shuttingDown }
        throw RPCError(
          code: .cancelled, message: "The call was cancelled, or came to its deadline.")
      }
      group.addTask {
        let timeout = library.configuration.uploadTimeout
        await self.engine.clock.wait(timeout)
        guard Task.isCancelled else {
          throw AssetFault(
            reason: .timeout, field: "upload_timeout",
            description: "is \(timeout), and the upload has not ended", limit: "\(timeout)")
        }
        return .watch
      }
      while let part = try await group.next() {
        guard case .file(let file, let upload) = part else { continue }
        // Pictures take turns with the sessions' frames, all of them together as one session.
        let stored = try await self.engine.scheduler.withTurn(
          session: .max - 1, deadline: self.engine.clock.now() + Self.patience
        ) { _ in
          try await withTaskExecutorPreference(self.engine.compute) {
            try await AssetReader(library: library, clock: self.engine.clock).read(file, of: owner)
          }
        }
        withExtendedLifetime(upload) {}
        return (stored, try library.put(stored, of: owner))
      }
      throw CancellationError()
    }
  }

  private static let patience = Duration.seconds(1)

  private func receive(
    _ messages: RPCAsyncSequence<Sidelight_V1_PutAssetRequest, any Error>, of owner: String
  ) async throws -> Part {
    let library = self.engine.assets
    var iterator = messages.makeAsyncIterator()
    var upload = try AssetUpload(
      try await iterator.next(), maxFileBytes: library.configuration.maxFileBytes)
    guard self.engine.catalogue.assets.asset(named: upload.name) == nil else {
      throw AssetFault(
        reason: .nameTaken, field: "header.name",
        description: "is \"\(upload.name)\", which the server provides itself", value: upload.name)
    }
    // Before the first chunk is kept.
    let lease = try library.takeUpload(upload, of: owner)
    while let message = try await iterator.next() { try upload.append(message) }
    return .file(try upload.finish(), lease)
  }
}
