import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
package import Logging
import NIOCore
import NIOPosix
import NIOSSL
package import SidelightWire
import Synchronization

/// The certificate, the key, and the authorities of clients for the TLS of new connections.
///
/// They are read, checked and replaced as a whole. A connection keeps the files that it began with.
package final class CertificateStore: Sendable {
  private struct State {
    var settings: ServerTLS
    var context: NIOSSLContext?
  }

  private let state: Mutex<State>
  private let now: @Sendable () -> Duration
  private let logger: Logger

  /// - Parameters:
  ///   - settings: The files, which ``load(_:)`` reads.
  ///   - now: Returns the time since 1970.
  package init(_ settings: ServerTLS, now: @escaping @Sendable () -> Duration, logger: Logger) {
    self.state = Mutex(State(settings: settings))
    self.now = now
    self.logger = logger
  }

  /// The context of new connections; `nil` before the files were read.
  var context: NIOSSLContext? { self.state.withLock { $0.context } }

  /// Reads the files. An error leaves everything unchanged.
  ///
  /// - Parameter settings: The files; `nil` reads the same files again.
  /// - Throws: `TLSFileError`.
  package func load(_ settings: ServerTLS? = nil) throws(TLSFileError) {
    let settings = settings ?? self.state.withLock { $0.settings }
    let chain = try Self.certificates(settings.certificateChain)
    let now = self.now()
    let expires = Duration.seconds(chain[0].notValidAfter)
    guard expires > now else {
      throw TLSFileError(
        settings.certificateChain,
        "the certificate expired \(Date(since1970: expires).formatted(.iso8601))")
    }
    let context = try Self.context(settings, chain)
    self.state.withLock { state in
      state.settings = settings
      state.context = context
    }
    self.logger.info(
      "certificate read",
      metadata: [
        "file": "\(settings.certificateChain)",
        "expires": "\(Date(since1970: expires).formatted(.iso8601))",
        "client_certificates": "\(settings.clientCertificates.rawValue)",
      ])
  }

  private static func context(
    _ settings: ServerTLS, _ chain: [NIOSSLCertificate]
  ) throws(TLSFileError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) },
      privateKey: .privateKey(try Self.privateKey(settings.privateKey)))
    configuration.minimumTLSVersion = settings.minimumVersion == .tls13 ? .tlsv13 : .tlsv12
    configuration.applicationProtocols = ["h2"]
    // Of TLS 1.2 only the ciphers that HTTP/2 allows (RFC 9113, appendix A): with ephemeral keys
    // and authenticated encryption.
    configuration.cipherSuites = "ECDH+AESGCM:ECDH+CHACHA20"
    if settings.clientCertificates == .none {
      guard settings.clientAuthorities == nil else {
        throw TLSFileError("clientAuthorities", "is set, and clients show no certificates")
      }
    } else {
      guard let path = settings.clientAuthorities else {
        throw TLSFileError("clientAuthorities", "is not set, and clients show certificates")
      }
      configuration.trustRoots = .certificates(try Self.certificates(path))
      configuration.certificateVerification =
        settings.clientCertificates == .required ? .noHostnameVerification : .optionalVerification
    }
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw TLSFileError(
        settings.privateKey, "is not the key of the certificate in \(settings.certificateChain)")
    }
  }

  private static func certificates(_ path: String) throws(TLSFileError) -> [NIOSSLCertificate] {
    let bytes = try Self.contents(path)
    guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty
    else { throw TLSFileError(path, "is not a PEM file with certificates") }
    return certificates
  }

  private static func privateKey(_ path: String) throws(TLSFileError) -> NIOSSLPrivateKey {
    let bytes = try Self.contents(path)
    // Without a passphrase callback BoringSSL would ask for one on the terminal.
    let key = try? NIOSSLPrivateKey(bytes: bytes, format: .pem) { $0([UInt8]()) }
    guard let key else { throw TLSFileError(path, "is not a PEM file with an unencrypted key") }
    return key
  }

  private static func contents(_ path: String) throws(TLSFileError) -> [UInt8] {
    do throws(BoundedFileError) {
      return try BoundedFile.contents(of: path)
    } catch {
      throw TLSFileError(path, error.reason)
    }
  }
}

extension Date {
  fileprivate init(since1970 time: Duration) {
    self.init(timeIntervalSince1970: time / .seconds(1))
  }
}

/// The reason why a file of certificates or keys cannot be used.
package struct BoundedFileError: Error, Sendable, Hashable {
  /// The reason, for a message.
  package let reason: String
}

/// Small files with certificates and keys. A wrong path must not read a large file.
package enum BoundedFile {
  /// The maximum size of a file in bytes.
  package static let limit = 1 << 20

  /// Reads a file.
  ///
  /// - Throws: ``BoundedFileError`` if the file is unreadable, isn't a regular file, is empty, or
  ///   too large.
  package static func contents(of path: String) throws(BoundedFileError) -> [UInt8] {
    let attributes: [FileAttributeKey: Any]
    do {
      // The attributes of a link's target.
      let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
      attributes = try FileManager.default.attributesOfItem(atPath: resolved)
    } catch {
      throw BoundedFileError(reason: "does not exist, or cannot be read")
    }
    // A pipe or a device may never end.
    guard attributes[.type] as? FileAttributeType == .typeRegular else {
      throw BoundedFileError(reason: "is not a regular file")
    }
    guard let handle = FileHandle(forReadingAtPath: path),
      let data = try? handle.read(upToCount: Self.limit + 1)
    else { throw BoundedFileError(reason: "is empty, or cannot be read") }
    guard data.count <= Self.limit else {
      throw BoundedFileError(reason: "has more than \(Self.limit) bytes")
    }
    return [UInt8](data)
  }
}

/// The factory of listeners with TLS. A connection uses the certificates that the store has when it
/// begins.
///
/// gRPC's own listener makes its TLS context once, and can replace its certificate and key later,
/// but not the authorities of clients.
struct TLSListenerFactory: HTTP2ServerTransport.ListenerFactory {
  let address: NIOCore.SocketAddress
  /// A socket that listens already; `nil` binds the address.
  var descriptor: Int32?
  let certificates: CertificateStore
  let loops: MultiThreadedEventLoopGroup

  var eventLoopGroup: any EventLoopGroup { self.loops }

  func makeListeningChannel(
    listenerConfigurator: HTTP2ServerTransport.ListenerConfigurator,
    connectionConfigurator: HTTP2ServerTransport.ConnectionConfigurator
  ) async throws -> NIOAsyncChannel<
    HTTP2ServerTransport.ConnectionConfigurator.ConnectionChannel, Never
  > {
    guard self.certificates.context != nil else {
      throw RuntimeError(code: .transportError, message: "There is no certificate.")
    }
    let bootstrap = ServerBootstrap(group: self.loops)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { listenerConfigurator.configure(channel: $0) }
    let configure = { @Sendable (channel: any Channel) in
      channel.eventLoop.makeCompletedFuture {
        // The store has a context from the beginning, which only another context replaces.
        guard let context = self.certificates.context else {
          throw ChannelError.ioOnClosedChannel
        }
        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
      }
      .flatMap {
        connectionConfigurator.configure(channel: channel, tls: .configured(requireALPN: true))
      }
    }
    if let descriptor {
      return try await bootstrap.bind(descriptor, childChannelInitializer: configure)
    }
    return try await bootstrap.bind(to: self.address, childChannelInitializer: configure)
  }
}
