public import Logging
public import Metrics

/// A tracer, and the service that sends its spans.
public struct OTLPTracing: Sendable {
  /// The tracer.
  public let tracer: OTLPTracer
  /// The exporter. Spans are queued, and then dropped, while it does not run.
  public let exporter: OTLPExporter

  /// - Parameters:
  ///   - configuration: The configuration.
  ///   - logger: The logger for failures of the collector.
  ///   - metrics: The metrics that count the outcomes of spans.
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
