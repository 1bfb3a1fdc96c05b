public import SidelightKernels

/// Validates bearer tokens. `SidelightIdentity` has an authenticator for JSON web tokens.
///
/// The server calls it for every call before any other work, and concurrently. It must not wait for
/// another machine: clients without valid tokens could then keep it busy.
public protocol Authenticator: Sendable {
  /// Returns the caller that a token identifies, and its scopes.
  ///
  /// - Parameters:
  ///   - token: The text after `Bearer` in the call's `authorization` header, not yet parsed.
  ///   - now: The time since 1970, by the server's clock.
  /// - Throws: ``AuthenticationFailure`` if the token is invalid for any reason.
  func authenticate(
    token: String, at now: Duration
  ) async throws(AuthenticationFailure) -> Principal
}

/// A reason for which a caller cannot be identified.
public struct AuthenticationFailure: Error, Sendable, Hashable {
  /// The reason that the response states, without details: a caller that guesses tokens doesn't
  /// learn from it.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The call lacks credentials: a token, a certificate, or a known user.
    case missing = "CREDENTIALS_MISSING"
    /// The token is invalid.
    case invalid = "TOKEN_INVALID"
    /// The token or certificate was valid and has expired; a newer one can succeed.
    case expired = "CREDENTIALS_EXPIRED"
  }

  /// The reason stated in the response.
  public let reason: Reason
  /// The detail, which is logged at debug level. It never contains a secret.
  public let detail: String

  /// - Parameters:
  ///   - reason: The reason stated in the response.
  ///   - detail: The logged detail. It must not contain the token.
  public init(_ reason: Reason, _ detail: String) {
    self.reason = reason
    self.detail = detail
  }
}

/// An authenticated caller and its scopes.
public struct Principal: Sendable, Hashable {
  /// The unique name of the caller for limits, asset ownership, logs and operators:
  /// `sub:alice@https://id.example`, `cert:dns:camera-7.example`, `unix:uid=1000`.
  public var name: String
  /// The scopes of the caller.
  public var scopes: Set<Scope>
  /// The time since 1970 at which the credentials expire, leeway included. Calls that last until
  /// then are ended. `nil` disables expiry.
  public var expires: Duration?
  /// The filters that the credentials permit, in addition to the rules of the configuration. `nil`
  /// permits all.
  public var filters: FilterNameList?

  /// - Parameters:
  ///   - name: The unique name of the caller.
  ///   - scopes: The scopes of the caller.
  ///   - expires: The time since 1970 at which the credentials expire. `nil` disables expiry.
  ///   - filters: The filters that the credentials permit. `nil` permits all.
  public init(
    name: String, scopes: Set<Scope>, expires: Duration? = nil, filters: FilterNameList? = nil
  ) {
    self.name = name
    self.scopes = scopes
    self.expires = expires
    self.filters = filters
  }
}

/// A permission of a caller. `MethodAccess` has the scopes that methods require.
public enum Scope: String, Sendable, Hashable, CaseIterable, Comparable {
  /// Filter video and still images, and check pipelines.
  case stream
  /// Put, list and delete the caller's assets.
  case assets
  /// List the sessions of all callers, and override their pipelines.
  case operate
  /// Read the capabilities of the server: its limits, filters and contract.
  case introspect

  /// Compares scopes by name.
  public static func < (left: Scope, right: Scope) -> Bool { left.rawValue < right.rawValue }
}

extension Set<Scope> {
  /// The scopes of a participant, which uses the server without operating it.
  public static let participant: Set<Scope> = [.stream, .assets, .introspect]
  /// All scopes.
  public static let all = Set(Scope.allCases)
}
