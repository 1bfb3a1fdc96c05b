package import NIOCore

/// What a configuration says of a socket, on either side.
package struct SocketOptions: Sendable {
  private let receiveBufferBytes: Int
  private let unixSocketBufferBytes: Int?
  private let windowBytes: Int

  /// - Parameter transport: The configuration.
  package init(_ transport: TransportConfiguration) {
    self.receiveBufferBytes = transport.receiveBufferBytes
    self.unixSocketBufferBytes = transport.unixSocketBufferBytes
    self.windowBytes = transport.streamWindowBytes
  }

  /// Sets them.
  package func apply(to channel: any Channel) -> EventLoopFuture<Void> {
    // Frames are large: read much at a time.
    var done = channel.setOption(
      .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: self.receiveBufferBytes))
    // Whenever a connection can be written again its streams are told in one and the same order, and
    // the first leave nothing to the last: with the limit of 64 KiB, which a Unix socket reaches at
    // once, streams starved. HTTP/2's window bounds what waits here, and is given out in turn.
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
    return done
  }
}
