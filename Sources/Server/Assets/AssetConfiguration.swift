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
