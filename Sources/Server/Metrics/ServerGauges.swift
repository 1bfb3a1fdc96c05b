import Metrics
import SidelightKernels
import SidelightTransport

/// What stands at this moment, told to swift-metrics.
struct ServerGauges: Sendable {
  private let sessions: Gauge
  private let framesInFlight: Gauge
  private let outputAge: Gauge
  private let load: Gauge
  private let threads: Gauge
  private let standIns: Gauge
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
    self.standIns = gauge("sidelight_stand_in_threads")
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
    self.sessions.record(engine.sessions.count)
    self.framesInFlight.record(frames.inFlight)
    let ages = engine.sessions.handles.compactMap { $0.outputAge(at: now) }
    self.outputAge.record((ages.max() ?? .zero) / .seconds(1))
    self.load.record(engine.scheduler.load)
    self.threads.record(engine.compute.threadCount)
    self.standIns.record(engine.scheduler.outstayingThreads)
    self.connections.record(engine.connections.counts.open)
    self.poolInUse.record(pool.bytesInUse)
    self.poolIdle.record(pool.bytesIdle)
    self.rings.record(engine.rings?.bytesTaken ?? 0)
    let assets = engine.assets.contents
    self.assets.record(assets.count)
    self.assetMemory.record(assets.bytes)
    self.assetUploads.record(assets.uploadBytes)
  }
}
