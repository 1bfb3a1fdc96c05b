/// How connections over TCP are secured. Unix sockets never are: the kernel stands for them.
///
/// The files are read for each connection: one that is replaced counts from the next on.
public struct ClientTLS: Sendable, Hashable {
  /// - `authorities` (path, optional, default: those of the system): a PEM file with the authorities
  ///   that vouch for servers.
  public var authorities: String?
  /// - `certificateChain` (path, optional, default: none): a PEM file with this client's certificate,
  ///   for servers that ask for one.
  public var certificateChain: String?
  /// - `privateKey` (path, required with `certificateChain`): a PEM file with its key, not encrypted.
  public var privateKey: String?
  /// - `serverName` (optional, default: the host of the address): the name that the server's certificate
  ///   must have. For an address that is an IP address, and no name is given, it is that.
  public var serverName: String?

  /// The defaults: servers whose certificates the system's authorities vouch for.
  public init() {}
}
