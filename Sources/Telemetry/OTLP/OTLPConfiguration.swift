import Foundation

/// The configuration of tracing: the collector, the sampling and the batches.
public struct OTLPConfiguration: Sendable, Hashable {
  /// The address of the collector.
  public var endpoint = OTLPEndpoint()
  /// - `headers` (default: none): the metadata of requests, such as an API key; names in lower
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
  /// - `sampler` (default: the decision of the parent; traces without a parent are sampled).
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

/// A header of requests to the collector.
public struct OTLPHeader: Sendable, Hashable {
  /// The name, in lower case.
  public var name: String
  /// The value.
  public var value: String

  /// - Parameter name: The name in any case; it is sent in lower case.
  public init(name: String, value: String) {
    self.name = name.lowercased()
    self.value = value
  }
}

extension OTLPConfiguration {
  /// Reads OpenTelemetry's environment variables
  /// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables). An empty
  /// variable counts as not set; an invalid one is ignored with a warning.
  ///
  /// - Parameters:
  ///   - environment: The variables.
  ///   - warn: Called with a warning for every ignored variable.
  /// - Returns: `nil` if tracing is disabled: `OTEL_SDK_DISABLED` is true, `OTEL_TRACES_EXPORTER`
  ///   is `none`, or neither that variable nor an endpoint is set.
  public init?(environment: [String: String], warn: @escaping (String) -> Void) {
    let variables = EnvironmentReader(environment: environment, warn: warn)
    guard !variables.flag("OTEL_SDK_DISABLED") else { return nil }
    let endpointName = variables.firstSet("ENDPOINT")
    let exporter = variables.choice("OTEL_TRACES_EXPORTER", of: ["otlp", "none"])
    guard exporter == "otlp" || (exporter == nil && endpointName != nil) else { return nil }
    self.init()
    _ = variables.choice(variables.firstSet("PROTOCOL"), of: ["grpc"])
    _ = variables.choice(variables.firstSet("COMPRESSION"), of: ["none"])
    for suffix in ["CLIENT_KEY", "CLIENT_CERTIFICATE"] {
      if let name = variables.firstSet(suffix) {
        warn("\(name) is not supported and is ignored")
      }
    }
    if let endpointName, let text = variables[endpointName] {
      let isInsecure = variables.firstSet("INSECURE").map { variables.flag($0) } ?? false
      guard let endpoint = OTLPEndpoint(text, isInsecure: isInsecure) else {
        // Dropping spans is better than sending them to the wrong collector.
        warn("\(endpointName) is not a URL such as http://localhost:4317; no spans are sent")
        return nil
      }
      self.endpoint = endpoint
    }
    self.headers = variables.pairs(variables.firstSet("HEADERS")).map(OTLPHeader.init)
    self.certificateFile = variables.firstSet("CERTIFICATE").flatMap { variables[$0] }
    if let milliseconds = variables.milliseconds(variables.firstSet("TIMEOUT")) {
      self.timeout = milliseconds
    }
    for (key, value) in variables.pairs("OTEL_RESOURCE_ATTRIBUTES") { self.resource[key] = value }
    if let name = variables["OTEL_SERVICE_NAME"] { self.resource["service.name"] = name }
    if let sampler = variables.sampler { self.sampler = sampler }
    if let size = variables.count("OTEL_BSP_MAX_QUEUE_SIZE") { self.maxQueueSize = size }
    if let size = variables.count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE") { self.maxBatchSize = size }
    if self.maxBatchSize > self.maxQueueSize {
      if variables["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"] != nil {
        warn("OTEL_BSP_MAX_EXPORT_BATCH_SIZE exceeds the size of the queue, \(self.maxQueueSize)")
      }
      self.maxBatchSize = self.maxQueueSize
    }
    if let delay = variables.milliseconds("OTEL_BSP_SCHEDULE_DELAY") { self.scheduleDelay = delay }
    if let timeout = variables.milliseconds("OTEL_BSP_EXPORT_TIMEOUT") {
      self.exportTimeout = timeout
    }
  }
}

/// Reads variables using OpenTelemetry's rules.
private struct EnvironmentReader {
  let environment: [String: String]
  let warn: (String) -> Void

  /// The value of a variable. `nil` if it is not set or empty.
  subscript(name: String) -> String? {
    self.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Returns the variable for traces if it is set, else the one for all signals.
  func firstSet(_ suffix: String) -> String? {
    ["OTEL_EXPORTER_OTLP_TRACES_\(suffix)", "OTEL_EXPORTER_OTLP_\(suffix)"].first {
      self[$0] != nil
    }
  }

  func flag(_ name: String) -> Bool {
    switch self[name]?.lowercased() {
    case "true"?: return true
    case "false"?, nil: return false
    default:
      self.warn("\(name) is neither true nor false and counts as false")
      return false
    }
  }

  func choice(_ name: String?, of known: [String]) -> String? {
    guard let name, let value = self[name]?.lowercased() else { return nil }
    if known.contains(value) { return value }
    self.warn("\(name) is not one of \(known.joined(separator: ", ")) and is ignored")
    return nil
  }

  func count(_ name: String) -> Int? {
    self[name].flatMap { text in
      if let value = Int(text), (1 ... 1_000_000).contains(value) { return value }
      self.warn("\(name) is not a number from 1 to 1000000 and is ignored")
      return nil
    }
  }

  /// Returns a duration of at most a day.
  func milliseconds(_ name: String?) -> Duration? {
    guard let name else { return nil }
    return self[name].flatMap { text in
      if let value = Int(text), (1 ... 86_400_000).contains(value) { return .milliseconds(value) }
      self.warn("\(name) is not a number of milliseconds from 1 to 86400000 and is ignored")
      return nil
    }
  }

  /// Parses `KEY=VALUE,KEY=VALUE`, percent-encoded. An invalid element invalidates the whole list.
  func pairs(_ name: String?) -> [(String, String)] {
    guard let name, let text = self[name] else { return [] }
    var pairs: [(String, String)] = []
    for member in text.split(separator: ",") {
      let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let key = parts[0].decoded, !key.isEmpty,
        let value = parts[1].decoded
      else {
        // The value may be a secret, so the warning contains only the name.
        self.warn("\(name) is not a list such as key=value,key=value and is ignored")
        return []
      }
      pairs.append((key, value))
    }
    return pairs
  }

  var sampler: Sampler? {
    let known = [
      "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off",
      "parentbased_traceidratio",
    ]
    switch self.choice("OTEL_TRACES_SAMPLER", of: known) {
    case "always_on": return .always
    case "always_off": return .never
    case "traceidratio": return .ratio(self.ratio)
    case "parentbased_always_on": return .parentBased(root: .always)
    case "parentbased_always_off": return .parentBased(root: .never)
    case "parentbased_traceidratio": return .parentBased(root: .ratio(self.ratio))
    default: return nil
    }
  }

  private var ratio: Double {
    guard let text = self["OTEL_TRACES_SAMPLER_ARG"] else { return 1 }
    if let ratio = Double(text), (0 ... 1).contains(ratio) { return ratio }
    self.warn("OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1; all traces are sampled")
    return 1
  }
}

extension Substring {
  /// The text without spaces around it, with `%41` as `A`. `nil` if an escape is invalid or the
  /// result is not UTF-8.
  fileprivate var decoded: String? {
    self.trimmingCharacters(in: .whitespaces).removingPercentEncoding
  }
}

/// The address of a collector for OTLP over gRPC.
public struct OTLPEndpoint: Sendable, Hashable, CustomStringConvertible {
  /// The target of the connection.
  public enum Target: Sendable, Hashable {
    /// A host name or address, and a port.
    case tcp(host: String, port: Int)
    /// A Unix socket.
    case unix(path: String)
  }

  /// The target of the connection.
  public var target: Target
  /// Whether the connection uses TLS.
  public var isSecure: Bool

  /// The default: `http://localhost:4317`.
  public init(target: Target = .tcp(host: "localhost", port: 4317), isSecure: Bool = false) {
    self.target = target
    self.isSecure = isSecure
  }

  /// Parses an endpoint.
  ///
  /// - Parameters:
  ///   - text: `http://HOST:PORT`, `https://HOST:PORT`, `HOST:PORT` or `unix:PATH`. The default
  ///     port is 4317. A path after the port is ignored, because gRPC doesn't use it.
  ///   - isInsecure: Whether an endpoint without a scheme is connected to without TLS.
  /// - Returns: `nil` if the text doesn't have one of these forms.
  public init?(_ text: String, isInsecure: Bool = false) {
    if let path = text.dropping(prefix: "unix:") {
      guard !path.isEmpty else { return nil }
      self.init(target: .unix(path: String(path)), isSecure: false)
      return
    }
    let lowercased = text.lowercased()
    let (rest, isSecure): (Substring, Bool)
    if lowercased.hasPrefix("http://") {
      (rest, isSecure) = (text.dropFirst(7), false)
    } else if lowercased.hasPrefix("https://") {
      (rest, isSecure) = (text.dropFirst(8), true)
    } else if !text.contains("://") {
      (rest, isSecure) = (text[...], !isInsecure)
    } else {
      return nil
    }
    guard let target = Self.target(rest.prefix { $0 != "/" && $0 != "?" }) else { return nil }
    self.init(target: target, isSecure: isSecure)
  }

  /// The endpoint as a URL.
  public var description: String {
    switch self.target {
    case .unix(let path): "unix:\(path)"
    case .tcp(let host, let port):
      "\(self.isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
  }

  private static func target(_ authority: Substring) -> Target? {
    var host = authority
    var port: Substring?
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[authority.index(after: authority.startIndex) ..< end]
      let rest = authority[authority.index(after: end)...]
      guard rest.isEmpty || rest.first == ":" else { return nil }
      port = rest.isEmpty ? nil : rest.dropFirst()
    } else if let colon = authority.firstIndex(of: ":") {
      host = authority[..<colon]
      port = authority[authority.index(after: colon)...]
    }
    guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || $0 == "@" }) else { return nil }
    guard let port else { return .tcp(host: String(host), port: 4317) }
    guard let number = Int(port), (1 ... 65535).contains(number) else { return nil }
    return .tcp(host: String(host), port: number)
  }
}

extension String {
  fileprivate func dropping(prefix: String) -> Substring? {
    self.hasPrefix(prefix) ? self.dropFirst(prefix.count) : nil
  }
}
