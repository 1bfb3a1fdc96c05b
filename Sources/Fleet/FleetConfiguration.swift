import Foundation

/// The etcd through which the servers of a fleet share overrides and the use of quotas.
public struct FleetConfiguration: Sendable, Hashable, CustomStringConvertible {
  /// The name or address of the host. If a name has several addresses, all are tried.
  public let host: String
  /// The port. The default is 2379.
  public let port: Int
  /// Whether the connection uses TLS, with the system's certificate authorities.
  public let isSecure: Bool
  /// The beginning of all keys, which separates fleets that share an etcd. The default is
  /// `sidelight`.
  public let prefix: String

  /// Parses a URL: `http://HOST:PORT/PREFIX`, or `https://HOST:PORT/PREFIX`. Port and prefix are
  /// optional.
  ///
  /// - Returns: `nil` if the text doesn't have this form.
  public init?(_ text: String) {
    guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty,
      url.scheme == "http" || url.scheme == "https",
      url.user == nil, url.password == nil, url.query == nil, url.fragment == nil
    else { return nil }
    let port = url.port ?? 2379
    guard (1 ... 65535).contains(port) else { return nil }
    let path = url.path.split(separator: "/")
    guard path.count <= 1 else { return nil }
    self.host = host.trimmingCharacters(in: ["[", "]"])
    self.port = port
    self.isSecure = url.scheme == "https"
    self.prefix = path.first.map(String.init) ?? "sidelight"
  }

  /// The URL with port and prefix.
  public var description: String {
    let host = self.host.contains(":") ? "[\(self.host)]" : self.host
    return "\(self.isSecure ? "https" : "http")://\(host):\(self.port)/\(self.prefix)"
  }
}
