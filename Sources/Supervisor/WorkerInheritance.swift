import Foundation

/// The data that a worker receives in an environment variable when it starts.
package struct WorkerInheritance: Codable, Hashable {
  /// The name of the variable.
  package static let variable = "SIDELIGHT_WORKER"

  /// A listening socket.
  package struct Socket: Codable, Hashable {
    /// The address, as `Address` formats it.
    package var address: String
    package var descriptor: Int32

    package init(address: String, descriptor: Int32) {
      self.address = address
      self.descriptor = descriptor
    }
  }

  /// The number of the worker, from 0.
  package var index: Int
  /// The number of workers.
  package var count: Int
  /// The number of starts of this worker, including the current one.
  package var starts: Int
  /// The descriptor of the control socket.
  package var control: Int32
  /// The listening sockets, in the order of the supervisor's addresses.
  package var sockets: [Socket]

  /// Parses the value of the variable.
  ///
  /// - Throws: ``WorkerSetupError`` if a supervisor did not write the text.
  package init(text: String) throws(WorkerSetupError) {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    } catch {
      throw WorkerSetupError(
        description: "\(Self.variable) is invalid; only a supervisor sets it, for its workers")
    }
  }

  package init(index: Int, count: Int, starts: Int, control: Int32 = -1, sockets: [Socket]) {
    self.index = index
    self.count = count
    self.starts = starts
    self.control = control
    self.sockets = sockets
  }

  /// The value of the variable, which ``init(text:)`` parses.
  package var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings and numbers can always be encoded.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
