import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// The limits by which the server accepts or refuses sessions, frames and still images.
struct Admission: Sendable {
  /// The open sessions, and the limits on new ones.
  let sessions: SessionRegistry
  /// The rates of frames and bytes per caller and participant.
  let rateLimiter: RateLimiter
  /// The use of quotas at the other servers of a fleet.
  let fleet = FleetQuotas()
  /// The memory of still images.
  let stillImages: StillBudget
  /// The size of a frame.
  let frameLimits: FrameLimits
  /// The limits that can change while sessions are open.
  private let sessionLimits: LockedValue<SessionLimits>
  /// The other limits, as clients receive them.
  private let fixedLimits: Sidelight_V1_Limits

  /// The bytes of a message that are not pixels: times, tags, a diagnostic.
  private static let messageOverhead = 8192

  init(_ configuration: ServerConfiguration, scheduler: FrameScheduler, clock: SessionClock) {
    let sessionLimits = SessionLimits(configuration)
    self.sessions = SessionRegistry(
      limits: sessionLimits.admission, scheduler: scheduler, fleet: self.fleet)
    self.rateLimiter = RateLimiter(configuration.quotas, clock: clock)
    self.stillImages = StillBudget(
      limit: configuration.guards.maxUnfinishedBytes,
      limitPerCaller: configuration.guards.maxUnfinishedBytesPerAddress)
    self.frameLimits = FrameLimits(
      maxDimension: FrameLayout.maxDimension, maxPixels: configuration.maxFramePixels,
      maxBytes: configuration.transport.maxMessageBytes - Self.messageOverhead)
    self.sessionLimits = LockedValue(sessionLimits)
    self.fixedLimits = .with {
      $0.maxMessageBytes = UInt64(configuration.transport.maxMessageBytes)
      $0.maxDimension = UInt32(FrameLayout.maxDimension)
      $0.maxPixels = UInt64(configuration.maxFramePixels)
      $0.addContractLimits()
      $0.streamWindowBytes = UInt32(configuration.transport.streamWindowBytes)
      $0.http2FrameBytes = UInt32(configuration.transport.http2FrameBytes)
      $0.maxConcurrentStreams = UInt32(configuration.transport.maxConcurrentStreams)
    }
  }

  /// The maximum number of a new session's frames without an outcome.
  var framesInFlight: Int { self.sessionLimits.value.framesInFlight }
  /// The time that a custom filter may take for a frame without a budget.
  var customFilterTimeout: Duration { self.sessionLimits.value.customFilterTimeout }
  /// The number of consecutive errors after which a session ends.
  var maxConsecutiveErrors: Int { self.sessionLimits.value.maxConsecutiveErrors }

  /// All limits, as clients receive them.
  var limits: Sidelight_V1_Limits {
    let sessions = self.sessionLimits.value
    var limits = self.fixedLimits
    limits.maxConsecutiveErrors = UInt32(clamping: sessions.maxConsecutiveErrors)
    limits.maxSessions = UInt32(clamping: sessions.admission.total)
    return limits
  }

  /// Applies the settings that can change while sessions are open.
  func reconfigure(_ configuration: ServerConfiguration) {
    let limits = SessionLimits(configuration)
    self.sessionLimits.value = limits
    self.sessions.setLimits(limits.admission)
    self.rateLimiter.quotas = configuration.quotas
  }
}

/// The limits of sessions that can change while sessions are open.
private struct SessionLimits: Sendable {
  var framesInFlight: Int
  var customFilterTimeout: Duration
  var maxConsecutiveErrors: Int
  var admission: SessionRegistry.Limits

  init(_ configuration: ServerConfiguration) {
    let range = ServerConfiguration.framesInFlightRange
    self.framesInFlight = min(
      max(range.lowerBound, configuration.framesInFlight), range.upperBound)
    self.customFilterTimeout = configuration.customFilterTimeout
    self.maxConsecutiveErrors = configuration.maxConsecutiveErrors
    self.admission = SessionRegistry.Limits(
      total: configuration.maxSessions, perCaller: configuration.quotas.sessions,
      perParticipant: configuration.quotas.participant.sessions, load: configuration.maxLoad)
  }
}

/// Bounds the bytes of still images that wait or are filtered. Calls wait for their turn with the
/// whole image in memory, and a caller can start any number of calls.
struct StillBudget: Sendable {
  private let budget: AddressBudget
  private let description: String

  /// - Parameters:
  ///   - limit: The bytes of all callers together.
  ///   - limitPerCaller: The bytes of one caller.
  init(limit: Int, limitPerCaller: Int) {
    self.budget = AddressBudget(limit: limit, limitPerAddress: limitPerCaller)
    self.description =
      "still images in progress may hold \(limitPerCaller) bytes per caller, \(limit) in total"
  }

  /// Reserves the bytes of an image until ``release(_:for:)``.
  ///
  /// - Throws: RESOURCE_EXHAUSTED with `QuotaFailure` and `RetryInfo` if the budget is used up.
  func reserve(_ byteCount: Int, for caller: String) throws(GoogleRPCStatus) {
    guard !self.budget.reserve(byteCount, for: caller) else { return }
    throw GoogleRPCStatus(
      code: .resourceExhausted,
      message: "The image of \(byteCount) bytes exceeds the budget: \(self.description).",
      details: .quotaFailure(violations: [.init(subject: caller, description: self.description)]),
      .retryInfo(delay: .seconds(1)))
  }

  /// Releases the bytes of an image.
  func release(_ byteCount: Int, for caller: String) {
    self.budget.release(byteCount, for: caller)
  }
}

/// The load that a new session would find, relative to the capacity of the compute threads.
///
/// The scheduler divides the threads fairly, so a session that demands more than its share only
/// loses its own frames. Therefore a session's demand counts up to a sixteenth of the capacity, and
/// the sessions of another caller count together up to that caller's fair share: a few costly
/// sessions do not close the server to modest ones. Many sessions still do, once a new one would
/// lose every second frame.
package struct AdmissionLoad: Sendable {
  /// The work that arrives for a session.
  package struct Demand: Sendable {
    /// The session's caller, if known.
    package var caller: String?
    /// The work, relative to the capacity of the threads.
    package var work: Double

    package init(caller: String?, work: Double) {
      self.caller = caller
      self.work = work
    }
  }

  /// The maximum demand of a session that counts, and the minimum share of a caller.
  private static let share = 1.0 / 16

  /// The load; 2 means that every second frame of a new session would be lost.
  package let value: Double

  /// - Parameters:
  ///   - demands: The demands of the open sessions.
  ///   - caller: The caller of the new session, whose own sessions all count.
  package init(_ demands: [Demand], for caller: String) {
    var callers: [String?: Double] = [caller: 0]
    for demand in demands where demand.work > 0 {
      callers[demand.caller, default: 0] += min(demand.work, Self.share)
    }
    let fairShare = max(1 / Double(callers.count), Self.share)
    self.value = callers.reduce(0) { sum, entry in
      sum + (entry.key == caller ? entry.value : min(entry.value, fairShare))
    }
  }
}
