import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import NIOSSL
import SidelightWire

extension ClientSecurity {
  /// What each call passes through.
  var interceptors: [any ClientInterceptor] {
    self.token.map { [TokenInterceptor(token: $0)] } ?? []
  }

  /// How a connection to an address is secured.
  ///
  /// - Throws: `ConfigurationFault` if a file cannot be read.
  func transport(
    to address: Address
  ) throws(ConfigurationFault) -> HTTP2ClientTransport.Posix.TransportSecurity {
    guard let tls, case .tcp = address else { return .plaintext }
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

  /// The name that the server's certificate must have at an address; `nil`: the number that is connected
  /// to, or nothing without TLS.
  func serverName(at address: Address) -> String? {
    guard let tls, case .tcp(let host, _) = address else { return nil }
    if let name = tls.serverName { return name }
    return host.isIPAddress ? nil : host
  }

  /// Has the name looked at on a connection in the making, where there is TLS and a name.
  func protect(_ channel: any Channel, at address: Address) throws {
    guard let name = self.serverName(at: address) else { return }
    let pipeline = channel.pipeline.syncOperations
    let tls = try pipeline.handler(type: NIOSSLClientHandler.self)
    try pipeline.addHandler(ServerNameCheck(name), position: .after(tls))
  }

  private static func certificates(
    _ path: String, _ setting: String
  ) throws(ConfigurationFault) -> TLSConfig.CertificateSource {
    .bytes(try Self.contents(path, setting), format: .pem)
  }

  private static func contents(
    _ path: String, _ setting: String
  ) throws(ConfigurationFault) -> [UInt8] {
    guard let contents = FileManager.default.contents(atPath: path), !contents.isEmpty else {
      throw ConfigurationFault(
        setting: "security.tls.\(setting)", value: path, range: "PEM files that can be read")
    }
    return [UInt8](contents)
  }
}

extension String {
  /// Whether it is a machine's number, and no name.
  var isIPAddress: Bool {
    self.contains(":") || self.allSatisfy { $0.isNumber || $0 == "." }
  }
}
