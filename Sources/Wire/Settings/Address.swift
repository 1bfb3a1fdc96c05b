/// An address that a server listens at, or a client connects to.
public enum Address: Sendable, Hashable, CustomStringConvertible {
  /// A host name or an IP address, and a port; port 0 lets the system choose when listening.
  case tcp(host: String, port: Int)
  /// A Unix domain socket by its path.
  case unix(path: String)

  /// Reads `127.0.0.1:50051`, `[::1]:50051`, `host:50051` or `unix:/run/sidelight.sock`.
  ///
  /// - Throws: ``AddressError`` that names the expected form.
  public init(_ text: String) throws(AddressError) {
    if text.hasPrefix("unix:") {
      var path = Substring(text.dropFirst("unix:".count))
      if path.hasPrefix("///") { path = path.dropFirst(2) }
      guard !path.isEmpty else { throw AddressError(text: text, reason: "the path is missing") }
      // sun_path holds 108 bytes, the last of them zero.
      guard path.utf8.count <= 107 else {
        throw AddressError(
          text: text, reason: "the path has \(path.utf8.count) bytes, the limit is 107")
      }
      self = .unix(path: String(path))
      return
    }
    guard let colon = text.lastIndex(of: ":") else {
      throw AddressError(text: text, reason: "expected HOST:PORT or unix:PATH")
    }
    guard let port = Int(text[text.index(after: colon)...]), (0 ... 65535).contains(port) else {
      throw AddressError(text: text, reason: "the port must be 0 to 65535")
    }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      throw AddressError(text: text, reason: "an IPv6 address must be in brackets: [::1]:50051")
    }
    guard !host.isEmpty else { throw AddressError(text: text, reason: "the host is missing") }
    self = .tcp(host: String(host), port: port)
  }

  /// The form that ``init(_:)`` reads.
  public var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}

/// A text that is not an address.
public struct AddressError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text.
  public let text: String
  /// The error in the text.
  public let reason: String

  /// The text and its error.
  public var description: String { "'\(self.text)' is not an address: \(self.reason)" }
}

/// The reason why a server does not listen at an address.
public struct ListeningError: Error, Sendable, CustomStringConvertible {
  /// The kind of reason.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Another server listens there.
    case inUse
    /// The path has a file that is not the socket of a dead server. It is not replaced.
    case notASocket
    /// This process may not listen there.
    case noPermission
    /// The folder of a Unix socket, or the address of a machine, does not exist here.
    case notFound
    /// The path of a Unix socket is too long for the system's address.
    case pathTooLong
    /// Anything else.
    case other
  }

  /// The kind of reason.
  public let code: Code
  /// The address.
  public let address: Address
  /// The reason, for a message.
  public let message: String

  /// The address and the reason.
  public var description: String { "cannot listen on \(self.address): \(self.message)" }

  package init(_ code: Code, _ address: Address, _ message: String) {
    self.code = code
    self.address = address
    self.message = message
  }
}
