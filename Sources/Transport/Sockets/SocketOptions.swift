import Foundation
import NIOCore
package import SidelightWire

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

/// The congestion control of TCP sockets (`TCP_CONGESTION`, tcp(7)).
///
/// After a lost packet CUBIC, the usual default, sends at most seven tenths of what it sent before,
/// also where the link has room. BBR continues at the rate that it has measured.
struct CongestionControl: Sendable {
  /// The preferred one, if the configuration does not name one.
  static let preferred = "bbr"

  /// A name as the kernel reads it: at most 15 bytes (`TCP_CA_NAME_MAX`), then zeros.
  private struct Name: BitwiseCopyable, Sendable {
    var bytes: (UInt64, UInt64) = (0, 0)

    init(_ name: String) {
      withUnsafeMutableBytes(of: &self.bytes) { $0.copyBytes(from: name.utf8.prefix(15)) }
    }
  }

  private let name: Name
  private let isRequired: Bool

  init(_ transport: TransportConfiguration) {
    self.name = Name(transport.congestionControl ?? Self.preferred)
    self.isRequired = transport.congestionControl != nil
  }

  #if os(Linux)
    private static let option = CInt(TCP_CONGESTION)

    /// Sets the option on a TCP connection. The preferred one may be missing.
    func apply(to provider: any SocketOptionProvider) -> EventLoopFuture<Void> {
      let result: EventLoopFuture<Void> = provider.unsafeSetSocketOption(
        level: .tcp, name: NIOBSDSocket.Option(rawValue: Self.option), value: self.name)
      return self.isRequired ? result : result.recover { _ in }
    }

    /// Tries the option on a socket of its own.
    ///
    /// - Returns: The error's number; 0 if the system offers it to this process.
    func check() -> CInt {
      let descriptor = socket(AF_INET, BoundSocket.stream, 0)
      guard descriptor >= 0 else { return errno }
      defer { close(descriptor) }
      let result = withUnsafeBytes(of: self.name.bytes) { bytes in
        setsockopt(
          descriptor, CInt(IPPROTO_TCP), Self.option, bytes.baseAddress,
          socklen_t(bytes.count))
      }
      return result == 0 ? 0 : errno
    }
  #else
    func check() -> CInt { self.isRequired ? ENOPROTOOPT : 0 }
  #endif
}

extension TransportConfiguration {
  /// Checks that all settings are in range, and that the system offers the congestion control.
  ///
  /// - Throws: ``ConfigurationError`` that names the first setting with an error.
  package func validateWithSystem() throws(ConfigurationError) {
    try self.validate()
    guard let name = self.congestionControl, CongestionControl(self).check() != 0 else { return }
    throw ConfigurationError(
      setting: "transport.congestionControl", value: name,
      range: "one that the system offers (net.ipv4.tcp_allowed_congestion_control)")
  }
}
