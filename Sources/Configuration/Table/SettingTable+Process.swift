import Logging

extension SettingTable {
  static let compute = Group(
    title: "Threads that filter",
    settings: [
      Setting(
        "compute.threads", \.computeThreads,
        Form.count(1 ... 65536, of: "threads").optional(none: "one a processor"), use: .everyday,
        "Threads that filter."),
      Setting(
        "compute.niceness", \.base.computeNiceness, Form.count(0 ... 19),
        "How readily the threads that filter let those that carry gRPC go first."),
    ])

  static let workers = Group(
    title: "Worker processes",
    settings: [
      Setting(
        "workers.count", \.workers, Form.count(0 ... 64, of: "processes"), flag: "workers",
        use: .everyday,
        """
        Processes that serve, supervised by this one: what ends one of them, such as a trap in a filter, \
        ends its sessions alone. 0: this process serves.
        """)
    ])

  static let memory = Group(
    title: "Memory",
    settings: [
      Setting(
        "memory.allocator", \.allocator, Form.choice(), flag: "allocator",
        """
        frames keeps freed memory for the next frames, which are then two to three times as fast; \
        system leaves the C allocator as it is.
        """),
      Setting(
        "memory.max-idle-pool-bytes", \.base.maxIdlePoolBytes, Form.size(0 ... 1 << 40),
        "Idle frame buffers that are kept."),
      Setting(
        "memory.release-after", \.base.releaseMemoryAfter,
        Form.duration(.seconds(1) ... .seconds(86400)).orZero("never"),
        flag: "release-memory-after",
        "How often memory that nothing needs goes back; while frames come, if it is more than an eighth."
      ),
    ])

  static let shutdown = Group(
    title: "Shutdown",
    settings: [
      Setting(
        "shutdown.grace", \.shutdownGrace, Form.duration(.milliseconds(100) ... .seconds(3600)),
        use: .everyday, "What a shutdown may take; then whatever is left is cut off."),
      Setting(
        "shutdown.drain-timeout", \.base.drainTimeout,
        Form.duration(.milliseconds(10) ... .seconds(3600)),
        "How long sessions may take to finish; six tenths of the grace, at most 5 s, unless it is given."
      ),
    ])

  static let logs = Group(
    title: "Logs",
    settings: [
      Setting(
        "log.level", \.logLevel, Form.choice(), use: .everyday, change: .onReload,
        "The least level that is logged, to standard error."),
      Setting(
        "log.format", \.logFormat,
        Form.choice(LogFormat.self).optional(none: "text on a terminal, else json"),
        use: .everyday, "How the log looks."),
    ])
}
