/// A first-in, first-out queue in a ring of memory.
///
/// The ring doubles when it is full and halves when a quarter of it is used, so its capacity follows
/// the number of waiting elements and not the number that ever passed. Both operations take amortized
/// constant time.
package struct RingQueue<Element> {
  private var slots: [Element?]
  /// The slot of the first element.
  private var head = 0
  /// The number of waiting elements.
  package private(set) var count = 0

  /// The least capacity, to which the ring returns.
  package static var minimumCapacity: Int { 16 }

  package init() {
    self.slots = Array(repeating: nil, count: Self.minimumCapacity)
  }

  /// The number of elements for which there is room without allocating more.
  package var capacity: Int { self.slots.count }

  package var isEmpty: Bool { self.count == 0 }

  /// Adds an element behind the others.
  package mutating func append(_ element: Element) {
    if self.count == self.slots.count { self.resize(to: 2 * self.slots.count) }
    self.slots[(self.head + self.count) % self.slots.count] = element
    self.count += 1
  }

  /// Removes the element that was added first.
  ///
  /// - Returns: `nil` if the queue is empty.
  package mutating func popFirst() -> Element? {
    guard self.count > 0 else { return nil }
    let element = self.slots[self.head].take()
    self.head = (self.head + 1) % self.slots.count
    self.count -= 1
    if self.slots.count > Self.minimumCapacity, self.count <= self.slots.count / 4 {
      self.resize(to: self.slots.count / 2)
    }
    return element
  }

  private mutating func resize(to capacity: Int) {
    var slots = [Element?](repeating: nil, count: capacity)
    for index in 0 ..< self.count {
      slots[index] = self.slots[(self.head + index) % self.slots.count]
    }
    self.slots = slots
    self.head = 0
  }
}
