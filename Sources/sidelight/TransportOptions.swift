public import ArgumentParser
public import SidelightServer

/// Options that say how frames travel. A profile, and what of it an operator wants otherwise.
struct TransportOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      How frames travel: latency serves calls on the threads of their connections and sends at once; \
      throughput serves them on all processors and sends small messages together.
      """, valueName: "profile"))
  var profile = TransportConfiguration.Profile.latency

  @Option(help: ArgumentHelp("Threads that carry connections. (default: one a processor)"))
  var eventLoops: Int?

  @Option(help: ArgumentHelp("The largest message, in bytes. (default: 64 MiB)"))
  var maxMessageBytes: Int?

  @Option(help: ArgumentHelp("HTTP/2's window of a stream, in bytes. (default: 4 MiB)"))
  var streamWindowBytes: Int?

  @Option(help: ArgumentHelp("The largest HTTP/2 frame, in bytes. (default: 256 KiB)"))
  var http2FrameBytes: Int?

  @Option(
    help: ArgumentHelp("The kernel's buffers of a Unix socket, in bytes. (default: the system's)"))
  var unixSocketBufferBytes: Int?

  @Option(
    help: ArgumentHelp(
      "Who may connect to Unix sockets: the file's permissions, in octal. (default: 600)",
      valueName: "mode"))
  var unixSocketMode: String?

  @Option(
    help: ArgumentHelp(
      """
      frames keeps freed memory for the next frames, which are then two to three times as fast; \
      system leaves the C allocator as it is.
      """))
  var allocator = Allocator.frames

  @Option(
    help: ArgumentHelp(
      "After how many seconds without frames free memory goes back to the system. 0: never.",
      valueName: "seconds"))
  var releaseMemoryAfter = 10.0

  /// The allocators that have a name.
  enum Allocator: String, ExpressibleByArgument, CaseIterable {
    case frames, system

    fileprivate var settings: AllocatorSettings { self == .frames ? .frames : .system }
  }

  /// What the options come to.
  var configuration: TransportConfiguration {
    var transport = self.profile.configuration
    if let eventLoops { transport.eventLoops = eventLoops }
    if let maxMessageBytes { transport.maxMessageBytes = maxMessageBytes }
    if let streamWindowBytes { transport.streamWindowBytes = streamWindowBytes }
    if let http2FrameBytes { transport.http2FrameBytes = http2FrameBytes }
    if let unixSocketBufferBytes { transport.unixSocketBufferBytes = unixSocketBufferBytes }
    transport.allocator = self.allocator.settings
    return transport
  }

  /// Writes what the options come to into a server's configuration.
  func apply(to configuration: inout ServerConfiguration) {
    configuration.transport = self.configuration
    if let mode = self.permissions { configuration.unixSocketPermissions = mode }
    configuration.releaseMemoryAfter =
      self.releaseMemoryAfter == 0 ? nil : .seconds(self.releaseMemoryAfter)
  }

  func validate() throws {
    do throws(ConfigurationFault) {
      try self.configuration.validate()
    } catch {
      throw ValidationError("\(error).")
    }
    guard self.unixSocketMode == nil || self.permissions != nil else {
      throw ValidationError(
        "--unix-socket-mode is \(self.unixSocketMode ?? ""), the range is 0 to 777, in octal.")
    }
    guard self.releaseMemoryAfter == 0 || (1 ... 86400).contains(self.releaseMemoryAfter) else {
      throw ValidationError(
        "--release-memory-after is \(self.releaseMemoryAfter), the range is 1 to 86400, or 0.")
    }
  }

  private var permissions: UInt16? {
    self.unixSocketMode.flatMap { UInt16($0, radix: 8) }.flatMap { $0 <= 0o777 ? $0 : nil }
  }
}

extension TransportConfiguration.Profile: ExpressibleByArgument {}
