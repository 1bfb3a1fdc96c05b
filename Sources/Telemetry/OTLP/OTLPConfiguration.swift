/// The configuration of tracing: the collector, the sampling and the batches.
public struct OTLPConfiguration: Sendable, Hashable {
  /// The address of the collector.
  public var endpoint = OTLPEndpoint()
  /// - `headers` (default: none): the metadata of each request, such as an API key; names in lower
  ///   case.
  public var headers: [OTLPHeader] = []
  /// - `timeout` (duration, default: 10 s): the maximum duration of an attempt to send a batch.
  public var timeout = Duration.seconds(10)
  /// - `certificateFile` (path, optional): the trusted CA certificates, PEM. `nil` uses the
  ///   system's.
  public var certificateFile: String?
  /// - `resource` (default: `service.name` is `sidelight`, and the names of this exporter): the
  ///   attributes of the server.
  public var resource = [
    "service.name": "sidelight", "telemetry.sdk.name": "sidelight",
    "telemetry.sdk.language": "swift",
  ]
  /// - `sampler` (default: the decision of the parent; all traces that start here).
  public var sampler = Sampler.parentBased(root: .always)
  /// - `maxQueueSize` (count, default: 2048, at least 1): the maximum number of waiting spans.
  ///   Further spans are dropped and counted.
  public var maxQueueSize = 2048
  /// - `maxBatchSize` (count, default: 512, at least 1): the maximum number of spans per batch.
  public var maxBatchSize = 512
  /// - `scheduleDelay` (duration, default: 5 s): the maximum time that a span waits for others.
  public var scheduleDelay = Duration.seconds(5)
  /// - `exportTimeout` (duration, default: 30 s): the maximum duration of a batch, including
  ///   retries.
  public var exportTimeout = Duration.seconds(30)
  /// - `flushTimeout` (duration, default: 2 s): the maximum time that a shutdown waits for
  ///   remaining spans to be sent.
  public var flushTimeout = Duration.seconds(2)

  /// The defaults.
  public init() {}
}
