extension SettingTable {
  // The profile stands before all that it sets: what follows is what an operator wants otherwise.
  static let transport = Group(
    title: "How frames travel",
    settings: [
      Setting(
        "transport.profile", \.profile, Form.choice(), flag: "profile", use: .everyday,
        """
        latency serves calls on the threads of their connections and sends at once; throughput serves \
        them on all processors and sends small messages together.
        """),
      Setting(
        "transport.executor", \.base.transport.executor, Form.choice(),
        "The threads on which calls are served: those of their connections, or Swift's own pool."),
      Setting(
        "transport.event-loops", \.base.transport.eventLoops,
        Form.count(1 ... 1024, of: "threads").optional(none: "one a processor"),
        flag: "event-loops",
        "Threads that carry connections."),
      Setting(
        "transport.max-message-bytes", \.base.transport.maxMessageBytes,
        Form.size(64 << 10 ... 1 << 30),
        flag: "max-message-bytes", "The largest message, each way; a 4K BGRA frame has 33 MB."),
      Setting(
        "transport.stream-window-bytes", \.base.transport.streamWindowBytes,
        Form.size(64 << 10 ... 1 << 31 - 1), flag: "stream-window-bytes",
        "HTTP/2's flow-control window of one stream."),
      Setting(
        "transport.http2-frame-bytes", \.base.transport.http2FrameBytes,
        Form.size(16 << 10 ... 1 << 24 - 1), flag: "http2-frame-bytes", "The largest HTTP/2 frame."),
      Setting(
        "transport.max-concurrent-streams", \.base.transport.maxConcurrentStreams,
        Form.count(1 ... 65536, of: "streams"), "Calls that one connection may have at a time."),
      Setting(
        "transport.receive-buffer-bytes", \.base.transport.receiveBufferBytes,
        Form.size(4 << 10 ... 16 << 20), "What is read from a socket at a time."),
      Setting(
        "transport.unix-socket-buffer-bytes", \.base.transport.unixSocketBufferBytes,
        Form.size(4 << 10 ... 64 << 20).optional(none: "the system's"),
        flag: "unix-socket-buffer-bytes", "The kernel's buffers of a Unix socket, each way."),
      Setting(
        "transport.flush-delay", \.flushDelay,
        Form.duration(.microseconds(1) ... .milliseconds(100)).orZero("not at all"),
        "How long what is written may wait for more."),
      Setting(
        "transport.flush-bytes", \.flushBytes, Form.size(1 << 10 ... 16 << 20),
        "The bytes from which on it does not wait."),
    ])
}
