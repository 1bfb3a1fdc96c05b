import SidelightWire
import Testing

@Suite struct TransportConfigurationTests {
  typealias Profile = TransportConfiguration.Profile

  @Test(arguments: Profile.allCases)
  func `each profile is within its ranges, and known by its name`(profile: Profile) throws {
    try profile.configuration.validate()
    #expect(profile.configuration.profile == profile)
  }

  @Test func `the defaults are the latency profile, and a change makes them custom`() {
    var configuration = TransportConfiguration()
    #expect(configuration.profile == .latency)
    configuration.streamWindowBytes /= 2
    #expect(configuration.profile == nil)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var setting: String
    var low: @Sendable (inout TransportConfiguration) -> Void
    var high: @Sendable (inout TransportConfiguration) -> Void
    var testDescription: String { self.setting }

    init(
      _ setting: String, _ path: any WritableKeyPath<TransportConfiguration, Int> & Sendable,
      _ range: ClosedRange<Int>
    ) {
      self.setting = setting
      self.low = { $0[keyPath: path] = range.lowerBound - 1 }
      self.high = { $0[keyPath: path] = range.upperBound + 1 }
    }

    init(
      _ setting: String, _ path: any WritableKeyPath<TransportConfiguration, Int?> & Sendable,
      _ range: ClosedRange<Int>
    ) {
      self.setting = setting
      self.low = { $0[keyPath: path] = range.lowerBound - 1 }
      self.high = { $0[keyPath: path] = range.upperBound + 1 }
    }
  }

  static let cases: [Case] = [
    Case("maxMessageBytes", \.maxMessageBytes, 65536 ... 1 << 30),
    Case("streamWindowBytes", \.streamWindowBytes, 65536 ... 2_147_483_647),
    Case("http2FrameBytes", \.http2FrameBytes, 16384 ... 16_777_215),
    Case("maxConcurrentStreams", \.maxConcurrentStreams, 1 ... 65536),
    Case("receiveBufferBytes", \.receiveBufferBytes, 4096 ... 16 << 20),
    Case("eventLoops", \.eventLoops, 1 ... 1024),
    Case("connections", \.connections, 1 ... 1024),
    Case("unixSocketBufferBytes", \.unixSocketBufferBytes, 4096 ... 64 << 20),
  ]

  @Test(arguments: cases)
  func `a setting out of its range is named, with its value and the range`(test: Case) {
    for change in [test.low, test.high] {
      var configuration = TransportConfiguration()
      change(&configuration)
      let error = #expect(throws: ConfigurationError.self) { try configuration.validate() }
      #expect(error?.setting == "transport.\(test.setting)")
    }
  }

  @Test func `a flush that waits for nothing, or too long, is refused`() {
    for flush: TransportConfiguration.FlushCoalescing in [
      .init(delay: .zero), .init(delay: .milliseconds(101)), .init(bytes: 1023),
    ] {
      var configuration = TransportConfiguration()
      configuration.flushCoalescing = flush
      let error = #expect(throws: ConfigurationError.self) { try configuration.validate() }
      #expect(error?.setting.hasPrefix("transport.flushCoalescing.") == true)
    }
  }
}
