package import NIOCore

/// What a configuration says of a socket, on either side.
package struct SocketOptions: Sendable {
  private let receiveBufferBytes: Int
  private let unixSocketBufferBytes: Int?

  /// - Parameter transport: The configuration.
  package init(_ transport: TransportConfiguration) {
    self.receiveBufferBytes = transport.receiveBufferBytes
    self.unixSocketBufferBytes = transport.unixSocketBufferBytes
  }

  /// Sets them.
  package func apply(to channel: any Channel) -> EventLoopFuture<Void> {
    // Frames are large: read much at a time.
    var done = channel.setOption(
      .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: self.receiveBufferBytes))
    let isUnix = [channel.localAddress, channel.remoteAddress].contains { address in
      if case .unixDomainSocket? = address { true } else { false }
    }
    if isUnix, let size = self.unixSocketBufferBytes {
      let value = SocketOptionValue(size)
      done = done.flatMap { channel.setOption(.socketOption(.so_sndbuf), value: value) }
        .flatMap { channel.setOption(.socketOption(.so_rcvbuf), value: value) }
    }
    return done
  }
}
