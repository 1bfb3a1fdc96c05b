import GRPCCore
import GRPCProtobuf
import Logging
import SidelightTransport
import SidelightWire
import Tracing

/// Authenticates and authorizes every call before its handler runs, and ends calls whose
/// credentials expire.
struct AuthenticationInterceptor: ServerInterceptor {
  /// The header that carries tokens. It is removed before the handler runs.
  private static let header = "authorization"
  /// The maximum time between two checks for expiry. The clock is read again because it can be set
  /// and because machines sleep.
  private static let maxWait = Duration.seconds(3600)

  let authorizer: Authorizer
  let clock: SessionClock
  let logger: Logger

  func intercept<Input: Sendable, Output: Sendable>(
    request: StreamingServerRequest<Input>, context: ServerContext,
    next:
      @concurrent @Sendable (
        StreamingServerRequest<Input>, ServerContext
      ) async throws -> StreamingServerResponse<Output>
  ) async throws -> StreamingServerResponse<Output> {
    var request = request
    let authorization = Array(request.metadata[stringValues: Self.header])
    request.metadata.removeAllValues(forKey: Self.header)
    guard case .anyOf(let scopes) = MethodAccess(context.descriptor) else {
      return try await next(request, context)
    }
    guard let origin = context.callOrigin else {
      throw RPCError(code: .internalError, message: "The call has no origin.")
    }
    let principal: Principal?
    do throws(AuthenticationFailure) {
      principal = try await self.authorizer.principal(
        authorization: authorization, on: origin.connection, at: self.clock.sinceEpoch)
    } catch {
      self.logger.debug(
        "a call was refused",
        metadata: [
          "reason": "\(error.reason.rawValue)", "detail": "\(error.detail)",
          "peer": "\(context.remotePeer)",
          "method": "\(context.descriptor.fullyQualifiedMethod)",
        ])
      throw GoogleRPCStatus.unauthenticated(error.reason)
    }
    guard let principal else { return try await next(request, context) }
    ServiceContext.current?[CurrentCallSpan.self]?.attributes["enduser.id"] = principal.name
    guard !scopes.isDisjoint(with: principal.scopes) else {
      throw GoogleRPCStatus.scopeMissing(scopes, method: context.descriptor.fullyQualifiedMethod)
    }
    var context = context
    context.transportSpecific = AuthenticatedCall(origin: origin, principal: principal)
    let response = try await next(request, context)
    guard let expires = principal.expires else { return response }
    return self.ending(response, of: origin, at: expires)
  }

  /// Returns the response with a producer that ends the call when the credentials expire.
  ///
  /// The call's channel sends the status, as it does for a deadline: a cancelled handler would
  /// close the stream before its status is written.
  private func ending<Output: Sendable>(
    _ response: StreamingServerResponse<Output>, of origin: CallOrigin, at expires: Duration
  ) -> StreamingServerResponse<Output> {
    var response = response
    response.accepted = response.accepted.map { contents in
      var contents = contents
      let produce = contents.producer
      contents.producer = { writer in
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            while !Task.isCancelled, self.clock.sinceEpoch < expires {
              await self.clock.wait(min(expires - self.clock.sinceEpoch, Self.maxWait))
            }
            guard !Task.isCancelled else { return }
            origin.end(.unauthenticated(.expired))
          }
          defer { group.cancelAll() }
          return try await produce(writer)
        }
      }
      return contents
    }
    return response
  }
}

extension SessionClock {
  /// The time since 1970.
  var sinceEpoch: Duration { .nanoseconds(Int64(clamping: self.nanosecondsSince1970())) }
}

extension GoogleRPCStatus {
  /// The status of a call without valid credentials.
  static func unauthenticated(_ reason: AuthenticationFailure.Reason) -> GoogleRPCStatus {
    let message =
      switch reason {
      case .missing: "The call needs credentials."
      case .invalid: "The token is invalid."
      case .expired: "The credentials have expired."
      }
    return GoogleRPCStatus(
      code: .unauthenticated, message: message,
      details: .errorInfo(reason: reason.rawValue, domain: Self.errorDomain, metadata: [:]))
  }

  /// The status of a call whose caller lacks the method's scopes.
  ///
  /// - Parameters:
  ///   - scopes: The scopes of which the caller needs one.
  ///   - method: The method of the call.
  static func scopeMissing(_ scopes: Set<Scope>, method: String) -> GoogleRPCStatus {
    let names = scopes.sorted().map(\.rawValue).joined(separator: ", ")
    let message =
      scopes.count == 1
      ? "\(method) needs the scope \(names)." : "\(method) needs one of the scopes \(names)."
    return GoogleRPCStatus(
      code: .permissionDenied, message: message,
      details:
        .errorInfo(
          reason: "SCOPE_MISSING", domain: Self.errorDomain,
          metadata: ["scopes": names, "method": method]))
  }
}

/// The scopes required by a method.
package enum MethodAccess: Sendable, Hashable {
  /// Any caller: monitoring lacks credentials.
  case unrestricted
  /// One of these scopes.
  case anyOf(Set<Scope>)

  /// Looks up the scopes of a method. A method that is missing from the table requires
  /// ``Scope/operate``: a forgotten method is not open.
  ///
  /// - Parameter service: The full name of the service.
  package init(service: String, method: String) {
    self =
      switch (service, method) {
      case ("grpc.health.v1.Health", _), ("xds.service.orca.v3.OpenRcaService", _): .unrestricted
      case ("sidelight.v1.FrameFilter", "Process"),
        ("sidelight.v1.FrameFilter", "Apply"),
        ("sidelight.v1.FrameFilter", "CheckPipeline"),
        ("sidelight.v1.FrameFilter", "Place"):
        .anyOf([.stream])
      // Every scope permits reading the capabilities of the server.
      case ("sidelight.v1.FrameFilter", "ListFilters"),
        ("sidelight.v1.FrameFilter", "DescribeFilter"),
        ("sidelight.v1.FrameFilter", "GetServerInfo"):
        .anyOf(.all)
      case ("sidelight.v1.Assets", _): .anyOf([.assets])
      case ("sidelight.v1.Sessions", _): .anyOf([.operate])
      case ("grpc.reflection.v1.ServerReflection", _),
        ("grpc.reflection.v1alpha.ServerReflection", _):
        .anyOf([.introspect])
      default: .anyOf([.operate])
      }
  }

  init(_ method: MethodDescriptor) {
    self.init(service: method.service.fullyQualifiedService, method: method.method)
  }
}
