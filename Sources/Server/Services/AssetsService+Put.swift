import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
import SidelightKernels
import SidelightWire

extension AssetsService {
  private enum Part: Sendable {
    case asset(StoredAsset)
    case watch
  }

  /// Takes a file in, decodes it, and puts it.
  ///
  /// - Returns: What was put, and whether it took the place of another.
  /// - Throws: ``AssetError``; CANCELLED if the caller goes; UNAVAILABLE if the server shuts down.
  func put(
    _ messages: RPCAsyncSequence<Sidelight_V1_PutAssetRequest, any Error>, of owner: String,
    cancellation: ServerContext.RPCCancellationHandle
  ) async throws -> (StoredAsset, isReplaced: Bool) {
    let timeout = self.engine.assets.configuration.uploadTimeout
    return try await withThrowingTaskGroup(of: Part.self) { group in
      defer { group.cancelAll() }
      group.addTask { .asset(try await self.receive(messages, of: owner)) }
      group.addTask {
        // A caller that goes ends no handler by itself; nor does a shutdown, which this waits for too.
        try await cancellation.cancelled
        if Task.isShuttingDownGracefully { throw GoogleRPCStatus.shuttingDown }
        throw RPCError(
          code: .cancelled, message: "The call was cancelled, or came to its deadline.")
      }
      group.addTask {
        await self.engine.clock.wait(timeout)
        guard Task.isCancelled else {
          throw AssetError(
            reason: .timeout, field: "upload_timeout",
            description: "is \(timeout), and the upload has not ended", limit: "\(timeout)")
        }
        return .watch
      }
      while let part = try await group.next() {
        guard case .asset(let asset) = part else { continue }
        return (asset, try self.engine.assets.put(asset, of: owner))
      }
      throw CancellationError()
    }
  }

  /// Takes a file in, and decodes it when its turn has come.
  private func receive(
    _ messages: RPCAsyncSequence<Sidelight_V1_PutAssetRequest, any Error>, of owner: String
  ) async throws -> StoredAsset {
    let library = self.engine.assets
    var iterator = messages.makeAsyncIterator()
    var upload = try AssetUpload(
      try await iterator.next(), maxFileBytes: library.configuration.maxFileBytes)
    guard self.engine.catalogue.assets.asset(named: upload.name) == nil else {
      throw AssetError(
        reason: .nameTaken, field: "header.name",
        description: "is \"\(upload.name)\", which the server provides itself", value: upload.name)
    }
    // Before the first chunk is kept, and until the file is no longer needed.
    let lease = try library.reserveUpload(upload, of: owner)
    defer { extendLifetime(lease) }
    while let message = try await iterator.next() { try upload.append(message) }
    return try await self.decode(try upload.finish(), of: owner)
  }

  /// Files take turns with the sessions' frames, all of them together as one session, on the threads
  /// that filter.
  private func decode(
    _ file: AssetUpload.Contents, of owner: String
  ) async throws -> StoredAsset {
    let reader = AssetReader(library: self.engine.assets, clock: self.engine.clock)
    return try await self.engine.scheduler.withTurn(
      session: .max - 1, deadline: self.engine.clock.now() + Self.patience
    ) { _, _ in
      try await withTaskExecutorPreference(self.engine.compute) {
        try await reader.read(file, of: owner)
      }
    }
  }

  private static let patience = Duration.seconds(1)
}
