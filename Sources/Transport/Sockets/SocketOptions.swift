import NIOCore
import SidelightWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The socket options of a configuration, on either side.
struct SocketOptions: Sendable {
  /// The bytes of a TCP socket that wait to be sent, beyond which it accepts no more. The kernel's
  /// buffer otherwise holds seconds of frames for a slow link.
  static let unsentBytes = 128 << 10

  private let receiveBufferBytes: Int
  private let unixSocketBufferBytes: Int?
  private let windowBytes: Int
  private let congestionControl: CongestionControl

  init(_ transport: TransportConfiguration) {
    self.receiveBufferBytes = transport.receiveBufferBytes
    self.unixSocketBufferBytes = transport.unixSocketBufferBytes
    self.windowBytes = transport.streamWindowBytes
    self.congestionControl = CongestionControl(transport)
  }

  /// Sets the options on a connection.
  func apply(to channel: any Channel) -> EventLoopFuture<Void> {
    // Frames are large, so reads are too.
    var done = channel.setOption(
      .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: self.receiveBufferBytes))
    // A writable connection always notifies its streams in the same order, and the first ones use
    // up the space: with the limit of 64 KiB, which a Unix socket reaches at once, the last streams
    // starved. HTTP/2's window bounds the bytes that wait here, and is granted in turn.
    let waterMark = ChannelOptions.Types.WriteBufferWaterMark(
      low: self.windowBytes / 2, high: self.windowBytes)
    done = done.flatMap { channel.setOption(.writeBufferWaterMark, value: waterMark) }
    let isUnix = [channel.localAddress, channel.remoteAddress].contains { address in
      if case .unixDomainSocket? = address { true } else { false }
    }
    if isUnix, let size = self.unixSocketBufferBytes {
      let value = SocketOptionValue(size)
      done = done.flatMap { channel.setOption(.socketOption(.so_sndbuf), value: value) }
        .flatMap { channel.setOption(.socketOption(.so_rcvbuf), value: value) }
    }
    #if os(Linux)
      if !isUnix, let provider = channel as? any SocketOptionProvider {
        let lowWater = NIOBSDSocket.Option(rawValue: CInt(TCP_NOTSENT_LOWAT))
        done = done.flatMap {
          provider.unsafeSetSocketOption(
            level: .tcp, name: lowWater, value: CInt(Self.unsentBytes))
        }
        .flatMap { self.congestionControl.apply(to: provider) }
      }
    #endif
    return done
  }
}
