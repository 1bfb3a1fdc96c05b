import Logging
import SidelightKernels
import SidelightTransport
import SidelightWire
import Synchronization

/// The reports of a server: traces, metrics, logs, counts of connections, and the history of the
/// status page.
struct Observability: Sendable {
  let tracing: FrameTracing
  let metrics: ServerMetrics
  /// Counts connections and the actions of guards.
  let connections: ConnectionCounters
  let history = StatusHistory()
  let logger: Logger
  /// The time at which the server was created, on the sessions' clock.
  let started: Duration

  init(tracing: FrameTracing, metrics: ServerMetrics, logger: Logger, started: Duration) {
    self.tracing = tracing
    self.metrics = metrics
    self.connections = ConnectionCounters(logger: logger)
    self.logger = logger
    self.started = started
  }
}

extension Logger.Metadata {
  /// Returns the metadata with a participant's name, unless it is empty.
  func addingParticipant(_ name: String) -> Logger.Metadata {
    name.isEmpty ? self : self.merging(["participant": "\(name)"]) { own, _ in own }
  }
}

extension Engine {
  func status(in phase: ServerPhase) -> ServerStatus {
    let now = self.clock.now()
    let pool = self.processing.pool.statistics
    let sessions = self.admission.sessions
    let history = self.observability.history
    return ServerStatus(
      version: SidelightVersion.current, phase: phase,
      uptime: (now - self.observability.started) / .seconds(1),
      load: self.processing.scheduler.load,
      computeThreads: self.processing.compute.threadCount,
      poolBytesInUse: pool.bytesInUse, poolBytesIdle: pool.bytesIdle,
      frames: ServerStatus.Frames(sessions.totals), history: history.seconds,
      sessions: sessions.handles.map { $0.status(at: now, history.history(of: $0)) })
  }

  /// Updates metrics and history at the end of a second.
  func recordSecond() {
    let metrics = self.observability.metrics
    let sessions = self.admission.sessions
    metrics.update(from: self)
    let durations = metrics.recent.withLock { recent in
      defer { recent = DurationHistogram() }
      return recent
    }
    self.observability.history.record(
      sessions.totals, durations, load: self.processing.scheduler.load,
      sessions: sessions.handles)
  }
}

extension SessionHandle {
  fileprivate func status(
    at now: Duration, _ history: SessionHistory
  ) -> ServerStatus.SessionStatus {
    let info = self.info(at: now)
    return ServerStatus.SessionStatus(
      id: self.id, label: self.label, participant: self.identity.participant, peer: info.peer,
      state: "\(info.state)",
      pipeline: info.pipeline,
      picture: info.width == 0 ? "" : "\(info.width)x\(info.height) \(info.format)",
      age: (now - self.opened) / .seconds(1), latency: Double(info.lastTotalUs) / 1000,
      delivered: history.delivered, dropped: history.dropped, latencies: history.latencies,
      frames: ServerStatus.Frames(self.outcomes.counts))
  }
}

extension ServerStatus.Frames {
  fileprivate init(_ counts: FrameCounts) {
    self.init(
      received: counts.received, filtered: counts.filtered, passedThrough: counts.passedThrough,
      degraded: counts.degraded,
      dropped: Dictionary(
        uniqueKeysWithValues: counts.dropped.map { ($0.key.name, $0.value) }))
  }
}
