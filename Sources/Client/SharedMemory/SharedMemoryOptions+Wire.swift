import SidelightWire

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
