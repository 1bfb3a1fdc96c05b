import JWTKit
public import Logging
// The interface contains scopes and principals of the server.
@_exported public import SidelightServer
import Synchronization

/// Authenticates callers using JSON Web Tokens and keys from a file.
///
/// A token is valid if a key of the set signed it using the key's algorithm, if it has the
/// configured issuer and audience, and if the time is between its `nbf` and `exp`. All keys are
/// asymmetric: a server that verifies tokens cannot issue them.
public final class TokenAuthenticator: Authenticator {
  /// A configuration and the keys that were read for it. A reload replaces them.
  public struct Rules: Sendable {
    fileprivate var configuration: TokenConfiguration
    fileprivate var keys: KeySet
  }

  private let rules: Mutex<Rules>
  private let logger: Logger

  /// Reads the keys.
  ///
  /// - Parameters:
  ///   - configuration: The requirements on tokens.
  ///   - logger: The logger for keys that are read or skipped.
  /// - Throws: `ConfigurationError` if a setting is out of range, ``KeySetError`` if the file has
  ///   no valid keys. A server should not start without them.
  public init(_ configuration: TokenConfiguration, logger: Logger) async throws {
    self.rules = Mutex(try await Self.read(configuration, logger: logger))
    self.logger = logger
  }

  /// Reads keys without using them yet, which allows a caller to validate other files first.
  ///
  /// - Throws: As ``init(_:logger:)``.
  public func read(_ configuration: TokenConfiguration) async throws -> Rules {
    try await Self.read(configuration, logger: self.logger)
  }

  /// Uses the given rules for new tokens. Calls that have begun continue until their tokens expire,
  /// even if their keys are removed.
  public func setRules(_ rules: Rules) {
    self.rules.withLock { $0 = rules }
  }

  /// Reads the keys again, for new tokens. Calls that have begun continue until their tokens
  /// expire, even if their keys are removed.
  ///
  /// - Parameter configuration: The requirements on tokens. `nil` keeps the current ones.
  /// - Throws: As ``init(_:logger:)``. The current keys and requirements then remain in use.
  public func reload(_ configuration: TokenConfiguration? = nil) async throws {
    self.setRules(
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

  /// Validates a token, and returns its principal.
  ///
  /// - Throws: ``AuthenticationFailure``. Only a token that is otherwise valid is reported as
  ///   expired.
  public func authenticate(
    token: String, at now: Duration
  ) async throws(AuthenticationFailure) -> Principal {
    let rules = self.rules.withLock { $0 }
    let header = try TokenHeader(of: token)
    guard let key = rules.keys[header.keyID] else {
      throw AuthenticationFailure(.invalid, "key '\(header.keyID)' is unknown")
    }
    // A key has one algorithm, regardless of the token.
    guard header.algorithm == key.algorithm else {
      throw AuthenticationFailure(
        .invalid,
        "the algorithm is '\(header.algorithm)'; key '\(header.keyID)' requires \(key.algorithm)")
    }
    let claims: TokenClaims
    do {
      claims = try await key.verifier.verify([UInt8](token.utf8))
    } catch let error as JWTError where error.errorType == .signatureVerificationFailed {
      throw AuthenticationFailure(.invalid, "the signature is not that of key '\(header.keyID)'")
    } catch {
      // The error may quote the token.
      throw AuthenticationFailure(.invalid, "the claims cannot be read")
    }
    return try claims.principal(by: rules.configuration, at: now)
  }
}

/// The requirements on JSON Web Tokens (RFC 7519).
public struct TokenConfiguration: Sendable, Hashable {
  /// - `issuer` (required, 1 to 256 bytes without `@`): the exact `iss` of tokens.
  public var issuer: String
  /// - `audience` (required, not empty): an element of the `aud` of tokens. Tokens for other
  ///   services are invalid.
  public var audience: String
  /// - `keys` (path, required): a file with a JSON Web Key Set (RFC 7517), at most 1 MiB and 64
  ///   keys.
  public var keys: String
  /// - `leeway` (duration, default: 60 s, range: ``leewayRange``): the tolerated clock skew between
  ///   this server and the issuer. It extends the validity of tokens at both ends.
  public var leeway = Duration.seconds(60)
  /// The range of ``leeway``: 0 to 300 s.
  public static let leewayRange: ClosedRange<Duration> = .zero ... .seconds(300)
  /// - `scopePrefix` (default: none): the prefix of scope names in tokens, such as `sidelight:`.
  ///   Names without it are ignored.
  public var scopePrefix = ""

  /// - Parameters:
  ///   - issuer: The issuer of tokens.
  ///   - audience: The audience of tokens.
  ///   - keys: The path of a key set.
  public init(issuer: String, audience: String, keys: String) {
    self.issuer = issuer
    self.audience = audience
    self.keys = keys
  }

  /// Validates all values.
  ///
  /// - Throws: `ConfigurationError` with the setting that is out of range.
  public func validate() throws(ConfigurationError) {
    // The issuer follows the last @ of a caller's name. An issuer without @ keeps subjects of
    // different issuers distinct.
    guard !self.issuer.isEmpty, self.issuer.utf8.count <= 256, !self.issuer.contains("@") else {
      throw ConfigurationError(
        setting: "token.issuer", value: self.issuer, range: "1 to 256 bytes without @")
    }
    guard !self.audience.isEmpty else {
      throw ConfigurationError(setting: "token.audience", value: "", range: "a name")
    }
    guard Self.leewayRange.contains(self.leeway) else {
      throw ConfigurationError(
        setting: "token.leeway", value: "\(self.leeway)",
        range: "0 to \(Self.leewayRange.upperBound.components.seconds) seconds")
    }
  }
}
