import SidelightKernels
import SidelightWire

/// The state of an upload. A pure state machine.
///
/// It begins with the header, continues with ``append(_:)`` per chunk, and ends with ``finish()``
/// when the client has closed its side, or with an error.
struct AssetUpload: Sendable {
  /// A complete file.
  struct Contents: Sendable {
    let name: String
    let bytes: [UInt8]
    /// The SHA-256 from the header, or empty.
    let digest: [UInt8]
  }

  let name: String
  /// The length of the file, from the header.
  let byteCount: Int
  private let digest: [UInt8]
  private var bytes: [UInt8] = []
  private var chunkCount = 0

  /// Begins with the first message.
  ///
  /// - Parameter maxFileBytes: The maximum size of a file, in bytes.
  /// - Throws: ``AssetError`` if the message is not a valid header.
  init(_ first: Sidelight_V1_PutAssetRequest?, maxFileBytes: Int) throws(AssetError) {
    guard case .header(let header)? = first?.part else {
      throw AssetError(reason: .order, field: "header", description: "must be the first message")
    }
    try AssetName.check(header.name, field: "header.name")
    guard header.sizeBytes > 0 else {
      throw AssetError(
        reason: .length, field: "header.size_bytes",
        description: "is 0; an asset must not be empty",
        value: "0", limit: "\(maxFileBytes)")
    }
    guard header.sizeBytes <= UInt64(maxFileBytes) else {
      throw AssetError(
        reason: .tooLarge, field: "header.size_bytes",
        description: "is \(header.sizeBytes), the limit (max_file_bytes) is \(maxFileBytes)",
        value: "\(header.sizeBytes)", limit: "\(maxFileBytes)")
    }
    guard [0, 32].contains(header.sha256.count) else {
      throw AssetError(
        reason: .digest, field: "header.sha256",
        description: "has \(header.sha256.count) bytes, a SHA-256 has 32",
        value: "\(header.sha256.count)", limit: "32")
    }
    self.name = header.name
    self.byteCount = Int(header.sizeBytes)
    self.digest = [UInt8](header.sha256)
  }

  /// Appends the next message.
  ///
  /// - Throws: ``AssetError`` if the message is not a chunk, or the chunk is empty or exceeds a
  ///   limit or the stated length.
  mutating func append(_ message: Sidelight_V1_PutAssetRequest) throws(AssetError) {
    switch message.part {
    case .chunk(let chunk)?:
      self.chunkCount += 1
      guard self.chunkCount <= AssetConfiguration.maxChunks else {
        throw AssetError(
          reason: .tooLarge, field: "chunk",
          description: "is one too many, the limit (max_chunks) is \(AssetConfiguration.maxChunks)",
          value: "\(self.chunkCount)", limit: "\(AssetConfiguration.maxChunks)")
      }
      guard !chunk.isEmpty else {
        throw AssetError(reason: .order, field: "chunk", description: "is empty")
      }
      guard chunk.count <= self.byteCount - self.bytes.count else {
        throw self.lengthError(Int(self.bytes.count) + chunk.count)
      }
      self.bytes.reserveCapacity(self.byteCount)
      self.bytes.append(contentsOf: chunk)
    case .header?:
      throw AssetError(reason: .order, field: "header", description: "was sent twice")
    case nil:
      throw AssetError(
        reason: .order, field: "part", description: "is neither a header nor a chunk")
    }
  }

  /// Ends the upload when the client has closed its side.
  ///
  /// - Throws: ``AssetError`` if the file is shorter than stated.
  consuming func finish() throws(AssetError) -> Contents {
    guard self.bytes.count == self.byteCount else { throw self.lengthError(self.bytes.count) }
    return Contents(name: self.name, bytes: self.bytes, digest: self.digest)
  }

  private func lengthError(_ count: Int) -> AssetError {
    AssetError(
      reason: .length, field: "header.size_bytes",
      description: "is \(self.byteCount), but the chunks have \(count) bytes",
      value: "\(count)", limit: "\(self.byteCount)")
  }
}

/// The rules for names of assets.
enum AssetName {
  /// The maximum length of a name, in bytes.
  static let maxByteCount = Pipeline.maxNameBytes

  /// Checks the name of a new asset.
  ///
  /// - Parameter field: The field of the request that has the name.
  /// - Throws: ``AssetError`` with reason ``AssetError/Reason/name``.
  static func check(_ name: String, field: String) throws(AssetError) {
    func invalid(_ description: String) -> AssetError { Self.invalid(name, field, description) }
    let bytes = name.utf8
    guard let first = bytes.first else { throw invalid("is empty") }
    try Self.checkLength(name, field: field)
    guard first.isLetter || first.isDigit,
      bytes.allSatisfy({ $0.isLetter || $0.isDigit || "._-/".utf8.contains($0) })
    else {
      throw invalid(
        "is \"\(name)\"; a name consists of A-Z a-z 0-9 . _ - / and begins with a letter or a digit"
      )
    }
    guard name != Asset.sourceName else {
      throw invalid("is \"\(name)\", which is reserved for the input frame")
    }
  }

  /// Checks only the length of a name.
  ///
  /// - Parameter field: The field of the request that has the name.
  /// - Throws: ``AssetError`` with reason ``AssetError/Reason/name``.
  static func checkLength(_ name: String, field: String) throws(AssetError) {
    let count = name.utf8.count
    guard count <= Self.maxByteCount else {
      throw Self.invalid(name, field, "has \(count) bytes, the limit is \(Self.maxByteCount)")
    }
  }

  private static func invalid(
    _ name: String, _ field: String, _ description: String
  ) -> AssetError {
    AssetError(
      reason: .name, field: field, description: description, value: name,
      limit: "1 to \(Self.maxByteCount) of A-Z a-z 0-9 . _ - /")
  }
}

/// The limits of the assets that callers upload, and their lifetime. The server checks the limits
/// before it allocates memory.
public struct AssetConfiguration: Sendable, Hashable {
  /// - `maxFileBytes` (bytes, default: 16 MiB): the largest file. A `.cube` table of 65 entries a
  ///   side has some 8 MB.
  public var maxFileBytes = 16 << 20
  /// - `maxPixels` (count, default: 4096x2160): the largest picture, by its header.
  public var maxPixels = 4096 * 2160
  /// - `maxAssetsPerCaller` (count, default: 32): assets of one caller. 0 disables uploads.
  public var maxAssetsPerCaller = 32
  /// - `maxAssets` (count, default: 1024): assets of all callers.
  public var maxAssets = 1024
  /// - `maxMemoryBytesPerCaller` (bytes, default: 256 MiB): memory of one caller's assets,
  ///   including deleted ones that sessions still use. A picture counts 16 bytes a pixel, a table
  ///   of 65 entries a side 8 MB.
  public var maxMemoryBytesPerCaller = 256 << 20
  /// - `maxMemoryBytes` (bytes, default: 1 GiB): the same for all callers.
  public var maxMemoryBytes = 1 << 30
  /// - `maxUploadBytesPerCaller` (bytes, default: 32 MiB): one caller's files during upload, by the
  ///   lengths in their headers.
  public var maxUploadBytesPerCaller = 32 << 20
  /// - `maxUploadBytes` (bytes, default: 128 MiB): the same for all callers.
  public var maxUploadBytes = 128 << 20
  /// - `uploadTimeout` (duration, default: 60 s): the time that an upload may take.
  public var uploadTimeout = Duration.seconds(60)
  /// - `lifetime` (duration, default: 10 min): the time for which assets are kept while their owner
  ///   is without sessions, from the end of the last session or the last upload or use of one of
  ///   them.
  public var lifetime = Duration.seconds(600)

  /// The maximum number of chunks of an upload.
  static let maxChunks = 8192

  /// The defaults.
  public init() {}
}
