package import Metrics
import SidelightKernels
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
    var reported: [String: UInt64] = [:]
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
      let frames = engine.admission.sessions.totals
      let pool = engine.processing.pool.statistics
      let admissions = engine.admission.sessions.admissions
      for disposition in [Disposition.filtered, .passedThrough, .degraded] {
        self.report(
          frames.count(of: disposition), of: "sidelight_frames_total",
          [("outcome", disposition.name), ("reason", "none")], &totals)
      }
      for reason in DropReason.allCases {
        self.report(
          frames.dropped[reason] ?? 0, of: "sidelight_frames_total",
          [("outcome", "dropped"), ("reason", reason.name)], &totals)
      }
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
      self.gauges.update(from: engine, frames: frames, pool: pool, at: now)
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
}

extension Duration {
  /// Whole nanoseconds.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = self.components
    return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
  }
}

/// What stands at this moment, told to swift-metrics.
struct ServerGauges: Sendable {
  private let sessions: Gauge
  private let framesInFlight: Gauge
  private let outputAge: Gauge
  private let load: Gauge
  private let threads: Gauge
  private let replacementThreads: Gauge
  private let connections: Gauge
  private let poolInUse: Gauge
  private let poolIdle: Gauge
  private let rings: Gauge
  private let assets: Gauge
  private let assetMemory: Gauge
  private let assetUploads: Gauge

  init(factory: any MetricsFactory) {
    func gauge(_ label: String, _ dimensions: [(String, String)] = []) -> Gauge {
      Gauge(label: label, dimensions: dimensions, factory: factory)
    }
    self.sessions = gauge("sidelight_sessions")
    self.framesInFlight = gauge("sidelight_frames_in_flight")
    self.outputAge = gauge("sidelight_output_age_seconds")
    self.load = gauge("sidelight_scheduler_load")
    self.threads = gauge("sidelight_compute_threads")
    self.replacementThreads = gauge("sidelight_stand_in_threads")
    self.connections = gauge("sidelight_connections")
    self.poolInUse = gauge("sidelight_pool_bytes", [("state", "in_use")])
    self.poolIdle = gauge("sidelight_pool_bytes", [("state", "idle")])
    self.rings = gauge("sidelight_ring_bytes")
    self.assets = gauge("sidelight_assets")
    self.assetMemory = gauge("sidelight_asset_bytes", [("state", "decoded")])
    self.assetUploads = gauge("sidelight_asset_bytes", [("state", "upload")])
    gauge("sidelight_build_info", [("version", SidelightVersion.current)]).record(1)
  }

  func update(
    from engine: Engine, frames: FrameCounts, pool: BufferPool.Statistics, at now: Duration
  ) {
    self.sessions.record(engine.admission.sessions.count)
    self.framesInFlight.record(frames.inFlight)
    let ages = engine.admission.sessions.handles.compactMap { $0.outputAge(at: now) }
    self.outputAge.record((ages.max() ?? .zero) / .seconds(1))
    self.load.record(engine.processing.scheduler.load)
    self.threads.record(engine.processing.compute.threadCount)
    self.replacementThreads.record(engine.processing.scheduler.overdueThreadCount)
    self.connections.record(engine.observability.connections.counts.standing)
    self.poolInUse.record(pool.bytesInUse)
    self.poolIdle.record(pool.bytesIdle)
    self.rings.record(engine.rings?.bytesTaken ?? 0)
    let assets = engine.assets.contents
    self.assets.record(assets.count)
    self.assetMemory.record(assets.bytes)
    self.assetUploads.record(assets.uploadBytes)
  }
}

extension SidelightServer {
  /// What the server's metrics mean, by name: the help texts of Prometheus. Times are in seconds.
  public static let metricDescriptions = [
    "sidelight_asset_bytes":
      "Bytes of assets that callers have put: decoded, those that only sessions still use too; and of "
      + "files on their way.",
    "sidelight_assets": "Assets that callers have put.",
    "sidelight_build_info": "Always 1; the label says which version runs.",
    "sidelight_compute_threads": "Threads that filter.",
    "sidelight_connections": "Connections that stand.",
    "sidelight_connections_closed_total":
      "Connections that have ended, by the reason: client, server (in good order), guard, tls, http2, "
      + "socket, other.",
    "sidelight_frame_bytes_total": "Bytes of pixels that came in and went out.",
    "sidelight_frame_queue_seconds":
      "From a frame's arrival to the start of its first pass, for frames that were filtered.",
    "sidelight_frame_seconds": "From a frame's arrival to its outcome, by outcome.",
    "sidelight_frames_in_flight": "Frames of whose outcome the client was not told yet.",
    "sidelight_frames_total":
      "Frames by outcome (filtered, passed_through, degraded, dropped); the reason where they were "
      + "dropped, else none. Exactly what clients were told.",
    "sidelight_guard_actions_total":
      "How often each guard has acted.",
    "sidelight_output_age_seconds":
      "How long ago the last frame that went out had come in, in the session where that is longest; "
      + "of sessions in which a frame waits.",
    "sidelight_pass_seconds": "What one pass over a frame takes, by its filters.",
    "sidelight_pool_bytes": "Bytes of frame buffers, in use and idle.",
    "sidelight_pool_requests_total": "Frame buffers asked for, by whether one lay ready.",
    "sidelight_ring_bytes": "Bytes of the rings of shared memory that are mapped.",
    "sidelight_rpc_seconds": "How long calls took, by method and status.",
    "sidelight_scheduler_load":
      "The work that arrives, as a part of what the threads can do; above 1 frames are dropped.",
    "sidelight_sessions": "Sessions that stand.",
    "sidelight_sessions_opened_total": "Sessions that were let in.",
    "sidelight_sessions_refused_total": "Sessions that were not let in, by the limit that was met.",
    "sidelight_stand_in_threads":
      "Threads that filters occupy which have outstayed their turn, and for which others stand in.",
  ]
}
