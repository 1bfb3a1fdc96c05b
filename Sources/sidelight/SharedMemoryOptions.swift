import ArgumentParser
import SidelightServer

/// Options of `serve` for clients on the same host.
struct SharedMemoryOptions: ParsableArguments {
  @Flag(
    name: .customLong("shared-memory"),
    help: "Exchange pixels in shared memory with clients on this host that ask for it.")
  var isOffered = false

  @Option(
    name: .customLong("shared-memory-socket"),
    help: ArgumentHelp(
      "Where rings are fetched. (default: in a new folder that only this user can enter)",
      valueName: "path"))
  var socketPath: String?

  @Option(
    name: .customLong("shared-memory-session-mb"),
    help: ArgumentHelp("The largest ring of a session, in MiB.", valueName: "count"))
  var sessionMegabytes = SharedMemoryConfiguration().maxSessionBytes >> 20

  @Option(
    name: .customLong("shared-memory-mb"),
    help: ArgumentHelp("All rings at a time, in MiB.", valueName: "count"))
  var megabytes = SharedMemoryConfiguration().maxBytes >> 20

  @Option(
    name: .customLong("shared-memory-user"),
    help: ArgumentHelp(
      """
      A user beside this one and root whose processes may fetch rings, by number. May be repeated. \
      Needs --shared-memory-socket.
      """, valueName: "uid"))
  var users: [UInt32] = []

  func validate() throws {
    for (name, value) in [
      ("--shared-memory-session-mb", self.sessionMegabytes), ("--shared-memory-mb", self.megabytes),
    ] where !(1 ... 1 << 20).contains(value) {
      throw ValidationError("\(name) is \(value), the range is 1 to \(1 << 20).")
    }
    if let path = self.socketPath, !(1 ... 107).contains(path.utf8.count) {
      throw ValidationError(
        "--shared-memory-socket has \(path.utf8.count) bytes, the range is 1 to 107.")
    }
    // The folder that is made without a path lets nobody else in.
    guard self.users.isEmpty || self.socketPath != nil else {
      throw ValidationError("--shared-memory-user needs --shared-memory-socket.")
    }
    guard self.isOffered else { return }
    guard SharedMemoryConfiguration.isSupported else {
      throw ValidationError("--shared-memory is not to be had on this system; Linux has it.")
    }
  }

  /// `nil`: none is offered.
  var configuration: SharedMemoryConfiguration? {
    guard self.isOffered else { return nil }
    var configuration = SharedMemoryConfiguration()
    configuration.socketPath = self.socketPath
    configuration.maxSessionBytes = self.sessionMegabytes << 20
    configuration.maxBytes = self.megabytes << 20
    configuration.allowedUserIDs = Set(self.users)
    return configuration
  }
}
