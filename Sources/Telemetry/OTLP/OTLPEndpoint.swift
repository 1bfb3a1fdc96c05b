/// The address of a collector for OTLP over gRPC.
public struct OTLPEndpoint: Sendable, Hashable, CustomStringConvertible {
  /// The target of the connection.
  public enum Target: Sendable, Hashable {
    /// A host name or address, and a port.
    case tcp(host: String, port: Int)
    /// A Unix socket.
    case unix(path: String)
  }

  /// The target of the connection.
  public var target: Target
  /// Whether the connection uses TLS.
  public var isSecure: Bool

  /// The default: `http://localhost:4317`.
  public init(target: Target = .tcp(host: "localhost", port: 4317), isSecure: Bool = false) {
    self.target = target
    self.isSecure = isSecure
  }

  /// Parses an endpoint.
  ///
  /// - Parameters:
  ///   - text: `http://HOST:PORT`, `https://HOST:PORT`, `HOST:PORT` or `unix:PATH`. The default
  ///     port is 4317. A path after the port is ignored, because gRPC doesn't use it.
  ///   - isInsecure: Whether an endpoint without a scheme is connected to without TLS.
  /// - Returns: `nil` if the text doesn't have one of these forms.
  public init?(_ text: String, isInsecure: Bool = false) {
    if let path = text.dropping(prefix: "unix:") {
      guard !path.isEmpty else { return nil }
      self.init(target: .unix(path: String(path)), isSecure: false)
      return
    }
    let lowercased = text.lowercased()
    let (rest, isSecure): (Substring, Bool)
    if lowercased.hasPrefix("http://") {
      (rest, isSecure) = (text.dropFirst(7), false)
    } else if lowercased.hasPrefix("https://") {
      (rest, isSecure) = (text.dropFirst(8), true)
    } else if !text.contains("://") {
      (rest, isSecure) = (text[...], !isInsecure)
    } else {
      return nil
    }
    guard let target = Self.target(rest.prefix { $0 != "/" && $0 != "?" }) else { return nil }
    self.init(target: target, isSecure: isSecure)
  }

  /// The endpoint as a URL.
  public var description: String {
    switch self.target {
    case .unix(let path): "unix:\(path)"
    case .tcp(let host, let port):
      "\(self.isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
  }

  private static func target(_ authority: Substring) -> Target? {
    var host = authority
    var port: Substring?
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[authority.index(after: authority.startIndex) ..< end]
      let rest = authority[authority.index(after: end)...]
      guard rest.isEmpty || rest.first == ":" else { return nil }
      port = rest.isEmpty ? nil : rest.dropFirst()
    } else if let colon = authority.firstIndex(of: ":") {
      host = authority[..<colon]
      port = authority[authority.index(after: colon)...]
    }
    guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || $0 == "@" }) else { return nil }
    guard let port else { return .tcp(host: String(host), port: 4317) }
    guard let number = Int(port), (1 ... 65535).contains(number) else { return nil }
    return .tcp(host: String(host), port: number)
  }
}

extension String {
  fileprivate func dropping(prefix: String) -> Substring? {
    self.hasPrefix(prefix) ? self.dropFirst(prefix.count) : nil
  }
}
