import SidelightKernels
import SidelightWire
import Synchronization

extension Engine {
  /// What the server does at this moment.
  func status(in phase: ServerPhase) -> ServerStatus {
    let now = self.clock.now()
    let pool = self.pool.statistics
    return ServerStatus(
      version: SidelightVersion.current, phase: phase, uptime: (now - self.started) / .seconds(1),
      load: self.scheduler.load, computeThreads: self.compute.threadCount,
      poolBytesInUse: pool.bytesInUse, poolBytesIdle: pool.bytesIdle,
      frames: ServerStatus.Frames(self.sessions.totals), history: self.history.seconds,
      sessions: self.sessions.handles.map { $0.status(at: now, self.history.history(of: $0)) })
  }

  /// A second is over: metrics and history are brought up to date.
  func recordSecond() {
    self.metrics.update(from: self)
    let durations = self.metrics.recent.withLock { recent in
      defer { recent = DurationHistogram() }
      return recent
    }
    self.history.record(
      self.sessions.totals, durations, load: self.scheduler.load, sessions: self.sessions.handles)
  }
}

extension SessionHandle {
  fileprivate func status(
    at now: Duration, _ past: SessionHistory
  ) -> ServerStatus.SessionStatus {
    let info = self.info(at: now)
    return ServerStatus.SessionStatus(
      id: self.id, label: self.label, peer: info.peer, state: "\(info.state)",
      pipeline: info.pipeline,
      picture: info.width == 0 ? "" : "\(info.width)x\(info.height) \(info.format)",
      age: (now - self.opened) / .seconds(1), latency: Double(info.lastTotalUs) / 1000,
      made: past.delivered, dropped: past.dropped, latencies: past.latencies,
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
