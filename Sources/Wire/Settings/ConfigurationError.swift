/// A setting whose value is out of its range.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The setting, by its path: `transport.streamWindowBytes`.
  public let setting: String
  /// Its value.
  public let value: String
  /// The allowed values.
  public let range: String

  /// Creates an error.
  public init(setting: String, value: String, range: String) {
    self.setting = setting
    self.value = value
    self.range = range
  }

  /// The setting, its value, and the allowed values.
  public var description: String {
    "\(self.setting) is \(self.value), the range is \(self.range)"
  }
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
