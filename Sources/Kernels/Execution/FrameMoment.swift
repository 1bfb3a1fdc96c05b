/// Which frame of a stream is being filtered, for filters that change with time.
public struct FrameMoment: Sendable, Hashable {
  /// The frame's number in its stream. The same number gives the same noise.
  ///
  /// In a session of the server: how many frames arrived on the stream before it, those that were
  /// dropped or refused included.
  public var index: UInt64

  /// - Parameter index: The frame's number; 0 for a still image, unless it is to be filtered as
  ///   another frame of a session.
  public init(index: UInt64 = 0) {
    self.index = index
  }
}
