/// A change of the pipeline that was refused. What was in force goes on.
public struct RejectedChange: Sendable, Hashable {
  /// Why a change was refused.
  public enum Cause: Sendable, Hashable {
    /// The change makes no pipeline that the server could run.
    case invalid
    /// Another revision is in force than `ifRevision` asked for.
    case otherRevision
    /// The connection was lost before the server answered, and `ifRevision` forbids to ask again:
    /// the change may or may not be in force.
    case connectionLost
  }

  /// What the call that asked for the change returned.
  public var requestID: UInt64
  /// Why.
  public var cause: Cause
  /// Why, for a person to read: the path of the fault, the value, the limit.
  public var message: String
}
