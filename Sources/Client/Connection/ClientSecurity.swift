import GRPCCore
import SidelightTransport
public import SidelightWire

/// The authentication of the server by the client, and of the client by the server.
public struct ClientSecurity: Sendable {
  /// - `tls` (optional, default: `nil`): the TLS of connections over TCP. `nil` disables it.
  public var tls: ClientTLS?
  /// - `token` (optional, default: `nil`): returns a call's bearer token when the call begins. A
  ///   session that reconnects calls it again, and continues after its token has expired. An error
  ///   ends the call.
  ///
  /// A token is only sent over TLS, over Unix sockets and to this host, since it could be
  /// intercepted on an unencrypted connection to another host.
  public var token: (@Sendable () async throws -> String)?

  /// Creates settings.
  public init(tls: ClientTLS? = nil, token: (@Sendable () async throws -> String)? = nil) {
    self.tls = tls
    self.token = token
  }

  /// The interceptors of all calls.
  var interceptors: [any ClientInterceptor] {
    self.token.map { [TokenInterceptor(token: $0)] } ?? []
  }

  /// Checks the settings for a list of addresses.
  ///
  /// - Throws: `ConfigurationError` that names the setting.
  func validate(for addresses: [Address]) throws(ConfigurationError) {
    if let tls, (tls.certificateChain == nil) != (tls.privateKey == nil) {
      throw ConfigurationError(
        setting: "security.tls.privateKey", value: tls.privateKey ?? "not set",
        range: "the key of security.tls.certificateChain, both or neither")
    }
    if let name = self.tls?.serverName, name.isIPAddress {
      throw ConfigurationError(
        setting: "security.tls.serverName", value: name, range: "host names, not IP addresses")
    }
    guard self.tls == nil, self.token != nil, let open = addresses.first(where: { !$0.isLocal })
    else {
      return
    }
    throw ConfigurationError(
      setting: "security.token", value: "set for \(open) without TLS",
      range: "addresses with TLS, on this host, or Unix sockets")
  }
}

/// Adds the bearer token to all calls.
private struct TokenInterceptor: ClientInterceptor {
  let token: @Sendable () async throws -> String

  func intercept<Input: Sendable, Output: Sendable>(
    request: StreamingClientRequest<Input>, context: ClientContext,
    next:
      @concurrent (
        StreamingClientRequest<Input>, ClientContext
      ) async throws -> StreamingClientResponse<Output>
  ) async throws -> StreamingClientResponse<Output> {
    let token: String
    do {
      token = try await self.token()
    } catch let error as CancellationError {
      throw error
    } catch {
      throw RPCError(
        code: .unauthenticated, message: "There is no token for the call: \(error)", cause: error)
    }
    var request = request
    request.metadata.replaceOrAddString("Bearer \(token)", forKey: "authorization")
    return try await next(request, context)
  }
}
