import Foundation
import GRPCCore
import GRPCProtobuf
import SidelightTransport
public import SidelightWire
import SwiftProtobuf

extension SidelightClient {
  /// What travels in one message of an upload.
  private static let chunkByteCount = 256 << 10

  /// Puts a file under a name, for the pipelines of this caller: `overlay(asset: "hat")`. What the
  /// caller has put under that name before is replaced; sessions keep it until they change their
  /// pipeline.
  ///
  /// ```swift
  /// try await client.putAsset(named: "hat", contents: png)
  /// session.select([.filter("overlay", ["asset": .text("hat")])])
  /// ```
  ///
  /// Each server keeps its own assets: where sessions may go on at another one, put them there too.
  ///
  /// - Parameters:
  ///   - name: 1 to 64 of the characters A-Z a-z 0-9 . _ - /, the first a letter or a digit.
  ///   - contents: The file: a PNG or JPEG picture, or a `.cube` table.
  ///   - sha256: What the file's SHA-256 should be, for the server to verify. None: it verifies nothing.
  ///   - address: Which of the client's servers. None: the first.
  /// - Returns: What the server made of it.
  /// - Throws: `RPCError`: INVALID_ARGUMENT for a name or a file that cannot be, ALREADY_EXISTS for a
  ///   name that the server provides itself, RESOURCE_EXHAUSTED for a limit that is met. Then nothing is
  ///   put. A call that is cancelled puts nothing either, unless it comes too late.
  @discardableResult
  public func putAsset(
    named name: String, contents: [UInt8], sha256: [UInt8]? = nil, at address: Address? = nil
  ) async throws -> AssetDescription {
    try await self.withAssets(at: address) { assets, options in
      let response = try await assets.putAsset(options: options) { writer in
        try await writer.write(
          .with {
            $0.header.name = name
            $0.header.sizeBytes = UInt64(contents.count)
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

  /// The assets that this caller's pipelines may name, by name: its own, and those that the server
  /// provides.
  ///
  /// - Parameter address: Which of the client's servers. None: the first.
  /// - Throws: `RPCError`.
  public func listAssets(at address: Address? = nil) async throws -> [AssetDescription] {
    try await self.withAssets(at: address) { assets, options in
      try await assets.listAssets(.init(), options: options).assets.map(AssetDescription.init)
    }
  }

  /// Deletes an asset of this caller's own. Sessions that use it keep it until they change their
  /// pipeline.
  ///
  /// - Parameter address: Which of the client's servers. None: the first.
  /// - Throws: `RPCError` with NOT_FOUND if the caller has put none of that name.
  public func deleteAsset(named name: String, at address: Address? = nil) async throws {
    try await self.withAssets(at: address) { assets, options in
      _ = try await assets.deleteAsset(.with { $0.name = name }, options: options)
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
