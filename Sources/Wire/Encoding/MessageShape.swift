/// Which fields of a message are messages themselves, all the way down. Nothing else of a message
/// needs to be known to count what is in it.
package struct MessageShape: Sendable {
  /// For each message of a contract, the messages that its fields are, by field number.
  let messages: [[UInt32: Int]]
  /// Which of them this is.
  let index: Int

  /// The shape of a field; `nil` if it is no message, or not known.
  package func field(_ number: UInt32) -> MessageShape? {
    self.messages[self.index][number].map { MessageShape(messages: self.messages, index: $0) }
  }
}
