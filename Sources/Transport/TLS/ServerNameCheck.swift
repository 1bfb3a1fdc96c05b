import GRPCCore
package import NIOCore
import NIOSSL
import NIOTLS
import SwiftASN1
import X509

/// Closes a connection whose server has no certificate for the name that is asked for.
///
/// NIOSSL has looked already, but is content with a certificate for the number that was connected to,
/// whatever the name: whoever can have a name lead to a machine of his own, and has a certificate for
/// that machine's number, would pass for the server. Stands next to TLS; no call is made before the
/// server's settings have passed here.
package final class ServerNameCheck: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer

  private let name: String
  private var isRefused = false

  /// - Parameter name: A host's name.
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

  /// Whether a certificate's name is, or stands for, a host's (RFC 9525, 6.3): a `*` is the whole first
  /// label, and one label only.
  package static func matches(_ name: String, _ pattern: String) -> Bool {
    let name = name.lowercased().split(separator: ".", omittingEmptySubsequences: true)
    let pattern = pattern.lowercased().split(separator: ".", omittingEmptySubsequences: true)
    guard !name.isEmpty, name.count == pattern.count else { return false }
    if name == pattern { return true }
    return pattern[0] == "*" && pattern.count > 2 && name.dropFirst() == pattern.dropFirst()
  }
}
