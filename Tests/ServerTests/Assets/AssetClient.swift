import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf
import SidelightCodecs
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// A caller of `sidelight.v1.Assets` that uses only generated code.
struct AssetClient: Sendable {
  typealias Request = Sidelight_V1_PutAssetRequest

  let assets: Sidelight_V1_Assets.Client<HTTP2ClientTransport.Posix>
  /// The same caller's sessions.
  let stub: Stub

  static func with<Result: Sendable>(
    _ address: Address, _ body: (AssetClient) async throws -> Result
  ) async throws -> Result {
    try await withConnection(address) { client in
      try await body(AssetClient(assets: .init(wrapping: client), stub: .init(wrapping: client)))
    }
  }

  /// Sends messages, and closes its side.
  @discardableResult
  func send(_ messages: [Request]) async throws -> Sidelight_V1_PutAssetResponse {
    try await self.assets.putAsset { writer in
      for message in messages { try await writer.write(message) }
    }
  }

  /// Puts a file in one chunk.
  @discardableResult
  func put(
    _ name: String, _ file: [UInt8], participant: String = ""
  ) async throws -> Sidelight_V1_PutAssetResponse {
    var header = Request.header(name, file.count)
    header.header.participant = participant
    return try await self.send([header, .chunk(file)])
  }

  /// Begins an upload that stays open until `end` finishes.
  ///
  /// - Returns: The error of the upload; `nil` if it didn't fail.
  func begin(_ messages: [Request], until end: AsyncStream<Never>) async -> (any Error)? {
    do {
      _ = try await self.assets.putAsset { writer in
        for message in messages { try await writer.write(message) }
        for await _ in end {}
      }
      return nil
    } catch {
      return error
    }
  }

  func delete(_ name: String, participant: String = "") async throws {
    _ = try await self.assets.deleteAsset(
      .with {
        $0.name = name
        $0.participant = participant
      })
  }

  func names(participant: String = "") async throws -> [String] {
    try await self.assets.listAssets(.with { $0.participant = participant }).assets.map(\.name)
  }
}

extension Sidelight_V1_PutAssetRequest {
  static func header(_ name: String, _ size: Int, sha256: Data = Data()) -> Self {
    .with {
      $0.header.name = name
      $0.header.sizeBytes = UInt64(size)
      $0.header.sha256 = sha256
    }
  }

  static func chunk(_ bytes: [UInt8]) -> Self { .with { $0.chunk = Data(bytes) } }
}

/// Files to be put.
enum AssetFiles {
  /// A PNG of one colour, with straight alpha.
  static func png(_ width: Int, _ height: Int, _ color: [UInt8]) throws -> [UInt8] {
    var frame = try BufferPool().makeFrame(
      FrameGeometry(
        format: .rgba8, size: FrameSize(width: width, height: height),
        color: ColorDescription(alpha: .straight)))
    for y in 0 ..< height {
      frame.withMutableRow(y) { row in
        for x in 0 ..< 4 * width {
          row.storeBytes(of: color[x % 4], toByteOffset: x, as: UInt8.self)
        }
      }
    }
    return try ImageEncoder(.png()).encode(frame.finish())
  }

  static let red: [UInt8] = [255, 0, 0, 255]
  static let blue: [UInt8] = [0, 0, 255, 255]

  /// A table of curves that turns every colour into its negative.
  static let negative = Array("LUT_1D_SIZE 2\n1 1 1\n0 0 0\n".utf8)
}

/// The machine-readable part of a refusal.
struct AssetRefusal: Equatable {
  var code: RPCError.Code
  var reason: String
  var field: String
  var value: String?
  var limit: String?
  /// The fields of BadRequest, or the subjects of QuotaFailure.
  var violations: [String]

  init?(_ error: (any Error)?) {
    guard let error = error as? RPCError, let status = try? error.unpackGoogleRPCStatus(),
      let info = status.details.compactMap(\.errorInfo).first
    else { return nil }
    self.code = error.code
    self.reason = info.reason
    self.field = info.metadata["field"] ?? ""
    self.value = info.metadata["value"]
    self.limit = info.metadata["limit"]
    self.violations =
      status.details.compactMap(\.badRequest).flatMap { $0.violations.map(\.field) }
      + status.details.compactMap(\.quotaFailure).flatMap { $0.violations.map(\.subject) }
  }

  /// Returns the refusal of `body`.
  static func of<Result>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
  ) async throws -> AssetRefusal {
    let error = await #expect(throws: RPCError.self, sourceLocation: sourceLocation) {
      _ = try await body()
    }
    return try #require(
      AssetRefusal(error), "\(String(describing: error))", sourceLocation: sourceLocation)
  }
}
