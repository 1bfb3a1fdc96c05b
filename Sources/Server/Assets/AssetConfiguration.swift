/// What callers may put, and for how long it is kept. The bounds hold before memory is taken.
public struct AssetConfiguration: Sendable, Hashable {
  /// - `maxFileBytes` (bytes, default: 16 MiB): the largest file. A `.cube` table of 65 entries a side
  ///   has some 8 MB.
  public var maxFileBytes = 16 << 20
  /// - `maxPixels` (count, default: 4096x2160): the largest picture, as its header states it.
  public var maxPixels = 4096 * 2160
  /// - `maxAssetsPerCaller` (count, default: 32): assets of one caller. 0: nobody puts any.
  public var maxAssetsPerCaller = 32
  /// - `maxAssets` (count, default: 1024): assets of all callers.
  public var maxAssets = 1024
  /// - `maxMemoryBytesPerCaller` (bytes, default: 256 MiB): what one caller's assets may take in memory,
  ///   those among them that were deleted and are still in use by sessions. A picture counts 16 bytes a
  ///   pixel, a table of 65 entries a side 8 MB.
  public var maxMemoryBytesPerCaller = 256 << 20
  /// - `maxMemoryBytes` (bytes, default: 1 GiB): the same of all callers.
  public var maxMemoryBytes = 1 << 30
  /// - `maxUploadBytesPerCaller` (bytes, default: 32 MiB): one caller's files that are on their way, as
  ///   their headers state them.
  public var maxUploadBytesPerCaller = 32 << 20
  /// - `maxUploadBytes` (bytes, default: 128 MiB): the same of all callers.
  public var maxUploadBytes = 128 << 20
  /// - `uploadTimeout` (duration, default: 60 s): how long an upload may take.
  public var uploadTimeout = Duration.seconds(60)
  /// - `lifetime` (duration, default: 10 min): how long assets are kept whose owner has no session, from
  ///   the last session's end, or the last time that one of them was put or used.
  public var lifetime = Duration.seconds(600)

  /// Chunks of an upload.
  static let maxChunks = 8192

  /// The defaults.
  public init() {}
}
