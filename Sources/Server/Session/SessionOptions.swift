import Foundation
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
  /// Frames that may be without outcome: what the server granted when the session was opened.
  var framesInFlight: Int
  /// Frames that may wait before the lane.
  var mailboxDepth: Int
  /// The time from receipt in which a frame is of use, unless it says otherwise; `nil`: any.
  var budget: Duration?
  /// Frames a second beyond which frames are dropped evenly; `nil`: no limit.
  var maxFPS: Double?
  /// Pictures that may be unacknowledged; `nil` if the client does not acknowledge.
  var outputWindow: Int?
  /// Whether frames that no stage changes may come back without pixels.
  var allowUnmodified: Bool
  /// Whether frames come back without pixels, since only analyses are of interest.
  var analysisOnly: Bool
  /// Whether a cheaper variant of the pipeline may stand in before frames are dropped.
  var allowDegraded: Bool
  /// What happens to frames whose stage failed.
  var failurePolicy: FailurePolicy
  /// What comes back.
  var output: OutputShape
  /// How often counts are sent; `nil` for only at the end.
  var statsInterval: Duration?
  /// The ring that the client would like; `nil`: none.
  var sharedMemory: RingLayout?
  /// The first pipeline.
  var pipeline: Pipeline
  /// Restores an earlier session's state in place of `pipeline`.
  var resumeToken: Data?

  /// - Parameters:
  ///   - framesInFlight: The grant; a deeper mailbox would only hold more memory.
  ///   - limits: How large a frame may be.
  /// - Throws: ``FieldFault`` for a value outside its range, or a wish that this server cannot meet:
  ///   better refused at once than silently not done.
  init(
    _ open: Sidelight_V1_Open, framesInFlight: Int, limits: FrameLimits
  ) throws(FieldFault) {
    try ContractLimits.check(
      open.label, atMost: ContractLimits.maxLabelBytes, field: "open.label")
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
    self.framesInFlight = framesInFlight
    self.mailboxDepth = min(max(1, Int(open.mailboxDepth)), framesInFlight)
    // Where nothing is dropped a budget has no effect, and `opened` says so.
    self.budget =
      open.budgetUs == 0 || self.dropPolicy == .neverDrop ? nil : .microseconds(open.budgetUs)
    guard open.maxFps.isFinite, open.maxFps == 0 || (0.01 ... 1000).contains(open.maxFps) else {
      throw FieldFault(
        field: "open.max_fps", reason: "is \(open.maxFps), the range is 0.01 to 1000, or 0 for none"
      )
    }
    guard open.maxFps == 0 || self.dropPolicy != .neverDrop else {
      throw FieldFault(
        field: "open.max_fps",
        reason: "is \(open.maxFps), and frames beyond it would be dropped; leave it out with "
          + "NEVER_DROP")
    }
    self.maxFPS = open.maxFps == 0 ? nil : open.maxFps
    guard open.outputWindow <= 64 else {
      throw FieldFault(
        field: "open.output_window", reason: "is \(open.outputWindow), the limit is 64")
    }
    self.outputWindow = open.outputWindow == 0 ? nil : Int(open.outputWindow)
    self.statsInterval =
      open.hasStatsInterval
      ? try Duration(
        open.statsInterval, field: "open.stats_interval", in: .milliseconds(100) ... .seconds(3600))
      : nil
    self.allowUnmodified = open.allowUnmodified
    self.analysisOnly = open.analysisOnly
    self.allowDegraded = open.allowDegraded
    do throws(FieldFault) {
      self.failurePolicy = try FailurePolicy.stated(by: open.failurePolicy) ?? .passThrough
    } catch {
      throw error.within("open")
    }
    do throws(FieldFault) {
      self.output = try OutputShape(open.output, limits: limits, allowsPNG: false)
    } catch {
      throw error.within("open.output")
    }
    do throws(FieldFault) {
      self.sharedMemory = open.hasSharedMemory ? try RingLayout(open.sharedMemory) : nil
    } catch {
      throw error.within("open.shared_memory")
    }
    let limit = ContractLimits.maxResumeTokenBytes
    guard open.resumeToken.count <= limit else {
      throw FieldFault(
        field: "open.resume_token",
        reason: "has \(open.resumeToken.count) bytes; the limit is \(limit)")
    }
    self.resumeToken = open.resumeToken.isEmpty ? nil : open.resumeToken
    do throws(FieldFault) {
      self.pipeline = try Pipeline(open.pipeline)
    } catch {
      throw error.within("open.pipeline")
    }
  }
}

extension Duration {
  /// - Throws: ``FieldFault`` if it is outside `range`.
  init(
    _ wire: Google_Protobuf_Duration, field: String, in range: ClosedRange<Duration>
  ) throws(FieldFault) {
    let duration = Duration(
      secondsComponent: wire.seconds, attosecondsComponent: Int64(wire.nanos) * 1_000_000_000)
    guard range.contains(duration) else {
      throw FieldFault(
        field: field,
        reason: "is \(duration), the range is \(range.lowerBound) to \(range.upperBound)")
    }
    self = duration
  }
}

/// Which frames go when they come faster than they can be filtered.
package enum DropPolicy: Sendable, Hashable {
  /// A newer frame displaces the one that waits.
  case newestWins
  /// A frame that finds no room goes.
  case keepOldest
  /// None; the sender is held back.
  case neverDrop
}
