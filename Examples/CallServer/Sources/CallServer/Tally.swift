import SidelightClient

/// Counts the outcomes of frames. Each frame has exactly one, in order.
struct Tally: CustomStringConvertible {
  private var made = 0
  private var dropped: [DroppedFrame.Reason: Int] = [:]
  private var revisions: Set<UInt64> = []

  mutating func note(_ event: SessionEvent) {
    switch event {
    case .outcome(.made(let frame)):
      // A call server sends the picture to the other participants here.
      self.made += 1
      self.revisions.insert(frame.revision)
    case .outcome(.dropped(let frame)): self.dropped[frame.reason, default: 0] += 1
    case .rejected(let change): print("the server refused a pipeline: \(change.message)")
    case .state(.draining): print("the server is shutting down; use another one")
    default: break
    }
  }

  var description: String {
    let dropped = self.dropped.map { "\($0.value) dropped (\($0.key.rawValue))" }.sorted()
    return
      ([
        "\(self.made) frames came back, filtered by \(self.revisions.count) pipelines"
      ] + dropped).joined(separator: "; ")
  }
}
