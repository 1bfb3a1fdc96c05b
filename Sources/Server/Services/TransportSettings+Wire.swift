import SidelightTransport
import SidelightWire
import SwiftProtobuf

extension Sidelight_V1_TransportSettings {
  /// Creates the active settings from a configuration.
  init(_ configuration: ServerConfiguration) {
    let transport = configuration.transport
    self.init()
    self.profile = transport.profile?.rawValue ?? "custom"
    self.maxMessageBytes = UInt64(clamping: transport.maxMessageBytes)
    self.streamWindowBytes = UInt32(clamping: transport.streamWindowBytes)
    self.http2FrameBytes = UInt32(clamping: transport.http2FrameBytes)
    self.maxConcurrentStreams = UInt32(clamping: transport.maxConcurrentStreams)
    self.receiveBufferBytes = UInt32(clamping: transport.receiveBufferBytes)
    self.flushDelayUs = transport.flushCoalescing?.delay.wireMicroseconds ?? 0
    self.flushBytes = UInt32(clamping: transport.flushCoalescing?.bytes ?? 0)
    self.executor =
      switch transport.executor {
      case .eventLoops: .eventLoops
      case .concurrent: .concurrent
      }
    self.eventLoops = UInt32(clamping: transport.eventLoops ?? EventLoops.sharedCount)
    self.unixSocketBufferBytes = UInt32(clamping: transport.unixSocketBufferBytes ?? 0)
    // The allocator belongs to the process; a configuration does not set it.
    let allocator = AllocatorSettings.current
    self.allocator.mapThresholdBytes = UInt64(clamping: allocator.mapThreshold ?? 0)
    self.allocator.trimThresholdBytes = UInt64(clamping: allocator.trimThreshold ?? 0)
    self.allocator.topPadBytes = UInt64(clamping: allocator.topPad ?? 0)
    let idleTime = configuration.releaseMemoryAfter ?? .zero
    self.allocator.idleReleaseMs = UInt32(clamping: Int64(idleTime / .milliseconds(1)))
    self.allocator.arenas = UInt32(clamping: allocator.arenas ?? 0)
  }
}
