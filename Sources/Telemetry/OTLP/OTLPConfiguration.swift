/// Where spans go, which, and how.
public struct OTLPConfiguration: Sendable, Hashable {
  /// Where the collector is.
  public var endpoint = OTLPEndpoint()
  /// - `headers` (default: none): metadata of each request, such as a key for the collector; names in
  ///   lower case.
  public var headers: [OTLPHeader] = []
  /// - `timeout` (duration, default: 10 s): how long an attempt to send a batch may take.
  public var timeout = Duration.seconds(10)
  /// - `certificateFile` (path, optional): certificates in PEM by which a collector is trusted. None:
  ///   the system's.
  public var certificateFile: String?
  /// - `resource` (default: `service.name` is `sidelight`, and the names of this exporter): what the
  ///   server says of itself.
  public var resource = [
    "service.name": "sidelight", "telemetry.sdk.name": "sidelight",
    "telemetry.sdk.language": "swift",
  ]
  /// - `sampler` (default: as the parent was; all of the traces that begin here).
  public var sampler = Sampler.parentBased(root: .always)
  /// - `maxQueueSize` (count, default: 2048, at least 1): spans that may wait; others are dropped, and
  ///   counted.
  public var maxQueueSize = 2048
  /// - `maxBatchSize` (count, default: 512, at least 1): spans that are sent together.
  public var maxBatchSize = 512
  /// - `scheduleDelay` (duration, default: 5 s): how long a span waits for company.
  public var scheduleDelay = Duration.seconds(5)
  /// - `exportTimeout` (duration, default: 30 s): how long a batch may take, attempts and pauses together.
  public var exportTimeout = Duration.seconds(30)
  /// - `flushTimeout` (duration, default: 2 s): how long a shutdown waits for what is left to be sent.
  public var flushTimeout = Duration.seconds(2)

  /// The defaults.
  public init() {}
}
