/// Why a server does not listen at an address.
public struct ListeningError: Error, Sendable, CustomStringConvertible {
  /// What is in the way.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Another server listens there.
    case inUse
    /// There is something that is no socket of a server that is gone; it is not replaced.
    case notASocket
    /// This process may not listen there.
    case noPermission
    /// The folder of a Unix socket, or the address of a machine, does not exist here.
    case notFound
    /// A Unix socket's path has no room in the system's address.
    case pathTooLong
    /// Anything else.
    case other
  }

  /// What is in the way.
  public let code: Code
  /// Where.
  public let address: Address
  /// What is in the way, in words.
  public let message: String

  /// The address and what is in the way.
  public var description: String { "cannot listen on \(self.address): \(self.message)" }

  package init(_ code: Code, _ address: Address, _ message: String) {
    self.code = code
    self.address = address
    self.message = message
  }
}
