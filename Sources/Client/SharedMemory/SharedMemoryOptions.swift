/// The shared memory that a session asks for, for a server on the same host.
public struct SharedMemoryOptions: Sendable, Hashable {
  /// - `slotBytes` (bytes, range: 1 B-1 GiB, default: 8 MiB, enough for 1080p BGRA): the largest
  ///   picture that travels in shared memory; larger ones travel inline.
  public var slotBytes: Int
  /// - `inputSlots` (count, range: 1-64, default: 6): pictures that may be on their way to the server,
  ///   or in the making (``FilterSession/makeFrame(_:orientation:)``); others travel inline.
  public var inputSlots: Int
  /// - `outputSlots` (count, range: 1-64, default: 6): pictures from the server that may be on their
  ///   way, or referred to here; others travel inline.
  public var outputSlots: Int

  /// States what is asked. The server may have less to give: ``FilterSession/usesSharedMemory``.
  public init(slotBytes: Int = 8 << 20, inputSlots: Int = 6, outputSlots: Int = 6) {
    self.slotBytes = slotBytes
    self.inputSlots = inputSlots
    self.outputSlots = outputSlots
  }
}
