extension SettingTable {
  // The profile comes before the settings that it sets, so that these override it.
  static let transport = Group(
    title: "Transport",
    settings: [
      Setting(
        "transport.profile", \.profile, Format.choice(), flag: "profile", use: .common,
        """
        latency serves calls on the threads of their connections and sends at once; throughput \
        serves them on all processors and combines small messages.
        """),
      Setting(
        "transport.executor", \.base.transport.executor, Format.choice(),
        "Threads that serve calls: those of their connections, or Swift's own pool."),
      Setting(
        "transport.event-loops", \.base.transport.eventLoops,
        Format.count(1 ... 1024, of: "threads").optional(none: "one per processor"),
        flag: "event-loops", "Number of threads that serve connections."),
      Setting(
        "transport.max-message-bytes", \.base.transport.maxMessageBytes,
        Format.size(64 << 10 ... 1 << 30),
        flag: "max-message-bytes",
        "Maximum size of a message, each way; a 4K BGRA frame has 33 MB."),
      Setting(
        "transport.stream-window-bytes", \.base.transport.streamWindowBytes,
        Format.size(64 << 10 ... 1 << 31 - 1), flag: "stream-window-bytes",
        "HTTP/2 flow-control window of a stream."),
      Setting(
        "transport.http2-frame-bytes", \.base.transport.http2FrameBytes,
        Format.size(16 << 10 ... 1 << 24 - 1), flag: "http2-frame-bytes",
        "Maximum size of an HTTP/2 frame."),
      Setting(
        "transport.max-concurrent-streams", \.base.transport.maxConcurrentStreams,
        Format.count(1 ... 65536, of: "streams"),
        "Maximum number of concurrent calls per connection."),
      Setting(
        "transport.receive-buffer-bytes", \.base.transport.receiveBufferBytes,
        Format.size(4 << 10 ... 16 << 20), "Size of a read from a socket."),
      Setting(
        "transport.unix-socket-buffer-bytes", \.base.transport.unixSocketBufferBytes,
        Format.size(4 << 10 ... 64 << 20).optional(none: "chosen by the system"),
        flag: "unix-socket-buffer-bytes",
        "Size of the kernel's buffers of a Unix socket, each way."),
      Setting(
        "transport.flush-delay", \.flushDelay,
        Format.duration(.microseconds(1) ... .milliseconds(100)).orZero("no delay"),
        "Maximum time that a write waits to be combined with others."),
      Setting(
        "transport.flush-bytes", \.flushBytes, Format.size(1 << 10 ... 16 << 20),
        "Number of pending bytes at which a write does not wait."),
    ])
}
