/// The reason why a frame was dropped. The client decides the first three, the server the others.
public enum DropReason: String, Sendable, Hashable, CaseIterable {
  /// A newer frame replaced it while it waited for credit on the client; or no other frame depends on
  /// it, and the server had no time for the last such frame.
  case supersededBeforeSending
  /// It was passed to `send` while disconnected, and was not sent.
  case disconnected
  /// It was at the server when the connection was lost. Whether it was filtered is not known.
  case connectionLost
  /// A newer frame replaced it in the server's mailbox.
  case superseded
  /// The server's mailbox was full of frames that take precedence.
  case queueFull
  /// Its budget was spent when it arrived, or too short for the expected work.
  case lateOnArrival
  /// Its budget was spent, or too short for the remaining work, before or between the passes.
  case lateInPipeline
  /// Its budget was spent before it was written.
  case lateOnOutput
  /// More frames were without an outcome than the server grants.
  case noCredit
  /// It exceeded the session's or the caller's rate.
  case rateLimited
  /// The session is paused.
  case paused
  /// The frame is invalid: the server could not read it.
  case invalidFrame
  /// A stage failed, and the failure policy is to drop.
  case stageFailed
  /// The server is shutting down.
  case draining
  /// A newer frame replaced it while it waited to be written.
  case outputSuperseded
  /// It depends on a frame of encoded video that is missing, damaged or was not decoded.
  case notDecodable
  /// A reason of a newer server, which is unknown to this version.
  case other

  /// The reasons decided by the server, in the order of the contract.
  package static let serverReasons = Self.allCases.filter {
    Sidelight_V1_DropReason($0) != .unspecified
  }

  /// The name in metrics and traces: the contract's name in lower case.
  package var name: String {
    self.rawValue.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
  }
}

/// The stage of processing at which a frame was dropped.
public enum DropStage: String, Sendable, Hashable {
  /// On the client.
  case client
  /// At the server, on arrival.
  case arrival
  /// At the server, in the mailbox.
  case mailbox
  /// In the pipeline.
  case pipeline
  /// At the server, in the queue of outcomes.
  case outbox
  /// Not known: the connection was lost, or the server is newer than this version.
  case unknown
}

// MARK: Messages

extension DropReason {
  package init(_ reason: Sidelight_V1_DropReason) {
    self = Self.serverReasons.first { Sidelight_V1_DropReason($0) == reason } ?? .other
  }
}

extension Sidelight_V1_DropReason {
  /// Creates a reason. A reason of the client is unspecified: it is not sent.
  package init(_ reason: DropReason) {
    self =
      switch reason {
      case .superseded: .superseded
      case .queueFull: .queueFull
      case .lateOnArrival: .lateOnArrival
      case .lateInPipeline: .lateInPipeline
      case .lateOnOutput: .lateOnOutput
      case .noCredit: .noCredit
      case .rateLimited: .rateLimited
      case .paused: .paused
      case .invalidFrame: .invalidFrame
      case .stageFailed: .stageFailed
      case .draining: .draining
      case .outputSuperseded: .outputSuperseded
      case .notDecodable: .notDecodable
      case .supersededBeforeSending, .disconnected, .connectionLost, .other: .unspecified
      }
  }
}

extension DropStage {
  package init(_ stage: Sidelight_V1_DropStage) {
    switch stage {
    case .arrival: self = .arrival
    case .mailbox: self = .mailbox
    case .pipeline: self = .pipeline
    case .outbox: self = .outbox
    case .unspecified, .UNRECOGNIZED: self = .unknown
    }
  }
}

extension Sidelight_V1_DropStage {
  /// Creates a stage. The client's own stage is unspecified: it is not sent.
  package init(_ stage: DropStage) {
    self =
      switch stage {
      case .arrival: .arrival
      case .mailbox: .mailbox
      case .pipeline: .pipeline
      case .outbox: .outbox
      case .client, .unknown: .unspecified
      }
  }
}

/// The frame to drop when frames arrive faster than they are filtered.
public enum DropPolicy: Sendable, Hashable {
  /// The oldest waiting frame, on the client and at the server. For live video.
  case newestWins
  /// The newest frame, at the server; on the client `send` waits.
  case keepOldest
  /// Frames are never dropped; `send` waits. For offline jobs.
  case neverDrop
}

extension Sidelight_V1_DropPolicy {
  package init(_ policy: DropPolicy) {
    self =
      switch policy {
      case .newestWins: .newestWins
      case .keepOldest: .keepOldest
      case .neverDrop: .neverDrop
      }
  }
}

/// The kind of result of a frame that comes back.
public enum FrameDisposition: String, Sendable, Hashable, CaseIterable {
  /// The pipeline filtered it in full.
  case filtered
  /// It is the input: all stages were inactive, the session is paused, or a stage failed.
  case passedThrough
  /// A cheaper variant of the pipeline filtered it, or a blur replaces it because a stage failed.
  case degraded

  /// The name in metrics and traces.
  package var name: String {
    switch self {
    case .filtered: "filtered"
    case .passedThrough: "passed_through"
    case .degraded: "degraded"
    }
  }
}

// MARK: Messages

extension FrameDisposition {
  /// Creates a disposition. Unknown values, which newer servers may use, count as filtered.
  package init(_ disposition: Sidelight_V1_Disposition) {
    switch disposition {
    case .degraded: self = .degraded
    case .passedThrough: self = .passedThrough
    case .filtered, .unspecified, .UNRECOGNIZED: self = .filtered
    }
  }
}

extension Sidelight_V1_Disposition {
  package init(_ disposition: FrameDisposition) {
    self =
      switch disposition {
      case .filtered: .filtered
      case .passedThrough: .passedThrough
      case .degraded: .degraded
      }
  }
}

/// The reason why the server needs a key frame.
public enum KeyFrameReason: Sendable, Hashable {
  /// The stream began without one.
  case start
  /// A frame is missing.
  case loss
  /// A frame is damaged.
  case damage
  /// Decoding takes more time than the budgets of the frames leave.
  case tooSlow
  /// A reason of a newer server, which is unknown to this version.
  case other

  package init(_ wire: Sidelight_V1_KeyFrameReason) {
    switch wire {
    case .start: self = .start
    case .loss: self = .loss
    case .damage: self = .damage
    case .tooSlow: self = .tooSlow
    case .unspecified, .UNRECOGNIZED: self = .other
    }
  }
}

extension Sidelight_V1_KeyFrameReason {
  package init(_ reason: KeyFrameReason) {
    self =
      switch reason {
      case .start: .start
      case .loss: .loss
      case .damage: .damage
      case .tooSlow: .tooSlow
      case .other: .unspecified
      }
  }
}
