extension SettingTable {
  // A number without a unit counts mebibytes, as the names say.
  static let sharedMemory = Group(
    title: "Shared memory",
    settings: [
      Setting(
        "shared-memory.enabled", \.offersSharedMemory, Format.toggle, flag: "shared-memory",
        use: .common,
        "Exchange pixels in shared memory with clients on this host that request it."),
      Setting(
        "shared-memory.socket", \.sharedMemory.socketPath,
        Format.path(maxBytes: 107).optional(none: "in a new private directory"),
        "Path of the descriptor socket, from which clients fetch rings."),
      Setting(
        "shared-memory.session-mb", \.sharedMemory.maxSessionBytes,
        Format.size(1 << 20 ... 1 << 40, plain: 1 << 20), "Maximum size of a session's ring."),
      Setting(
        "shared-memory.mb", \.sharedMemory.maxBytes,
        Format.size(1 << 20 ... 1 << 40, plain: 1 << 20),
        "Maximum size of all rings."),
      Setting(
        "shared-memory.users", \.sharedMemory.userIDs, Format.userID.list(),
        flag: "shared-memory-user",
        """
        IDs of users, in addition to this one and root, whose processes may fetch rings; requires \
        shared-memory.socket.
        """),
      Setting(
        "shared-memory.token-lifetime", \.sharedMemory.tokenLifetime,
        Format.duration(.milliseconds(100) ... .seconds(3600)),
        "Time after the opening of a session in which its ring can be fetched."),
      Setting(
        "shared-memory.max-pending-connections", \.sharedMemory.maxPendingConnections,
        Format.count(1 ... 1024, of: "connections"),
        "Maximum number of descriptor connections that have not named their ring yet."),
      Setting(
        "shared-memory.companion-timeout", \.sharedMemory.companionTimeout,
        Format.duration(.milliseconds(10) ... .seconds(60)),
        "Maximum time for a descriptor connection to name its ring."),
    ])
}

extension SharedMemoryConfiguration {
  /// ``allowedUserIDs``, sorted.
  fileprivate var userIDs: [UInt32] {
    get { self.allowedUserIDs.sorted() }
    set { self.allowedUserIDs = Set(newValue) }
  }
}
