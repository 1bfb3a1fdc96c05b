package import Metrics
import SidelightKernels
import SidelightTransport
import SidelightWire
import Synchronization

/// The server's metrics, reported using swift-metrics.
///
/// Durations are recorded as they occur. Counts that sessions keep anyway are read once a second
/// and on request, which costs no time per frame, and equals the counts that clients receive.
package final class ServerMetrics: Sendable {
  /// The counters and gauges by name and labels, and the totals that the counters have reported.
  private struct Totals {
    var counters: [String: Counter] = [:]
    var reported: [String: UInt64] = [:]
    var gauges: [String: Gauge] = [:]
  }

  /// The maximum number of names of passes, which depend on clients' pipelines. Further passes are
  /// named `other`.
  private static let passLimit = 64
  /// The maximum length of a pass's name, in bytes.
  private static let passNameLimit = 256

  private let factory: any MetricsFactory
  private let frames: [String: Timer]
  private let queue: Timer
  private let passes = Mutex<[String: Timer]>([:])
  private let totals = Mutex(Totals())
  /// The durations of the frames of the last second, for the status page.
  let recent = Mutex(DurationHistogram())

  package init(factory: any MetricsFactory) {
    self.factory = factory
    let outcomes = ["filtered", "passed_through", "degraded", "dropped"]
    self.frames = Dictionary(
      uniqueKeysWithValues: outcomes.map { outcome in
        (
          outcome,
          Timer(
            label: "sidelight_frame_seconds", dimensions: [("outcome", outcome)], factory: factory)
        )
      })
    self.queue = Timer(label: "sidelight_frame_queue_seconds", factory: factory)
    self.totals.withLock { totals in
      let version = [("version", SidelightVersion.current)]
      self.set("sidelight_build_info", version, to: 1, &totals)
    }
  }

  // MARK: Events

  package func recordFrame(outcome: String, after elapsed: Duration) {
    self.frames[outcome]?.recordNanoseconds(elapsed.nanoseconds)
    if outcome != "dropped" { self.recent.withLock { $0.add(elapsed) } }
  }

  /// Records the time that a frame waited for its turn.
  package func recordQueue(_ elapsed: Duration) {
    self.queue.recordNanoseconds(elapsed.nanoseconds)
  }

  /// Records a pass over a frame.
  package func recordPass(_ name: String, _ elapsed: Duration) {
    // Bounds the label's value: a pass can have many filters.
    let name = name.clipped(toBytes: Self.passNameLimit)
    let timer = self.passes.withLock { passes in
      if let known = passes[name] { return known }
      let name = passes.count < Self.passLimit ? name : "other"
      if let known = passes[name] { return known }
      let timer = Timer(
        label: "sidelight_pass_seconds", dimensions: [("pass", name)], factory: self.factory)
      passes[name] = timer
      return timer
    }
    timer.recordNanoseconds(elapsed.nanoseconds)
  }

  /// Records the end of a call.
  func recordCall(method: String, status: String, _ elapsed: Duration) {
    Timer(
      label: "sidelight_rpc_seconds", dimensions: [("method", method), ("status", status)],
      factory: self.factory
    ).recordNanoseconds(elapsed.nanoseconds)
  }

  // MARK: Totals

  /// Reports the counts of the server's parts.
  func update(from engine: Engine) {
    let now = engine.clock.now()
    self.totals.withLock { totals in
      // Read within the lock: of two concurrent updates, the later must not report older counts.
      let frames = engine.admission.sessions.totals
      let pool = engine.processing.pool.statistics
      let admissions = engine.admission.sessions.admissions
      self.report(frames, of: "sidelight_frames_total", &totals)
      self.report(
        engine.admission.sessions.outputTotals, of: "sidelight_output_frames_total", &totals)
      for (direction, bytes) in [("in", frames.bytesIn), ("out", frames.bytesOut)] {
        self.report(bytes, of: "sidelight_frame_bytes_total", [("direction", direction)], &totals)
      }
      for (result, count) in [("hit", pool.hits), ("miss", pool.misses)] {
        self.report(
          UInt64(count), of: "sidelight_pool_requests_total", [("result", result)], &totals)
      }
      self.report(admissions.opened, of: "sidelight_sessions_opened_total", [], &totals)
      for limit in AdmissionLimit.allCases {
        self.report(
          admissions.refused[limit] ?? 0, of: "sidelight_sessions_refused_total",
          [("limit", limit.rawValue)], &totals)
      }
      let connections = engine.observability.connections.counts
      let assets = engine.assets.contents
      for end in ConnectionEnd.allCases {
        self.report(
          connections.ended[end] ?? 0, of: "sidelight_connections_closed_total",
          [("reason", end.rawValue)], &totals)
      }
      for each in Guard.allCases {
        self.report(
          UInt64(connections.guards[each] ?? 0), of: "sidelight_guard_actions_total",
          [("guard", each.rawValue)], &totals)
      }
      let gauges: [(name: String, state: String?, value: Double)] = [
        ("sidelight_sessions", nil, Double(engine.admission.sessions.count)),
        ("sidelight_frames_in_flight", nil, Double(frames.inFlight)),
        ("sidelight_output_age_seconds", nil, engine.outputAge(at: now) / .seconds(1)),
        ("sidelight_scheduler_load", nil, engine.processing.scheduler.load),
        ("sidelight_compute_threads", nil, Double(engine.processing.compute.threadCount)),
        (
          "sidelight_stand_in_threads", nil,
          Double(engine.processing.scheduler.overdueThreadCount)
        ),
        ("sidelight_connections", nil, Double(connections.open)),
        ("sidelight_pool_bytes", "in_use", Double(pool.bytesInUse)),
        ("sidelight_pool_bytes", "idle", Double(pool.bytesIdle)),
        ("sidelight_ring_bytes", nil, Double(engine.rings?.bytesReserved ?? 0)),
        ("sidelight_assets", nil, Double(assets.count)),
        ("sidelight_asset_bytes", "decoded", Double(assets.bytes)),
        ("sidelight_asset_bytes", "upload", Double(assets.uploadBytes)),
      ]
      for (name, state, value) in gauges {
        self.set(name, state.map { [("state", $0)] } ?? [], to: value, &totals)
      }
    }
  }

  /// Reports frames by outcome, and the dropped ones by reason.
  private func report(_ frames: FrameCounts, of name: String, _ totals: inout Totals) {
    for disposition in [FrameDisposition.filtered, .passedThrough, .degraded] {
      self.report(
        frames.count(of: disposition), of: name,
        [("outcome", disposition.name), ("reason", "none")], &totals)
    }
    for reason in DropReason.serverReasons {
      self.report(
        frames.dropped[reason] ?? 0, of: name,
        [("outcome", "dropped"), ("reason", reason.name)], &totals)
    }
  }

  private func report(
    _ total: UInt64, of name: String, _ dimensions: [(String, String)], _ totals: inout Totals
  ) {
    let key = dimensions.reduce(name) { "\($0) \($1.1)" }
    let counter =
      totals.counters[key] ?? Counter(label: name, dimensions: dimensions, factory: self.factory)
    totals.counters[key] = counter
    let reported = totals.reported[key] ?? 0
    guard total > reported else { return }
    counter.increment(by: total - reported)
    totals.reported[key] = total
  }

  private func set(
    _ name: String, _ dimensions: [(String, String)], to value: Double, _ totals: inout Totals
  ) {
    let key = dimensions.reduce(name) { "\($0) \($1.1)" }
    let gauge =
      totals.gauges[key] ?? Gauge(label: name, dimensions: dimensions, factory: self.factory)
    totals.gauges[key] = gauge
    gauge.record(value)
  }
}

extension Engine {
  /// The longest time since the arrival of the last frame that a session sent.
  fileprivate func outputAge(at now: Duration) -> Duration {
    self.admission.sessions.handles.compactMap { $0.outputAge(at: now) }.max() ?? .zero
  }
}

extension Duration {
  /// The duration in whole nanoseconds, limited to about 292 years.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = self.components
    let (nanoseconds, isOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !isOverflow else { return seconds < 0 ? .min : .max }
    return nanoseconds &+ attoseconds / 1_000_000_000
  }
}

extension SidelightServer {
  /// The help texts of the server's metrics, by name. Times are in seconds.
  public static let metricDescriptions = [
    "sidelight_asset_bytes":
      "Bytes of assets that callers have uploaded: decoded, including deleted assets that sessions "
      + "still use; and of files during upload.",
    "sidelight_assets": "Assets that callers have uploaded.",
    "sidelight_build_info": "Always 1; the label has the version.",
    "sidelight_compute_threads": "Threads that filter.",
    "sidelight_connections": "Open connections.",
    "sidelight_connections_closed_total":
      "Closed connections by reason: client, server (orderly), guard, tls, http2, socket, other.",
    "sidelight_frame_bytes_total": "Bytes of pixels that were received and sent.",
    "sidelight_frame_queue_seconds":
      "Time from a frame's arrival to the start of its first pass, for filtered frames.",
    "sidelight_frame_seconds": "Time from a frame's arrival to its outcome, by outcome.",
    "sidelight_frames_in_flight": "Frames whose outcome has not been sent.",
    "sidelight_frames_total":
      "Frames by outcome (filtered, passed_through, degraded, dropped) and by reason (none unless "
      + "dropped). Equals the outcomes that clients receive.",
    "sidelight_guard_actions_total":
      "Actions of each guard.",
    "sidelight_output_age_seconds":
      "Time since the arrival of the last frame that was sent; the maximum over all sessions in "
      + "which a frame waits.",
    "sidelight_output_frames_total":
      "Frames of named outputs, as sidelight_frames_total.",
    "sidelight_pass_seconds": "Duration of a pass over a frame, by its filters.",
    "sidelight_pool_bytes": "Bytes of frame buffers, in use and idle.",
    "sidelight_pool_requests_total":
      "Requests for frame buffers, by whether an idle buffer was available.",
    "sidelight_ring_bytes": "Bytes of mapped shared memory.",
    "sidelight_rpc_seconds": "Duration of calls, by method and status.",
    "sidelight_scheduler_load":
      "Work that arrives, relative to the capacity of the compute threads; above 1, frames are "
      + "dropped.",
    "sidelight_sessions": "Open sessions.",
    "sidelight_sessions_opened_total": "Sessions that were opened.",
    "sidelight_sessions_refused_total":
      "Sessions that were refused, by the limit that was reached.",
    "sidelight_stand_in_threads":
      "Threads that are occupied by filters whose turn is over, and that have replacement threads.",
  ]
}

/// A limit for which new sessions are refused.
package enum AdmissionLimit: String, Sendable, Hashable, CaseIterable {
  /// The sessions of all callers.
  case sessions = "max_sessions"
  /// The sessions of one caller.
  case sessionsPerCaller = "max_sessions_per_caller"
  /// The sessions of one participant.
  case sessionsPerParticipant = "max_sessions_per_participant"
  /// The load of the open sessions.
  case load = "max_load"
}

/// A histogram of durations in bounded memory. It divides each octave of nanoseconds into 32 equal
/// parts, so the error of a percentile is 1.6 % at most.
package struct DurationHistogram: Sendable {
  private static let partBits = 5
  private static let partCount = 1 << partBits

  /// The parts per power of two from 1 ns on. Durations below 32 ns are counted exactly.
  private var counts = [Int](repeating: 0, count: 64 * partCount)
  /// The number of durations.
  package private(set) var count = 0

  package init() {}

  /// Adds a duration; a negative one counts as zero.
  package mutating func add(_ duration: Duration) {
    let nanoseconds = UInt64(min(max(duration / .nanoseconds(1), 0), 0x1p62))
    self.counts[Self.index(nanoseconds)] += 1
    self.count += 1
  }

  /// Returns the duration that `percent` hundredths of all durations do not exceed, if any.
  package func percentile(_ percent: Int) -> Duration? {
    guard self.count > 0 else { return nil }
    let rank = (self.count - 1) * percent / 100
    var before = 0
    for (index, count) in self.counts.enumerated() {
      before += count
      if before > rank { return .nanoseconds(Int64(Self.middle(index))) }
    }
    return nil
  }

  /// Returns the index of a duration: exact below 32 ns; above, the octave and the five bits that
  /// follow the leading one.
  private static func index(_ nanoseconds: UInt64) -> Int {
    guard nanoseconds >= UInt64(self.partCount) else { return Int(nanoseconds) }
    let shift = nanoseconds.bitWidth - 1 - nanoseconds.leadingZeroBitCount - self.partBits
    return (shift + 1) * self.partCount + Int(nanoseconds >> shift) - self.partCount
  }

  private static func middle(_ index: Int) -> UInt64 {
    let shift = index / self.partCount - 1
    guard shift >= 0 else { return UInt64(index) }
    let low = UInt64(self.partCount + index % self.partCount) << shift
    return low + (1 << shift) / 2
  }
}
