import NIOSSL

extension NIOSSLContext {
  /// Returns the context of a peer that doesn't verify certificates.
  ///
  /// - Parameters:
  ///   - protocols: The protocols offered in the handshake.
  ///   - maximumMinorVersion: The newest TLS 1.x that it speaks.
  ///   - ciphers: The ciphers offered below 1.3, as OpenSSL names them.
  static func trustingAll(
    protocols: [String] = ["h2"], maximumMinorVersion: Int = 3, ciphers: String? = nil
  ) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.certificateVerification = .none
    configuration.applicationProtocols = protocols
    configuration.minimumTLSVersion = .tlsv1
    configuration.maximumTLSVersion = [.tlsv1, .tlsv11, .tlsv12, .tlsv13][maximumMinorVersion]
    if let ciphers { configuration.cipherSuites = ciphers }
    return try NIOSSLContext(configuration: configuration)
  }
}
