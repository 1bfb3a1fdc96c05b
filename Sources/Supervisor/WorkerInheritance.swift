import Foundation

/// What a worker is told when it starts, in a variable of its environment.
package struct WorkerInheritance: Codable, Hashable {
  /// The variable.
  package static let variable = "SIDELIGHT_WORKER"

  /// A socket that listens.
  package struct Socket: Codable, Hashable {
    /// Where, as `Address` writes it.
    package var address: String
    package var descriptor: Int32

    package init(address: String, descriptor: Int32) {
      self.address = address
      self.descriptor = descriptor
    }
  }

  /// Which worker it is, from 0 on.
  package var index: Int
  /// How many there are.
  package var count: Int
  /// How often this one was started, with this time.
  package var starts: Int
  /// The line to the supervisor.
  package var control: Int32
  /// In the order of the supervisor's addresses.
  package var sockets: [Socket]

  /// - Throws: ``WorkerFault`` if the text is none that a supervisor writes.
  package init(text: String) throws(WorkerFault) {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    } catch {
      throw WorkerFault(
        description: "\(Self.variable) is set by a supervisor for its workers, and by nobody else")
    }
  }

  package init(index: Int, count: Int, starts: Int, control: Int32 = -1, sockets: [Socket]) {
    self.index = index
    self.count = count
    self.starts = starts
    self.control = control
    self.sockets = sockets
  }

  /// What ``init(text:)`` reads.
  package var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings and numbers can always be written.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
