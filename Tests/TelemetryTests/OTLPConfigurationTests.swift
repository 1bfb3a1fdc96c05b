import SidelightTelemetry
import Synchronization
import Testing

/// OpenTelemetry's environment variables.
@Suite struct OTLPConfigurationTests {
  static let endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"

  /// Returns the configuration from the variables, and the warnings.
  static func read(_ environment: [String: String]) -> (OTLPConfiguration?, warnings: [String]) {
    var warnings: [String] = []
    let configuration = withoutActuallyEscaping({ warnings.append($0) }) { warn in
      OTLPConfiguration(environment: environment, warn: warn)
    }
    return (configuration, warnings)
  }

  @Test(
    arguments: [
      [:], [endpoint: ""], [endpoint: "http://a:1", "OTEL_SDK_DISABLED": "TRUE"],
      [endpoint: "http://a:1", "OTEL_TRACES_EXPORTER": "none"], ["OTEL_SERVICE_NAME": "x"],
    ] as [[String: String]])
  func `tracing is disabled unless an endpoint or exporter is set`(environment: [String: String]) {
    let (configuration, warnings) = Self.read(environment)
    #expect(configuration == nil)
    #expect(warnings.isEmpty)
  }

  @Test func `the defaults are OpenTelemetry's`() throws {
    let (configuration, warnings) = Self.read(["OTEL_TRACES_EXPORTER": "otlp"])
    #expect(try #require(configuration) == OTLPConfiguration())
    #expect(warnings.isEmpty)
    #expect(configuration?.endpoint.description == "http://localhost:4317")
  }

  @Test func `settings for traces take precedence over those for all signals`() throws {
    let (configuration, _) = Self.read([
      Self.endpoint: "http://all:1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://traces:2/v1",
      "OTEL_EXPORTER_OTLP_HEADERS": "a=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "Key=a%20b, c=d=e",
      "OTEL_EXPORTER_OTLP_TIMEOUT": "1", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "1500",
    ])
    let read = try #require(configuration)
    #expect(read.endpoint == OTLPEndpoint(target: .tcp(host: "traces", port: 2), isSecure: true))
    #expect(
      read.headers == [OTLPHeader(name: "key", value: "a b"), OTLPHeader(name: "c", value: "d=e")])
    #expect(read.timeout == .milliseconds(1500))
  }

  @Test func `OTEL_SERVICE_NAME takes precedence over OTEL_RESOURCE_ATTRIBUTES`() {
    let (configuration, _) = Self.read([
      "OTEL_TRACES_EXPORTER": "otlp", "OTEL_SERVICE_NAME": "cameras",
      "OTEL_RESOURCE_ATTRIBUTES": "service.name=other,deployment.environment.name=test%2C%20here",
    ])
    #expect(configuration?.resource["service.name"] == "cameras")
    #expect(configuration?.resource["deployment.environment.name"] == "test, here")
  }

  @Test(
    arguments: [
      ("always_on", "", .always), ("ALWAYS_OFF", "", .never),
      ("traceidratio", "0.25", .ratio(0.25)),
      ("traceidratio", "", .ratio(1)), ("parentbased_always_on", "", .parentBased(root: .always)),
      ("parentbased_always_off", "", .parentBased(root: .never)),
      ("parentbased_traceidratio", "0", .parentBased(root: .ratio(0))),
    ] as [(String, String, Sampler)])
  func `samplers have OpenTelemetry's names`(name: String, argument: String, sampler: Sampler) {
    let (configuration, warnings) = Self.read([
      "OTEL_TRACES_EXPORTER": "otlp", "OTEL_TRACES_SAMPLER": name,
      "OTEL_TRACES_SAMPLER_ARG": argument,
    ])
    #expect(configuration?.sampler == sampler)
    #expect(warnings.isEmpty)
  }

  @Test func `variables set the sizes and delays of batches`() {
    let (configuration, warnings) = Self.read([
      "OTEL_TRACES_EXPORTER": "otlp", "OTEL_BSP_MAX_QUEUE_SIZE": "100",
      "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "10", "OTEL_BSP_SCHEDULE_DELAY": "250",
      "OTEL_BSP_EXPORT_TIMEOUT": "1000",
    ])
    #expect(configuration?.maxQueueSize == 100)
    #expect(configuration?.maxBatchSize == 10)
    #expect(configuration?.scheduleDelay == .milliseconds(250))
    #expect(configuration?.exportTimeout == .seconds(1))
    #expect(warnings.isEmpty)
  }

  @Test(
    arguments: [
      ("OTEL_TRACES_SAMPLER", "sometimes"), ("OTEL_BSP_MAX_QUEUE_SIZE", "0"),
      ("OTEL_BSP_MAX_QUEUE_SIZE", "many"), ("OTEL_BSP_SCHEDULE_DELAY", "-1"),
      ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"), ("OTEL_EXPORTER_OTLP_HEADERS", "a"),
      ("OTEL_EXPORTER_OTLP_HEADERS", "a=%zz"), ("OTEL_EXPORTER_OTLP_HEADERS", "a=%ff"),
      ("OTEL_RESOURCE_ATTRIBUTES", "=x"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
      ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
      ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "key.pem"), ("OTEL_SDK_DISABLED", "yes"),
      ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4096"),
      ("OTEL_EXPORTER_OTLP_INSECURE", "1"),
    ])
  func `an invalid value is ignored with a warning`(name: String, value: String) {
    let (configuration, warnings) = Self.read([
      "OTEL_TRACES_EXPORTER": "otlp", Self.endpoint: "http://localhost:4317", name: value,
    ])
    var expected = OTLPConfiguration()
    if name == "OTEL_BSP_MAX_EXPORT_BATCH_SIZE" { expected.maxBatchSize = expected.maxQueueSize }
    #expect(configuration == expected)
    #expect(warnings.count == 1)
    #expect(warnings.first?.hasPrefix(name) == true)
    #expect(warnings.first?.contains("%") == false, "headers may be secrets")
  }

  @Test func `an invalid ratio samples all traces, with a warning`() {
    for argument in ["1.5", "-1", "nan", "some"] {
      let (configuration, warnings) = Self.read([
        "OTEL_TRACES_EXPORTER": "otlp", "OTEL_TRACES_SAMPLER": "traceidratio",
        "OTEL_TRACES_SAMPLER_ARG": argument,
      ])
      #expect(configuration?.sampler == .ratio(1))
      #expect(warnings.count == 1)
    }
  }

  @Test(
    arguments: [
      ("http://collector:4317", "http://collector:4317"),
      ("http://collector", "http://collector:4317"),
      ("HTTPS://collector:1/path?x", "https://collector:1"), ("collector:1", "https://collector:1"),
      ("http://[::1]:1", "http://[::1]:1"), ("[::1]", "https://[::1]:4317"),
      ("unix:/run/collector", "unix:/run/collector"),
    ])
  func `an endpoint can be a URL, a host and port, or a Unix socket`(
    text: String, description: String
  ) {
    #expect(OTLPEndpoint(text)?.description == description)
  }

  @Test(
    arguments: [
      "http://", "ftp://collector", "http://:1", "http://a:0", "http://a:65536", "http://a:b",
      "http://[::1", "http://[::1]x", "http://user@host:1", "http://a b:1", "unix:",
    ])
  func `an invalid endpoint disables tracing`(text: String) {
    let (configuration, warnings) = Self.read([Self.endpoint: text])
    #expect(configuration == nil)
    #expect(warnings.count == 1)
  }
}
