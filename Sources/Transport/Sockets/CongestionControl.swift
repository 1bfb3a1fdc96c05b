import NIOCore
package import SidelightWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

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
      let descriptor = socket(AF_INET, Self.stream, 0)
      guard descriptor >= 0 else { return errno }
      defer { close(descriptor) }
      let result = withUnsafeBytes(of: self.name.bytes) { bytes in
        setsockopt(
          descriptor, CInt(IPPROTO_TCP), Self.option, bytes.baseAddress,
          socklen_t(bytes.count))
      }
      return result == 0 ? 0 : errno
    }

    #if canImport(Glibc)
      private static let stream = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    #else
      private static let stream = SOCK_STREAM | SOCK_CLOEXEC
    #endif
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
