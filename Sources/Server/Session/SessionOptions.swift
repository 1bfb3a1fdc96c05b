import Foundation
import GRPCCore
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// The valid options of a session: the client's `open`, and the fields that are checked or
/// converted.
struct SessionOptions: Sendable {
  /// The message, without pipeline and resume token. Fields of which every value is valid are read
  /// from it.
  let open: Sidelight_V1_Open
  /// The most frames in flight that a client can ask for.
  private static let maxRequestedFramesInFlight = 16

  /// The frames to drop when they arrive too fast.
  let dropPolicy: DropPolicy
  /// The maximum number of frames without an outcome, as granted when the session was opened.
  let framesInFlight: Int
  /// The maximum number of frames waiting in the mailbox.
  let mailboxDepth: Int
  /// The default time from a frame's receipt to its output. `nil` disables the limit.
  let budget: Duration?
  /// The frames per second beyond which frames are dropped evenly. `nil` disables the limit.
  let maxFPS: Double?
  /// The maximum number of unacknowledged pictures, or `nil` if the client does not acknowledge.
  let outputWindow: Int?
  /// The policy for frames whose stage failed.
  let failurePolicy: FailurePolicy
  /// The named outputs, if any.
  let outputs: [NamedOutput]
  /// The composition whose frames the session filters, or `nil` if the client sends frames.
  let composition: Composition?
  /// The form of the results; with named outputs, of the results that they start with.
  let output: OutputShape
  /// The settings of the encoder, if the results are encoded video.
  let encoder: EncoderRequest
  /// The interval at which counts are sent. `nil` sends them only at the end.
  let statsInterval: Duration?
  /// The shared memory requested by the client, if any.
  let sharedMemory: RingLayout?
  /// The only filters that pipelines may use; `nil` permits all.
  let allowedFilters: FilterNameList?
  /// The first pipeline.
  let pipeline: RequestedPipeline
  /// Restores the state of an earlier session instead of `pipeline`.
  let resumeToken: Data?

  /// - Parameters:
  ///   - framesInFlight: The grant to sessions that ask for no other one. The grant also limits the
  ///     mailbox: a deeper one would only use more memory.
  ///   - limits: The limits of a frame's size.
  /// - Throws: ``FieldViolation`` for a value outside its range, or an option that this server
  ///   doesn't support.
  init(
    _ open: Sidelight_V1_Open, framesInFlight: Int, limits: FrameLimits
  ) throws(FieldViolation) {
    try ContractLimits.check(
      open.label, atMost: ContractLimits.maxLabelBytes, field: "open.label")
    self.dropPolicy =
      switch open.dropPolicy {
      case .unspecified, .newestWins: .newestWins
      case .keepOldest: .keepOldest
      case .neverDrop: .neverDrop
      case .UNRECOGNIZED(let value):
        throw FieldViolation(
          field: "open.drop_policy", reason: "is \(value), which is not a drop policy")
      }
    try ContractLimits.check(open.mailboxDepth, atMost: 64, field: "open.mailbox_depth")
    try ContractLimits.check(
      open.framesInFlight, atMost: ServerConfiguration.framesInFlightRange.upperBound,
      field: "open.frames_in_flight")
    // Under NEVER_DROP the session holds every frame in flight.
    self.framesInFlight =
      open.framesInFlight == 0 || self.dropPolicy == .neverDrop
      ? framesInFlight
      : min(Int(open.framesInFlight), max(framesInFlight, Self.maxRequestedFramesInFlight))
    self.mailboxDepth = min(max(1, Int(open.mailboxDepth)), self.framesInFlight)
    // A session that never drops doesn't have a budget, and `opened` says so.
    self.budget =
      open.budgetUs == 0 || self.dropPolicy == .neverDrop ? nil : .microseconds(open.budgetUs)
    self.maxFPS = try Self.frameRate(open.maxFps, field: "open.max_fps")
    guard open.maxFps == 0 || self.dropPolicy != .neverDrop else {
      throw FieldViolation(
        field: "open.max_fps",
        reason: "is \(open.maxFps), and frames beyond it would be dropped; leave it out with "
          + "NEVER_DROP")
    }
    try ContractLimits.check(open.outputWindow, atMost: 64, field: "open.output_window")
    self.outputWindow = open.outputWindow == 0 ? nil : Int(open.outputWindow)
    self.statsInterval =
      open.hasStatsInterval
      ? try Duration(
        open.statsInterval, field: "open.stats_interval", in: .milliseconds(100) ... .seconds(3600))
      : nil
    self.failurePolicy = try FieldViolation.within("open") { () throws(FieldViolation) in
      try FailurePolicy.stated(by: open.failurePolicy) ?? .passThrough
    }
    let outputs = try NamedOutput.outputs(of: open, limits: limits)
    self.outputs = outputs
    self.composition = try Self.composition(of: open, self.dropPolicy, limits)
    (self.output, self.encoder) = try FieldViolation.within("open.output") {
      () throws(FieldViolation) in
      (
        outputs.isEmpty
          ? try OutputShape(open.output, limits: limits, allowsPNG: false) : .samples,
        try EncoderRequest(open.output.encoder)
      )
    }
    self.sharedMemory = try FieldViolation.within("open.shared_memory") {
      () throws(FieldViolation) in
      open.hasSharedMemory ? try RingLayout(open.sharedMemory) : nil
    }
    try ContractLimits.check(
      byteCount: open.resumeToken.count, atMost: ContractLimits.maxResumeTokenBytes,
      field: "open.resume_token")
    self.resumeToken = open.resumeToken.isEmpty ? nil : open.resumeToken
    self.allowedFilters = try .allowed(open.allowedFilters, field: "open.allowed_filters")
    self.pipeline = try FieldViolation.within("open") { () throws(FieldViolation) in
      try RequestedPipeline(open)
    }
    var open = open
    // They are large, and not needed any more.
    open.pipelineSource = nil
    open.resumeToken = Data()
    open.outputs = []
    open.clearComposition()
    open.unknownFields = UnknownStorage()
    self.open = open
  }

  /// Reads the composition, if any.
  private static func composition(
    of open: Sidelight_V1_Open, _ policy: DropPolicy, _ limits: FrameLimits
  ) throws(FieldViolation) -> Composition? {
    guard open.hasComposition else { return nil }
    guard policy != .neverDrop else {
      throw FieldViolation(
        field: "open.drop_policy",
        reason: "is NEVER_DROP, and a composition is live; leave one of them out")
    }
    guard !open.allowUnmodified else {
      throw FieldViolation(
        field: "open.allow_unmodified",
        reason: "is set beside open.composition, whose frames the client does not have; leave it "
          + "out")
    }
    return try FieldViolation.within("open.composition") { () throws(FieldViolation) in
      try Composition(open.composition, of: open.track, limits: limits)
    }
  }

  /// Reads a limit of the frame rate.
  ///
  /// - Returns: `nil` for 0, which disables the limit.
  static func frameRate(_ value: Double, field: String) throws(FieldViolation) -> Double? {
    guard value.isFinite, value == 0 || (0.01 ... 1000).contains(value) else {
      throw FieldViolation(
        field: field, reason: "is \(value), the range is 0.01 to 1000, or 0 for none",
        info: .outOfRange(value, limit: "0.01 ... 1000"))
    }
    return value == 0 ? nil : value
  }
}

extension Duration {
  /// - Throws: ``FieldViolation`` if the duration is outside `range`.
  init(
    _ wire: Google_Protobuf_Duration, field: String, in range: ClosedRange<Duration>
  ) throws(FieldViolation) {
    let duration = Duration(wire)
    guard range.contains(duration) else {
      throw FieldViolation(
        field: field,
        reason: "is \(duration), the range is \(range.lowerBound) to \(range.upperBound)",
        info: .outOfRange(duration, limit: "\(range.lowerBound) ... \(range.upperBound)"))
    }
    self = duration
  }
}

extension Sidelight_V1_Open {
  /// The track that the session belongs to.
  var track: Composition.Source {
    Composition.Source(participant: self.participant, label: self.label)
  }
}
