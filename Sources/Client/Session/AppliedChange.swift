/// A change of the pipeline that is in force: the next frame that comes back is the first made with
/// it.
public struct AppliedChange: Sendable, Hashable {
  /// The revision in force.
  public var revision: UInt64
  /// The first frame made with it.
  public var firstSequence: UInt64
  /// What the call that asked for the change returned. Earlier changes that no frame was made with
  /// are part of it, and are not told of. 0 for the first pipeline and for overrides.
  public var requestID: UInt64
}
