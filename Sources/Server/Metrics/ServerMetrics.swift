package import Metrics
import SidelightKernels
import SidelightTransport
import Synchronization

/// What the server tells of itself through swift-metrics.
///
/// Times are recorded as they happen. What is counted anyway, by the sessions themselves, is read from
/// there when someone asks and once a second: it costs the frames nothing, and is exactly what the
/// clients are told.
package final class ServerMetrics: Sendable {
  /// Counters by what they count; each tells how much was added since the last time.
  private struct Totals {
    var counters: [String: Counter] = [:]
    var told: [String: UInt64] = [:]
  }

  /// Passes are named by the filters that clients put together; beyond so many names they are `other`.
  private static let passLimit = 64
  /// The most bytes of a pass's name.
  private static let passNameLimit = 256

  private let factory: any MetricsFactory
  private let frames: [String: Timer]
  private let queue: Timer
  private let passes = Mutex<[String: Timer]>([:])
  private let totals = Mutex(Totals())
  private let gauges: ServerGauges
  /// How long frames took lately, for the status page.
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
    self.gauges = ServerGauges(factory: factory)
  }

  // MARK: As it happens

  /// A frame has its outcome.
  package func recordFrame(outcome: String, after elapsed: Duration) {
    self.frames[outcome]?.recordNanoseconds(elapsed.nanoseconds)
    if outcome != "dropped" { self.recent.withLock { $0.add(elapsed) } }
  }

  /// A frame's turn has come.
  package func recordQueue(_ elapsed: Duration) {
    self.queue.recordNanoseconds(elapsed.nanoseconds)
  }

  /// A pass over a frame is done.
  package func recordPass(_ name: String, _ elapsed: Duration) {
    // A label's value is bounded, however many filters a pass computes.
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

  /// A call is over.
  func recordCall(method: String, status: String, _ elapsed: Duration) {
    Timer(
      label: "sidelight_rpc_seconds", dimensions: [("method", method), ("status", status)],
      factory: self.factory
    ).recordNanoseconds(elapsed.nanoseconds)
  }

  // MARK: When asked

  /// Tells what the server's parts have counted.
  func update(from engine: Engine) {
    let now = engine.clock.now()
    self.totals.withLock { totals in
      // Read within the lock: of two who ask at once, the later must not tell the older counts.
      let frames = engine.sessions.totals
      let pool = engine.pool.statistics
      let admissions = engine.sessions.admissions
      for disposition in [Disposition.filtered, .passedThrough, .degraded] {
        self.tell(
          frames.count(of: disposition), of: "sidelight_frames_total",
          [("outcome", disposition.name), ("reason", "none")], &totals)
      }
      for reason in DropReason.allCases {
        self.tell(
          frames.dropped[reason] ?? 0, of: "sidelight_frames_total",
          [("outcome", "dropped"), ("reason", reason.name)], &totals)
      }
      for (direction, bytes) in [("in", frames.bytesIn), ("out", frames.bytesOut)] {
        self.tell(bytes, of: "sidelight_frame_bytes_total", [("direction", direction)], &totals)
      }
      for (result, count) in [("hit", pool.hits), ("miss", pool.misses)] {
        self.tell(
          UInt64(count), of: "sidelight_pool_requests_total", [("result", result)], &totals)
      }
      self.tell(admissions.opened, of: "sidelight_sessions_opened_total", [], &totals)
      for limit in AdmissionLimit.allCases {
        self.tell(
          admissions.refused[limit] ?? 0, of: "sidelight_sessions_refused_total",
          [("limit", limit.rawValue)], &totals)
      }
      let connections = engine.connections.counts
      for end in ConnectionEnd.allCases {
        self.tell(
          connections.ended[end] ?? 0, of: "sidelight_connections_closed_total",
          [("reason", end.rawValue)], &totals)
      }
      for each in Guard.allCases {
        self.tell(
          UInt64(connections.guards[each] ?? 0), of: "sidelight_guard_actions_total",
          [("guard", each.rawValue)], &totals)
      }
      self.gauges.update(from: engine, frames: frames, pool: pool, at: now)
    }
  }

  private func tell(
    _ total: UInt64, of name: String, _ dimensions: [(String, String)], _ totals: inout Totals
  ) {
    let key = dimensions.reduce(name) { "\($0) \($1.1)" }
    let counter =
      totals.counters[key] ?? Counter(label: name, dimensions: dimensions, factory: self.factory)
    totals.counters[key] = counter
    let told = totals.told[key] ?? 0
    guard total > told else { return }
    counter.increment(by: total - told)
    totals.told[key] = total
  }
}

extension FrameCounts {
  fileprivate func count(of disposition: Disposition) -> UInt64 {
    switch disposition {
    case .filtered: self.filtered
    case .passedThrough: self.passedThrough
    case .degraded: self.degraded
    }
  }
}

extension Duration {
  /// Whole nanoseconds.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = self.components
    return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
  }
}
