import SidelightWire

/// The shared memory requested by a session from a server on the same host.
public struct SharedMemoryOptions: Sendable, Hashable {
  /// - `slotBytes` (bytes, range: 1 B-1 GiB, default: 8 MiB, enough for 1080p BGRA): the largest
  ///   picture that travels in shared memory; larger ones travel inline.
  public var slotBytes: Int
  /// - `inputSlots` (count, range: 1-64, default: 6): pictures that may be in flight to the server,
  ///   or in use by the program (``FilterSession/makeFrame(_:orientation:)``); others travel
  ///   inline.
  public var inputSlots: Int
  /// - `outputSlots` (count, range: 1-64, default: 6): pictures that may be in flight from the
  ///   server, or in use by the program; others travel inline.
  public var outputSlots: Int

  /// Creates options. The server may refuse the request: see ``FilterSession/usesSharedMemory``.
  public init(slotBytes: Int = 8 << 20, inputSlots: Int = 6, outputSlots: Int = 6) {
    self.slotBytes = slotBytes
    self.inputSlots = inputSlots
    self.outputSlots = outputSlots
  }
}

extension Sidelight_V1_SharedMemoryRequest {
  init(_ options: SharedMemoryOptions) {
    self.init()
    self.slotBytes = UInt64(clamping: options.slotBytes)
    self.inputSlots = UInt32(clamping: options.inputSlots)
    self.outputSlots = UInt32(clamping: options.outputSlots)
  }
}

extension Address {
  /// Whether the address names this host: a Unix socket, `localhost`, or a loopback address.
  var isLocal: Bool {
    switch self {
    case .unix: true
    case .tcp(let host, _): host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
  }
}
