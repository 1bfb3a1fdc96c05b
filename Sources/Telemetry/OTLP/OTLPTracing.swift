public import Logging
public import Metrics

/// A tracer, and the service that sends what it makes.
public struct OTLPTracing: Sendable {
  /// Makes spans.
  public let tracer: OTLPTracer
  /// Sends them; spans wait, and then are dropped, while it does not run.
  public let exporter: OTLPExporter

  /// - Parameters:
  ///   - configuration: Where spans go, and which.
  ///   - logger: Told when the collector is gone, and when it is back.
  ///   - metrics: Counts what becomes of spans.
  public init(
    _ configuration: OTLPConfiguration, logger: Logger,
    metrics: any MetricsFactory = MetricsSystem.factory
  ) {
    let queue = SpanQueue(
      capacity: max(1, configuration.maxQueueSize), batchSize: max(1, configuration.maxBatchSize))
    self.tracer = OTLPTracer(sampler: configuration.sampler, queue: queue)
    self.exporter = OTLPExporter(configuration, queue: queue, logger: logger, metrics: metrics)
  }
}
