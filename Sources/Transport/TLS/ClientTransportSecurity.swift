import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
package import NIOCore
import NIOSSL
import NIOTLS
import SidelightWire
import SwiftASN1
import X509

/// The TLS of a client's connection to an address.
struct ClientTransportSecurity {
  /// `nil` disables TLS.
  let tls: ClientTLS?
  let address: Address

  /// Returns the settings of the transport.
  ///
  /// - Throws: `ConfigurationError` if a file cannot be read.
  func transportSecurity() throws(ConfigurationError)
    -> HTTP2ClientTransport.Posix.TransportSecurity
  {
    guard let tls, case .tcp = self.address else { return .plaintext }
    var settings = HTTP2ClientTransport.Posix.TransportSecurity.TLS.defaults
    if let path = tls.authorities {
      settings.trustRoots = .certificates([try Self.certificates(path, "authorities")])
    }
    if let chain = tls.certificateChain, let key = tls.privateKey {
      settings.certificateChain = [try Self.certificates(chain, "certificateChain")]
      settings.privateKey = .bytes(try Self.contents(key, "privateKey"), format: .pem)
    }
    return .tls(settings)
  }

  /// The name that the server's certificate must have; `nil` without TLS, or for the IP address of
  /// the connection.
  var serverName: String? {
    guard let tls, case .tcp(let host, _) = self.address else { return nil }
    if let name = tls.serverName { return name }
    return host.isIPAddress ? nil : host
  }

  /// Adds the check of the server's name to a new connection that uses TLS and a name.
  func protect(_ channel: any Channel) throws {
    guard let name = self.serverName else { return }
    let pipeline = channel.pipeline.syncOperations
    let tls = try pipeline.handler(type: NIOSSLClientHandler.self)
    try pipeline.addHandler(ServerNameCheck(name), position: .after(tls))
  }

  private static func certificates(
    _ path: String, _ setting: String
  ) throws(ConfigurationError) -> TLSConfig.CertificateSource {
    .bytes(try Self.contents(path, setting), format: .pem)
  }

  private static func contents(
    _ path: String, _ setting: String
  ) throws(ConfigurationError) -> [UInt8] {
    guard let contents = FileManager.default.contents(atPath: path), !contents.isEmpty else {
      throw ConfigurationError(
        setting: "security.tls.\(setting)", value: path, range: "PEM files that can be read")
    }
    return [UInt8](contents)
  }
}

extension String {
  /// Whether a host is an IP address and not a name.
  package var isIPAddress: Bool {
    self.contains(":") || self.allSatisfy { $0.isNumber || $0 == "." }
  }
}

/// Closes a connection whose server's certificate doesn't include the requested name.
///
/// NIOSSL also accepts a certificate for the IP address of the connection, regardless of the name:
/// an attacker who can make a name resolve to its own machine, and has a certificate for that
/// machine's address, could impersonate the server. The check is next to TLS; calls begin only
/// after the server's settings have passed here.
package final class ServerNameCheck: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer

  private let name: String
  private var isRefused = false

  /// - Parameter name: The name of a host.
  init(_ name: String) {
    self.name = name
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent, !self.isServerNamed(context.pipeline) {
      self.isRefused = true
      context.fireErrorCaught(
        RPCError(
          code: .unavailable,
          message: "The server's certificate is not for the name \(self.name)."))
      return context.close(promise: nil)
    }
    context.fireUserInboundEventTriggered(event)
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if !self.isRefused { context.fireChannelRead(data) }
  }

  private func isServerNamed(_ pipeline: ChannelPipeline) -> Bool {
    guard let certificate = try? pipeline.syncOperations.nioSSL_peerCertificate(),
      let bytes = try? certificate.toDERBytes(),
      let names = try? Certificate(derEncoded: bytes).extensions.subjectAlternativeNames
    else { return false }
    return names.contains { name in
      guard case .dnsName(let pattern) = name else { return false }
      return Self.matches(self.name, pattern)
    }
  }

  /// Whether a name in a certificate matches the name of a host (RFC 9525, 6.3): a `*` is the whole
  /// first label, and one label only.
  package static func matches(_ name: String, _ pattern: String) -> Bool {
    let name = name.lowercased().split(separator: ".", omittingEmptySubsequences: true)
    let pattern = pattern.lowercased().split(separator: ".", omittingEmptySubsequences: true)
    guard !name.isEmpty, name.count == pattern.count else { return false }
    if name == pattern { return true }
    return pattern[0] == "*" && pattern.count > 2 && name.dropFirst() == pattern.dropFirst()
  }
}
