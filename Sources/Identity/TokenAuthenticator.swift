import JWTKit
public import Logging
import Synchronization

/// Knows callers by JSON web tokens whose keys are in a file.
///
/// A token is good if a key of the set signed it with the algorithm that this key is for, if it is from
/// the issuer and for the audience, and if its time has come and is not over. Keys are asymmetric only:
/// a server that checks tokens cannot make any.
public final class TokenAuthenticator: Authenticator {
  /// Which tokens are good, with the keys that were read for them: what a reload takes over.
  public struct Rules: Sendable {
    fileprivate var configuration: TokenConfiguration
    fileprivate var keys: KeySet
  }

  private let rules: Mutex<Rules>
  private let logger: Logger

  /// Reads the keys.
  ///
  /// - Parameters:
  ///   - configuration: Which tokens are good.
  ///   - logger: For keys that are read, and left out.
  /// - Throws: `ConfigurationFault` if a setting is out of its range, ``KeySetFault`` if there are no
  ///   keys: a server without them should not begin to serve.
  public init(_ configuration: TokenConfiguration, logger: Logger) async throws {
    self.rules = Mutex(try await Self.read(configuration, logger: logger))
    self.logger = logger
  }

  /// Reads keys, and changes nothing yet: for who has more to read before it can be told whether all of it
  /// is good.
  ///
  /// - Throws: As ``init(_:logger:)``.
  public func read(_ configuration: TokenConfiguration) async throws -> Rules {
    try await Self.read(configuration, logger: self.logger)
  }

  /// Goes by what was read, for tokens that come from now on. Calls that have begun go on until their
  /// tokens expire, whatever becomes of their keys.
  public func adopt(_ rules: Rules) {
    self.rules.withLock { $0 = rules }
  }

  /// Reads the keys again, for tokens that come from now on. Calls that have begun go on until their
  /// tokens expire, whatever becomes of their keys.
  ///
  /// - Parameter configuration: Which tokens are good; none: the same as before.
  /// - Throws: As ``init(_:logger:)``. Then everything stays as it was.
  public func reload(_ configuration: TokenConfiguration? = nil) async throws {
    self.adopt(
      try await self.read(configuration ?? self.rules.withLock { $0.configuration }))
  }

  private static func read(
    _ configuration: TokenConfiguration, logger: Logger
  ) async throws -> Rules {
    try configuration.validate()
    return Rules(
      configuration: configuration,
      keys: try await KeySet(contentsOf: configuration.keys, logger: logger))
  }

  /// Says whose a token is.
  ///
  /// - Throws: ``AuthenticationFailure``; that a token has expired is said only of one that was good.
  public func authenticate(
    token: String, at now: Duration
  ) async throws(AuthenticationFailure) -> Principal {
    let rules = self.rules.withLock { $0 }
    let header = try TokenHeader(of: token)
    guard let key = rules.keys[header.keyID] else {
      throw AuthenticationFailure(.invalid, "the key '\(header.keyID)' is not known")
    }
    // Whatever a token says: a key is for one algorithm.
    guard header.algorithm == key.algorithm else {
      throw AuthenticationFailure(
        .invalid,
        "the algorithm is '\(header.algorithm)', that of key '\(header.keyID)' is \(key.algorithm)")
    }
    let claims: TokenClaims
    do {
      claims = try await key.verifier.verify([UInt8](token.utf8))
    } catch let error as JWTError where error.errorType == .signatureVerificationFailed {
      throw AuthenticationFailure(.invalid, "the signature is not that of key '\(header.keyID)'")
    } catch {
      // The error may quote what could not be read.
      throw AuthenticationFailure(.invalid, "the claims cannot be read")
    }
    return try claims.principal(by: rules.configuration, at: now)
  }
}
