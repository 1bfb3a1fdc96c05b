import GRPCCore
import GRPCProtobuf
import SidelightWire
import SwiftProtobuf
import Testing

/// The parts of a field's error, as a generated client reads them from the details of a status.
struct ErrorParts: Hashable {
  var code: RPCError.Code
  /// The field of BadRequest.
  var field: String
  /// The reason of ErrorInfo.
  var reason: String
  /// The metadata of ErrorInfo.
  var metadata: [String: String]

  var line: Int? { self.metadata["line"].flatMap { Int($0) } }
  var column: Int? { self.metadata["column"].flatMap { Int($0) } }
  var utf8Offset: Int? { self.metadata["utf8_offset"].flatMap { Int($0) } }
  var suggestion: String? { self.metadata["suggestion"] }
  var value: String? { self.metadata["value"] }
  var limit: String? { self.metadata["limit"] }

  /// `nil` if the status lacks BadRequest or ErrorInfo.
  init?(_ status: GoogleRPCStatus?) {
    guard let status, let info = status.details.compactMap(\.errorInfo).first,
      let violation = status.details.compactMap(\.badRequest).first?.violations.first
    else { return nil }
    self.code = status.code
    self.field = violation.field
    self.reason = info.reason
    self.metadata = info.metadata
  }

  /// Reads the error of a message within a session.
  init?(_ status: Google_Rpc_Status) throws {
    self.init(try GoogleRPCStatus(serializedBytes: try status.serializedBytes() as [UInt8]))
  }

  /// Returns the error with which a call ends.
  static func of<Result>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
  ) async throws -> ErrorParts {
    let error = await #expect(throws: RPCError.self, sourceLocation: sourceLocation) {
      _ = try await body()
    }
    return try #require(
      ErrorParts(try error?.unpackGoogleRPCStatus()), "\(String(describing: error))",
      sourceLocation: sourceLocation)
  }
}
