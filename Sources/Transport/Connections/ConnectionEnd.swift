import NIOCore
import NIOHTTP2
import NIOSSL

/// Why a connection ended, as metrics and the log name it.
package enum ConnectionEnd: String, CaseIterable, Sendable {
  /// The client closed it.
  case client
  /// The server did, in good order: it shuts down, or has no more to say.
  case server
  /// A guard cut it off.
  case `guard`
  /// TLS was not agreed on, or was broken.
  case tls
  /// The client broke the rules of HTTP/2.
  case http2
  /// The system reported an error of the socket: it was reset, for example.
  case socket
  /// An error of any other kind.
  case other

  /// The end that an error makes of a connection.
  package init(_ error: any Error) {
    switch error {
    // Many clients leave without a word. That of TLS is only missed.
    case NIOSSLError.uncleanShutdown, ChannelError.eof: self = .client
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: self = .tls
    case is any NIOHTTP2Error: self = .http2
    case is IOError: self = .socket
    default: self = .other
    }
  }
}
