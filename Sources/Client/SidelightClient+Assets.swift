import Foundation
import GRPCCore
import SidelightTransport
import SidelightKernels
public import SidelightWire
import SwiftProtobuf

extension SidelightClient {
  /// The bytes of a file in one message of an upload.
  private static let chunkByteCount = 256 << 10

  /// Uploads a file under a name for the pipelines of this caller: `overlay(asset: "hat")`. It
  /// replaces the caller's asset of that name; sessions keep the old one until they change their
  /// pipeline.
  ///
  /// ```swift
  /// try await client.putAsset(named: "hat", contents: png)
  /// session.select([.overlay(asset: "hat")])
  /// ```
  ///
  /// Servers have separate assets: if sessions may continue at another server, upload the assets
  /// there too.
  ///
  /// - Parameters:
  ///   - name: 1 to 64 of the characters A-Z a-z 0-9 . _ - /, the first a letter or a digit.
  ///   - contents: The file: a PNG or JPEG picture, a `.cube` table, or a kernel.
  ///   - sha256: The file's SHA-256, which the server verifies. `nil` disables the check.
  ///   - participant: The participant that owns the asset, as in ``SessionOptions/participant``.
  ///     Empty for an asset of the caller, which all of its participants may name.
  ///   - address: One of the client's servers. `nil` uses the first.
  /// - Returns: The server's description of the asset.
  /// - Throws: `RPCError`: INVALID_ARGUMENT for an invalid name or file, ALREADY_EXISTS for a name
  ///   that the server provides itself, RESOURCE_EXHAUSTED for an exceeded limit. The asset isn't
  ///   stored then, nor by a cancelled call, unless the server has already finished it.
  @discardableResult
  public func putAsset(
    named name: String, contents: [UInt8], sha256: [UInt8]? = nil, participant: String = "",
    at address: Address? = nil
  ) async throws -> AssetDescription {
    try await self.withAssets(at: address) { assets, options in
      let response = try await assets.putAsset(options: options) { writer in
        try await writer.write(
          .with {
            $0.header.name = name
            $0.header.sizeBytes = UInt64(contents.count)
            $0.header.participant = participant
            if let sha256 { $0.header.sha256 = Data(sha256) }
          })
        for start in stride(from: 0, to: contents.count, by: Self.chunkByteCount) {
          let end = min(start + Self.chunkByteCount, contents.count)
          try await writer.write(.with { $0.chunk = Data(contents[start ..< end]) })
        }
      }
      return AssetDescription(response.asset)
    }
  }

  /// Returns the assets that this caller's pipelines may name: its own, and the server's.
  ///
  /// - Parameters:
  ///   - participant: A participant, whose own assets are returned too. Empty for the caller.
  ///   - address: One of the client's servers. `nil` uses the first.
  /// - Throws: `RPCError`.
  public func listAssets(
    participant: String = "", at address: Address? = nil
  ) async throws -> [AssetDescription] {
    try await self.withAssets(at: address) { assets, options in
      try await assets.listAssets(.with { $0.participant = participant }, options: options).assets
        .map(AssetDescription.init)
    }
  }

  /// Deletes an asset that this caller uploaded. Sessions that use it keep it until they change
  /// their pipeline.
  ///
  /// - Parameters:
  ///   - name: The name of the asset.
  ///   - participant: The participant that owns the asset. Empty for an asset of the caller.
  ///   - address: One of the client's servers. `nil` uses the first.
  /// - Throws: `RPCError` with NOT_FOUND if the owner doesn't have an asset with that name.
  public func deleteAsset(
    named name: String, participant: String = "", at address: Address? = nil
  ) async throws {
    try await self.withAssets(at: address) { assets, options in
      _ = try await assets.deleteAsset(
        .with {
          $0.name = name
          $0.participant = participant
        }, options: options)
    }
  }

  private func withAssets<Result: Sendable>(
    at address: Address?,
    _ body:
      @Sendable (
        Sidelight_V1_Assets.Client<Dialer.ClientTransport>, CallOptions
      ) async throws -> Result
  ) async throws -> Result {
    let options = self.dialer.callOptions
    return try await self.dialer.withConnection(to: address ?? self.addresses[0]) { connection in
      try await body(Sidelight_V1_Assets.Client(wrapping: connection), options)
    }
  }
}

/// The server's description of an asset that the caller's pipelines may name.
public struct AssetDescription: Sendable, Hashable {
  /// The kind of contents.
  public enum Contents: Sendable, Hashable {
    /// A picture of a size.
    case image(FrameSize)
    /// A colour table: a cube with `entries` entries per side.
    case cube(entries: Int)
    /// A colour table: three curves with `entries` entries per curve.
    case curves(entries: Int)
    /// A font, with its family and style.
    case font(String)
    /// A kernel, by the name in its text, and the names of its parameters.
    case kernel(name: String, parameters: [String])
  }

  /// The name for pipelines.
  public let name: String
  /// The contents, or `nil` for a kind that is unknown to this library.
  public let contents: Contents?
  /// Whether the server provides it to all callers. Callers cannot replace or delete it.
  public let isProvidedByServer: Bool
  /// Whether it belongs to the participant that the request named.
  public let isOfParticipant: Bool
  /// The length of the file in bytes, or 0 for the server's own assets.
  public let fileByteCount: Int
  /// The bytes that it occupies in the server's memory at most, which count against the limits, or
  /// 0 for the server's own assets.
  public let memoryByteCount: Int
  /// The file's SHA-256, or empty for the server's own assets.
  public let sha256: [UInt8]

  init(_ wire: Sidelight_V1_Asset) {
    self.name = wire.name
    self.contents =
      switch wire.kind {
      case .image: .image(FrameSize(width: Int(wire.width), height: Int(wire.height)))
      case .cube where wire.isCube: .cube(entries: Int(wire.entries))
      case .cube: .curves(entries: Int(wire.entries))
      case .font: .font(wire.font)
      case .kernel:
        .kernel(name: wire.kernel.name, parameters: wire.kernel.parameters.map(\.name))
      default: nil
      }
    self.isProvidedByServer = wire.origin == .server
    self.isOfParticipant = wire.origin == .participant
    self.fileByteCount = Int(clamping: wire.fileBytes)
    self.memoryByteCount = Int(clamping: wire.memoryBytes)
    self.sha256 = [UInt8](wire.sha256)
  }
}
