import Foundation
import GRPCCore
import GRPCProtobuf
import Logging
import ServiceLifecycle
import SidelightKernelLanguage
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// `sidelight.v1.Assets`: callers upload the pictures and tables that their pipelines use.
struct AssetsService: Sidelight_V1_Assets.SimpleServiceProtocol {
  let engine: Engine

  func putAsset(
    request: RPCAsyncSequence<Sidelight_V1_PutAssetRequest, any Error>, context: ServerContext
  ) async throws -> Sidelight_V1_PutAssetResponse {
    let caller = context.caller
    let (upload, isReplaced) = try await self.put(
      request, by: caller, cancellation: context.cancellation)
    let (stored, owner) = (upload.asset, upload.owner)
    self.engine.observability.logger.info(
      "asset put",
      metadata: [
        "name": "\(stored.name)", "kind": "\(stored.asset.kind)",
        "file_bytes": "\(stored.fileByteCount)", "memory_bytes": "\(stored.memoryByteCount)",
        "by": "\(caller)",
      ].addingParticipant(owner.participant))
    let now = self.engine.clock.now()
    return .with {
      $0.asset = Sidelight_V1_Asset(stored, of: owner, at: now)
      $0.replaced = isReplaced
    }
  }

  func listAssets(
    request: Sidelight_V1_ListAssetsRequest, context: ServerContext
  ) async throws -> Sidelight_V1_ListAssetsResponse {
    let now = self.engine.clock.now()
    let provided = self.engine.compiler.catalogue.assets
    let names = Set(provided.names)
    let caller = try context.caller(actingFor: request.participant, field: "participant")
    let owner = caller.identity
    let own = self.engine.assets.assets(of: owner).filter { !names.contains($0.name) }
    // A participant's own asset hides its caller's asset.
    let hidden = names.union(own.map(\.name))
    let inherited = owner.parent.map { parent in
      self.engine.assets.assets(of: parent).filter { !hidden.contains($0.name) }
        .map { Sidelight_V1_Asset($0, of: parent, at: now) }
    }
    return .with {
      $0.assets =
        (own.map { Sidelight_V1_Asset($0, of: owner, at: now) } + (inherited ?? [])
        + names.compactMap { name in
          provided.asset(named: name).map { Sidelight_V1_Asset($0, named: name) }
        }).sorted { $0.name < $1.name }
    }
  }

  func deleteAsset(
    request: Sidelight_V1_DeleteAssetRequest, context: ServerContext
  ) async throws -> Sidelight_V1_DeleteAssetResponse {
    let caller = try context.caller(actingFor: request.participant, field: "participant")
    try AssetName.checkLength(request.name, field: "name")
    guard self.engine.assets.remove(request.name, of: caller.identity) else {
      let isProvided = self.engine.compiler.catalogue.assets.asset(named: request.name) != nil
      throw AssetError(
        reason: .notFound, field: "name",
        description: isProvided
          ? "\"\(request.name)\" is provided by the server and cannot be deleted"
          : "\(caller.participant.isEmpty ? "you have" : "the participant has") no asset "
            + "\"\(request.name)\"",
        value: request.name)
    }
    self.engine.observability.logger.info(
      "asset deleted",
      metadata: ["name": "\(request.name)", "by": "\(caller)"]
        .addingParticipant(caller.participant))
    return Sidelight_V1_DeleteAssetResponse()
  }

  // MARK: Uploads

  /// A decoded asset, and the caller or participant that owns it.
  private struct DecodedUpload: Sendable {
    let asset: StoredAsset
    let owner: CallerIdentity
  }

  /// Receives a file, decodes it, and stores the asset.
  ///
  /// - Returns: The asset, and whether it replaced another.
  /// - Throws: ``AssetError``; CANCELLED if the client disconnects; UNAVAILABLE if the server shuts
  ///   down.
  private func put(
    _ messages: RPCAsyncSequence<Sidelight_V1_PutAssetRequest, any Error>, by caller: Caller,
    cancellation: ServerContext.RPCCancellationHandle
  ) async throws -> (DecodedUpload, isReplaced: Bool) {
    let timeout = self.engine.assets.configuration.uploadTimeout
    return try await withThrowingTaskGroup(of: DecodedUpload?.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await self.receive(messages, from: caller) }
      group.addTask {
        // Handlers must watch for cancellation: gRPC doesn't end them on a disconnect or a
        // shutdown.
        try await cancellation.cancelled
        if Task.isShuttingDownGracefully { throw GoogleRPCStatus.shuttingDown }
        throw RPCError(
          code: .cancelled, message: "The call was cancelled, or its deadline has passed.")
      }
      group.addTask {
        await self.engine.clock.wait(timeout)
        guard Task.isCancelled else {
          throw AssetError(
            reason: .timeout, field: "upload_timeout",
            description: "is \(timeout), and the upload has taken longer", limit: "\(timeout)")
        }
        return nil
      }
      while let upload = try await group.next() {
        guard let upload else { continue }
        return (upload, try self.engine.assets.put(upload.asset, of: upload.owner))
      }
      throw CancellationError()
    }
  }

  /// Receives a file, and decodes it when the scheduler grants a turn.
  private func receive(
    _ messages: RPCAsyncSequence<Sidelight_V1_PutAssetRequest, any Error>, from caller: Caller
  ) async throws -> DecodedUpload {
    let library = self.engine.assets
    var iterator = messages.makeAsyncIterator()
    let first = try await iterator.next()
    var upload = try AssetUpload(first, maxFileBytes: library.configuration.maxFileBytes)
    let participant = first?.header.participant ?? ""
    try ParticipantName.check(participant, field: "header.participant")
    let owner = caller.acting(for: participant).identity
    guard self.engine.compiler.catalogue.assets.asset(named: upload.name) == nil else {
      throw AssetError(
        reason: .nameTaken, field: "header.name",
        description: "is \"\(upload.name)\", which is provided by the server", value: upload.name)
    }
    // Reserved before the first chunk is stored, until the file is no longer needed.
    let lease = try library.reserveUpload(upload, of: owner)
    defer { extendLifetime(lease) }
    while let message = try await iterator.next() { try upload.append(message) }
    return DecodedUpload(asset: try await self.decode(try upload.finish(), of: owner), owner: owner)
  }

  /// Decodes a file on the compute threads. The scheduler grants turns to all uploads as to one
  /// session.
  private func decode(
    _ file: AssetUpload.Contents, of owner: CallerIdentity
  ) async throws -> StoredAsset {
    let reader = AssetReader(
      library: self.engine.assets, fonts: self.engine.compiler.catalogue.fonts,
      clock: self.engine.clock)
    return try await self.engine.processing.scheduler.withTurn(
      session: Self.sessionNumber, deadline: self.engine.clock.now() + Self.defaultBudget
    ) { _, _ in
      try await withTaskExecutorPreference(self.engine.processing.compute) {
        try await reader.read(file, of: owner)
      }
    }
  }

  /// The deadline assumed by the scheduler for decoding a file.
  private static let defaultBudget = Duration.seconds(1)
  /// The scheduler's session number shared by all uploads.
  private static let sessionNumber = UInt64.max - 1
}

extension Sidelight_V1_Asset {
  /// Describes an asset that a caller has uploaded.
  fileprivate init(_ stored: StoredAsset, of owner: CallerIdentity, at now: Duration) {
    self.init(stored.asset, named: stored.name)
    self.origin = owner.isParticipant ? .participant : .caller
    self.fileBytes = UInt64(stored.fileByteCount)
    self.memoryBytes = UInt64(stored.memoryByteCount)
    self.sha256 = Data(stored.digest)
    self.age = Google_Protobuf_Duration(milliseconds: now - stored.stored)
  }

  /// Describes an asset that the server provides.
  fileprivate init(_ asset: Asset, named name: String) {
    self.init()
    self.name = name
    self.origin = .server
    switch asset {
    case .image(let image):
      self.kind = .image
      self.width = UInt32(image.size.width)
      self.height = UInt32(image.size.height)
    case .cube(let cube):
      self.kind = .cube
      switch cube.shape {
      case .curves(let count): self.entries = UInt32(count)
      case .cube(let size):
        self.entries = UInt32(size)
        self.isCube = true
      }
    case .font(let font):
      self.kind = .font
      self.font = "\(font.family) \(font.style)"
    case .kernel(let kernel):
      self.kind = .kernel
      self.kernel = Sidelight_V1_FilterDescription(kernel.text.description)
    }
  }
}

extension Sidelight_V1_AssetLimits {
  init(_ configuration: AssetConfiguration) {
    self.init()
    self.maxFileBytes = UInt64(clamping: configuration.maxFileBytes)
    self.maxPixels = UInt64(clamping: configuration.maxPixels)
    self.maxAssetsPerCaller = UInt32(clamping: configuration.maxAssetsPerCaller)
    self.maxAssets = UInt32(clamping: configuration.maxAssets)
    self.maxMemoryBytesPerCaller = UInt64(clamping: configuration.maxMemoryBytesPerCaller)
    self.maxMemoryBytes = UInt64(clamping: configuration.maxMemoryBytes)
    self.maxUploadBytesPerCaller = UInt64(clamping: configuration.maxUploadBytesPerCaller)
    self.maxUploadBytes = UInt64(clamping: configuration.maxUploadBytes)
    self.maxChunks = UInt32(clamping: AssetConfiguration.maxChunks)
    self.uploadTimeout = Google_Protobuf_Duration(milliseconds: configuration.uploadTimeout)
    self.lifetime = Google_Protobuf_Duration(milliseconds: configuration.lifetime)
  }
}

extension Google_Protobuf_Duration {
  /// Creates a duration in whole milliseconds.
  fileprivate init(milliseconds duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self.init(seconds: seconds, nanos: Int32(attoseconds / 1_000_000_000_000_000) * 1_000_000)
  }
}
