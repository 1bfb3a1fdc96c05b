extension TransportConfiguration {
  /// A configuration with a name.
  public enum Profile: String, Sendable, Hashable, CaseIterable {
    /// For live video: the least time from one end to the other.
    case latency
    /// For many streams on few connections, and for offline jobs.
    case throughput

    /// What the name stands for.
    public var configuration: TransportConfiguration {
      switch self {
      case .latency: .latency
      case .throughput: .throughput
      }
    }
  }

  /// For live video: calls are served on the event loops, and bytes go out at once.
  public static let latency = TransportConfiguration()

  /// For many streams on few connections, and for offline jobs: calls are served on all processors,
  /// whichever event loop their connection belongs to, and small writes go out together.
  public static let throughput: TransportConfiguration = {
    var configuration = TransportConfiguration()
    configuration.executor = .concurrent
    configuration.flushCoalescing = FlushCoalescing()
    return configuration
  }()

  /// The profile that this is, if it is one as it stands.
  public var profile: Profile? { Profile.allCases.first { $0.configuration == self } }
}
