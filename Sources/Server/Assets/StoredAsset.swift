import SidelightKernels

/// An asset that a caller has put.
struct StoredAsset: Sendable {
  let name: String
  let asset: Asset
  /// The length of the file.
  let fileByteCount: Int
  /// What it counts in memory.
  let memoryByteCount: Int
  /// The file's SHA-256.
  let digest: [UInt8]
  /// When it was put, on the sessions' clock.
  let stored: Duration
}
