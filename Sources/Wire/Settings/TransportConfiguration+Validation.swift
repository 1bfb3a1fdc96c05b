extension TransportConfiguration {
  /// Checks each setting against its range.
  ///
  /// - Throws: ``ConfigurationFault`` that names the first setting that is out of its range.
  public func validate() throws(ConfigurationFault) {
    try check("maxMessageBytes", self.maxMessageBytes, 64 << 10 ... 1 << 30)
    // RFC 9113, 6.5.2: the largest window is 2^31 - 1, the largest frame 2^24 - 1.
    try check("streamWindowBytes", self.streamWindowBytes, 64 << 10 ... 1 << 31 - 1)
    try check("http2FrameBytes", self.http2FrameBytes, 16 << 10 ... 1 << 24 - 1)
    try check("maxConcurrentStreams", self.maxConcurrentStreams, 1 ... 65536)
    try check("receiveBufferBytes", self.receiveBufferBytes, 4 << 10 ... 16 << 20)
    if let flush = self.flushCoalescing {
      try check("flushCoalescing.delay", flush.delay, .microseconds(1) ... .milliseconds(100))
      try check("flushCoalescing.bytes", flush.bytes, 1 << 10 ... 16 << 20)
    }
    try check("eventLoops", self.eventLoops, 1 ... 1024)
    try check("unixSocketBufferBytes", self.unixSocketBufferBytes, 4 << 10 ... 64 << 20)
    try check("connections", self.connections, 1 ... 1024)
    try check("allocator.mapThreshold", self.allocator.mapThreshold, 0 ... 32 << 20)
    try check("allocator.trimThreshold", self.allocator.trimThreshold, 0 ... 1 << 31 - 1)
    try check("allocator.topPad", self.allocator.topPad, 0 ... 1 << 30)
    try check("allocator.arenas", self.allocator.arenas, 1 ... 1024)
  }

  private func check<Value: Comparable>(
    _ setting: String, _ value: Value?, _ range: ClosedRange<Value>
  ) throws(ConfigurationFault) {
    guard let value, !range.contains(value) else { return }
    throw ConfigurationFault(
      setting: "transport.\(setting)", value: "\(value)",
      range: "\(range.lowerBound) to \(range.upperBound)")
  }
}
