import Foundation
package import GRPCCore
import NIOCore
import NIOPosix
import ServiceLifecycle
package import SidelightWire

/// An address of a server that speaks HTTP: it serves the files of a site, and calls over
/// WebSockets, one call per WebSocket. A ``Listener`` speaks gRPC.
package final class WebListener: Sendable {
  private let address: Address
  private let transport: TransportConfiguration
  private let services: [any RegistrableRPCService]
  private let interceptors: [any ServerInterceptor]
  private let bound = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Address.self)
  let site: any WebSite
  let guards: Guards
  let connections = ConnectionTable()
  let calls: WebSocketTransport

  /// - Parameter transport: The settings of connections.
  package init(
    _ address: Address, site: any WebSite, transport: TransportConfiguration, guards: Guards,
    services: [any RegistrableRPCService], interceptors: [any ServerInterceptor]
  ) {
    self.address = address
    self.site = site
    self.transport = transport
    self.guards = guards
    self.services = services
    self.interceptors = interceptors
    self.calls = WebSocketTransport(executor: transport.executor)
  }

  deinit {
    self.bound.fail(CancellationError())
  }

  /// Fails without serving.
  package func fail(_ error: any Error) { self.bound.fail(error) }

  /// The address, with the port that the system has chosen. Waits until it is bound.
  package var boundAddress: Address {
    get async throws { try await self.bound.futureResult.get() }
  }

  /// Serves until graceful shutdown begins and all calls have ended, or until the task is
  /// cancelled.
  ///
  /// - Throws: ``ListeningError`` if the address cannot be bound.
  package func serve(on loops: EventLoops) async throws {
    do {
      let socket = try await BoundSocket(at: self.address, unixSocketPermissions: 0o600)
      defer { socket.removeFile() }
      let server = GRPCServer(
        transport: self.calls, services: self.services, interceptors: self.interceptors)
      let channel = try await self.bootstrap(loops).withBoundSocket(socket.descriptor).get()
      // NIO lets 128 connections wait.
      _ = BoundSocket.startListening(socket.descriptor)
      try await self.serve(server, on: channel, address: socket.address)
      self.bound.fail(CancellationError())
    } catch {
      self.bound.fail(error)
      throw error
    }
  }

  private func serve(
    _ server: GRPCServer<WebSocketTransport>, on channel: any Channel, address: Address
  ) async throws {
    // Not a child task, which would be cancelled together with this one and before the connections
    // are closed. `onCancel` cancels it, and this function returns only after it.
    let serving = Task { try await server.serve() }
    try await withTaskCancellationHandler {
      try await withGracefulShutdownHandler {
        self.bound.succeed(address)
        try await serving.value
      } onGracefulShutdown: {
        channel.close(promise: nil)
        self.connections.quiesceAll()
        server.beginGracefulShutdown()
      }
    } onCancel: {
      channel.close(promise: nil)
      self.connections.closeAll { serving.cancel() }
    }
  }

  private func bootstrap(_ loops: EventLoops) -> ServerBootstrap {
    ServerBootstrap(group: loops.group)
      .childChannelInitializer { channel in
        SocketOptions(self.transport).apply(to: channel)
          .flatMap { self.connections.add(channel) }
          .flatMapThrowing { connection in
            try self.guards.protect(webConnection: channel, of: channel.peerName)
            try WebConnectionHandler.addHandlers(to: channel, self, connection)
          }
      }
  }
}

/// The pages and the access rules of an HTTP endpoint whose WebSockets carry calls.
package protocol WebSite: Sendable {
  /// Returns the response to a request that does not open a WebSocket. Called on an event loop, so
  /// it must not wait.
  func response(to request: WebRequest) -> WebResponse

  /// Decides whether a request may open a WebSocket. Called on an event loop, so it must not wait.
  func admission(of request: WebRequest) -> WebSocketAdmission
}

/// The decision about a request to open a WebSocket.
package enum WebSocketAdmission: Sendable {
  /// The WebSocket may be opened.
  ///
  /// - authorization: The values of `authorization` in the call's metadata.
  case accepted(authorization: [String])
  /// The request gets this response.
  case refused(WebResponse)
}

/// The head of an HTTP request.
package struct WebRequest: Sendable {
  /// The method: `GET`.
  package var method: String
  /// The path, without the query.
  package var path: String
  /// The query without its question mark; empty for a path without a query.
  package var query: String
  /// The header fields, their names in lower case.
  package var headers: [(name: String, value: String)]

  /// - Parameters:
  ///   - target: The path, and optionally a question mark and a query.
  ///   - headers: The header fields.
  package init(method: String, target: String, headers: [(name: String, value: String)]) {
    self.method = method
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    self.path = String(parts[0])
    self.query = parts.count > 1 ? String(parts[1]) : ""
    self.headers = headers.map { ($0.name.lowercased(), $0.value) }
  }

  /// The values of a header field.
  ///
  /// - Parameter name: The name, in lower case.
  package func values(of name: String) -> [String] {
    self.headers.filter { $0.name == name }.map(\.value)
  }

  /// The only value of a header field; `nil` if it is missing or repeated.
  ///
  /// - Parameter name: The name, in lower case.
  package func value(of name: String) -> String? {
    let values = self.values(of: name)
    return values.count == 1 ? values[0] : nil
  }

  /// The elements of a header field that is a list of tokens.
  ///
  /// - Parameter name: The name, in lower case.
  package func elements(of name: String) -> [String] {
    let elements = self.values(of: name).joined(separator: ",").split(separator: ",")
    return elements.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  /// The first value of a parameter in the query.
  package func parameter(_ name: String) -> String? {
    for pair in self.query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2, parts[0] == name { return String(parts[1]) }
    }
    return nil
  }
}

/// An HTTP response.
package struct WebResponse: Sendable {
  /// The status code.
  package var status: Int
  /// The header fields. The transport adds the fields about the connection and the length.
  package var headers: [(name: String, value: String)]
  /// The content.
  package var body: [UInt8]

  package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A response of one line of text.
  package static func text(_ status: Int, _ text: String) -> WebResponse {
    WebResponse(
      status: status,
      headers: [
        ("content-type", "text/plain; charset=utf-8"), ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
      ], body: Array("\(text)\n".utf8))
  }
}
