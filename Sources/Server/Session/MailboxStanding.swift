/// What a frame may claim when a mailbox is full.
package struct EvictionPriority: Sendable, Hashable {
  /// The lowest goes first.
  package var priority: Int32
  /// Whether it stays whatever comes.
  package var mustStay: Bool

  package init(priority: Int32 = 0, mustStay: Bool = false) {
    self.priority = priority
    self.mustStay = mustStay
  }
}
