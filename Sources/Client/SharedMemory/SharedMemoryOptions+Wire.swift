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
  /// Whether a server there is on this host, for all that its name says.
  var isLocal: Bool {
    switch self {
    case .unix: true
    case .tcp(let host, _): host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
  }
}
