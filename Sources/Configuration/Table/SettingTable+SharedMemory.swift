extension SettingTable {
  // The mebibyte is the unit of numbers that stand alone, as in the names.
  static let sharedMemory = Group(
    title: "Shared memory",
    settings: [
      Setting(
        "shared-memory.enabled", \.offersSharedMemory, Form.toggle, flag: "shared-memory",
        use: .everyday,
        "Exchange pixels in shared memory with clients on this host that ask for it."),
      Setting(
        "shared-memory.socket", \.sharedMemory.socketPath,
        Form.path(maxBytes: 107).optional(none: "in a new folder that only this user can enter"),
        "Where rings are fetched."),
      Setting(
        "shared-memory.session-mb", \.sharedMemory.maxSessionBytes,
        Form.size(1 << 20 ... 1 << 40, plain: 1 << 20), "The largest ring of a session."),
      Setting(
        "shared-memory.mb", \.sharedMemory.maxBytes, Form.size(1 << 20 ... 1 << 40, plain: 1 << 20),
        "All rings at a time."),
      Setting(
        "shared-memory.users", \.sharedMemory.userIDs, Form.userID.list(),
        flag: "shared-memory-user",
        """
        Users beside this one and root whose processes may fetch rings, by number; needs \
        shared-memory.socket.
        """),
      Setting(
        "shared-memory.token-lifetime", \.sharedMemory.tokenLifetime,
        Form.duration(.milliseconds(100) ... .seconds(3600)),
        "How long after a session was opened its ring can be fetched."),
      Setting(
        "shared-memory.max-pending-connections", \.sharedMemory.maxPendingConnections,
        Form.count(1 ... 1024, of: "connections"),
        "Connections that have not said yet which ring they want; others are turned away."),
      Setting(
        "shared-memory.companion-timeout", \.sharedMemory.companionTimeout,
        Form.duration(.milliseconds(10) ... .seconds(60)),
        "How long such a connection may take to say it."),
    ])
}

extension SharedMemoryConfiguration {
  /// ``allowedUserIDs`` in an order.
  fileprivate var userIDs: [UInt32] {
    get { self.allowedUserIDs.sorted() }
    set { self.allowedUserIDs = Set(newValue) }
  }
}
