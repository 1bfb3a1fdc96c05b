/// The reason why a frame was dropped; raw values as in `sidelight.v1.DropReason`.
enum DropReason: Int, Sendable, Comparable, CaseIterable, CustomStringConvertible {
  case unknown = 0
  case superseded, queueFull, lateOnArrival, lateInPipeline, lateOnOutput, noCredit, rateLimited
  case paused, invalidFrame, stageFailed, draining, outputSuperseded
  /// The sender's window was closed, and a newer frame replaced this one.
  case notSent = 100

  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// The name in reports.
  var description: String {
    switch self {
    case .unknown: "other"
    case .superseded: "superseded"
    case .queueFull: "queue full"
    case .lateOnArrival: "late on arrival"
    case .lateInPipeline: "late in pipeline"
    case .lateOnOutput: "late on output"
    case .noCredit: "no credit"
    case .rateLimited: "rate limited"
    case .paused: "paused"
    case .invalidFrame: "invalid"
    case .stageFailed: "failed"
    case .draining: "draining"
    case .outputSuperseded: "output superseded"
    case .notSent: "not sent"
    }
  }
}
