import GRPCCore
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// What a client asked of a session in `open`, checked.
struct SessionOptions: Sendable {
  /// For logs and operators.
  var label: String
  /// Who goes when frames come too fast.
  var dropPolicy: DropPolicy
  /// Frames that may wait before the lane.
  var mailboxDepth: Int
  /// Whether frames that no stage changes may come back without pixels.
  var allowUnmodified: Bool
  /// Whether frames whose stage failed come back as they were, or are dropped.
  var dropsFailedFrames: Bool
  /// How often counts are sent; `nil` for only at the end.
  var statsInterval: Duration?
  /// The first pipeline.
  var pipeline: Pipeline

  /// - Throws: ``FieldFault`` for a value outside its range, or a wish that this server cannot meet:
  ///   better refused at once than silently not done.
  ///
  /// - Parameter framesInFlight: The grant; a deeper mailbox would only hold more memory.
  init(_ open: Sidelight_V1_Open, framesInFlight: Int) throws(FieldFault) {
    guard open.label.utf8.count <= 128 else {
      throw FieldFault(
        field: "open.label", reason: "has \(open.label.utf8.count) bytes, the limit is 128")
    }
    self.label = open.label
    self.dropPolicy =
      switch open.dropPolicy {
      case .unspecified, .newestWins: .newestWins
      case .keepOldest: .keepOldest
      case .neverDrop: .neverDrop
      case .UNRECOGNIZED(let value):
        throw FieldFault(field: "open.drop_policy", reason: "\(value) is no drop policy")
      }
    guard open.mailboxDepth <= 64 else {
      throw FieldFault(
        field: "open.mailbox_depth", reason: "is \(open.mailboxDepth), the limit is 64")
    }
    self.mailboxDepth = min(max(1, Int(open.mailboxDepth)), framesInFlight)
    if open.hasStatsInterval {
      let interval = Duration(
        secondsComponent: open.statsInterval.seconds,
        attosecondsComponent: Int64(open.statsInterval.nanos) * 1_000_000_000)
      guard interval >= .milliseconds(100), interval <= .seconds(3600) else {
        throw FieldFault(
          field: "open.stats_interval", reason: "is \(interval), the range is 100 ms to 1 h")
      }
      self.statsInterval = interval
    }
    self.allowUnmodified = open.allowUnmodified
    if case .UNRECOGNIZED(let value) = open.failurePolicy {
      throw FieldFault(field: "open.failure_policy", reason: "\(value) is no failure policy")
    }
    self.dropsFailedFrames = open.failurePolicy == .drop
    for (isAsked, field) in [
      (open.budgetUs != 0, "budget_us"), (open.hasOutput, "output"),
      (open.analysisOnly, "analysis_only"), (open.failurePolicy == .blur, "failure_policy"),
      (open.maxFps != 0, "max_fps"),
      (open.outputWindow != 0, "output_window"), (!open.resumeToken.isEmpty, "resume_token"),
    ] where isAsked {
      throw FieldFault(
        code: .unimplemented, field: "open.\(field)",
        reason: "this server does not offer it; see features in GetServerInfo")
    }
    do throws(FieldFault) {
      self.pipeline = try Pipeline(open.pipeline)
    } catch {
      throw error.within("open.pipeline")
    }
  }
}
