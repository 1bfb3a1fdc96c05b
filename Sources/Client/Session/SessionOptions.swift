public import SidelightKernels

/// What a client asks of a session.
public struct SessionOptions: Sendable, Hashable {
  /// Who goes when frames come faster than they are filtered.
  public enum DropPolicy: Sendable, Hashable {
    /// The oldest that waits, here and at the server. For live video.
    case newestWins
    /// The newest, at the server; here `send` waits.
    case keepOldest
    /// None; `send` waits. For offline jobs.
    case neverDrop
  }

  /// The first pipeline. Default: empty, every frame passes through.
  public var pipeline: Pipeline
  /// Who goes. Default: ``DropPolicy/newestWins``.
  public var dropPolicy: DropPolicy
  /// What a person would call the track; at most 128 bytes.
  public var label: String
  /// Whether frames whose stage failed are dropped, instead of coming back as they were.
  public var dropsFailedFrames: Bool

  /// States what is asked; the defaults are for live video.
  public init(
    pipeline: Pipeline = [], dropPolicy: DropPolicy = .newestWins, label: String = "",
    dropsFailedFrames: Bool = false
  ) {
    self.pipeline = pipeline
    self.dropPolicy = dropPolicy
    self.label = label
    self.dropsFailedFrames = dropsFailedFrames
  }
}
