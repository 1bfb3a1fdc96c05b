import SidelightClient
import Testing

/// All transitions of the client's queue of outcomes, without tasks or time.
@Suite struct ClientOutcomeQueueTests {
  typealias Queue = ClientOutcomeQueue<String, String>

  static func queue(_ count: UInt64) -> Queue {
    var queue = Queue(fallbackLimit: 2)
    for sequence in 1 ... count { queue.add("frame \(sequence)", sequence: sequence) }
    return queue
  }

  static func drain(_ queue: inout Queue) -> [String] {
    var received: [String] = []
    while queue.isReady {
      switch queue.next() {
      case .item(.event(let event)): received.append(event)
      case .item(.outcome(let event, let sequence, let isPicture)):
        received.append("\(event) +\(sequence)\(isPicture ? " picture" : "")")
      case .item(.dropped(let sequence, let reason)): received.append("\(reason) \(sequence)")
      case .wait: Issue.record("the queue has no item")
      case .end(let result):
        if case .success = result {
          return received + ["end"]
        } else {
          return received + ["failure"]
        }
      }
    }
    return received
  }

  @Test func `outcomes are reported in the order in which the frames were accepted`() {
    var queue = Self.queue(4)
    queue.drop(2, .supersededBeforeSending)
    queue.resolve(3, "paused 3", as: .dropped(.paused))
    #expect(Self.drain(&queue) == [])
    queue.resolve(1, "filtered 1", as: .filtered(.filtered))
    #expect(
      Self.drain(&queue) == ["filtered 1 +1 picture", "supersededBeforeSending 2", "paused 3 +3"])
    #expect(queue.pending(4) == "frame 4")
  }

  @Test func `the number of accepted frames is always the sum of the other counts`() {
    var queue = Self.queue(6)
    #expect(queue.counts.submitted == 6)
    #expect(queue.counts.pending == 6)
    queue.resolve(1, "", as: .filtered(.filtered))
    queue.resolve(1, "", as: .filtered(.filtered))
    queue.resolve(2, "", as: .filtered(.passedThrough))
    queue.resolve(3, "", as: .filtered(.degraded))
    queue.resolve(4, "", as: .dropped(.lateOnOutput))
    queue.drop(5, .connectionLost)
    queue.drop(5, .disconnected)
    let counts = queue.counts
    #expect(counts.pending == 1)
    #expect([counts.filtered, counts.passedThrough, counts.degraded] == [1, 1, 1])
    #expect(counts.dropped == [.lateOnOutput: 1, .connectionLost: 1])
    _ = Self.drain(&queue)
    #expect(queue.counts == counts, "taking outcomes changes no count")
  }

  @Test
  func `frames dropped in a row for one reason are kept as one entry and reported one by one`() {
    var queue = Self.queue(6)
    for sequence: UInt64 in [4, 2, 3] { queue.drop(sequence, .supersededBeforeSending) }
    queue.drop(5, .disconnected)
    queue.resolve(1, "filtered", as: .filtered(.filtered))
    queue.resolve(6, "filtered", as: .filtered(.filtered))
    #expect(
      Self.drain(&queue) == [
        "filtered +1 picture", "supersededBeforeSending 2", "supersededBeforeSending 3",
        "supersededBeforeSending 4", "disconnected 5", "filtered +6 picture",
      ])
  }

  @Test
  func `of the replacement pictures only the newest are kept; the frames keep their outcomes`() {
    var queue = Self.queue(4)
    for sequence: UInt64 in 1 ... 4 {
      queue.drop(sequence, .disconnected, fallback: "original \(sequence)")
    }
    #expect(
      Self.drain(&queue) == ["disconnected 1", "disconnected 2", "original 3", "original 4"])
    queue.add("", sequence: 5)
    queue.drop(5, .disconnected, fallback: "original 5")
    #expect(Self.drain(&queue) == ["original 5"], "outcomes that were taken free capacity")
  }

  @Test func `an event about no frame comes before the frames whose outcome is not known`() {
    var queue = Self.queue(2)
    queue.resolve(1, "filtered", as: .filtered(.filtered))
    queue.push("applied")
    queue.resolve(2, "filtered", as: .filtered(.filtered))
    #expect(Self.drain(&queue) == ["filtered +1 picture", "applied", "filtered +2 picture"])
  }

  @Test func `of one topic only the newest is kept until it is taken`() {
    var queue = Self.queue(1)
    queue.push("stats 1", topic: "stats")
    queue.push("advice", topic: "advice")
    queue.push("stats 2", topic: "stats")
    queue.push("applied 1")
    queue.push("applied 2")
    #expect(Self.drain(&queue) == ["advice", "stats 2", "applied 1", "applied 2"])
    queue.push("stats 3", topic: "stats")
    #expect(Self.drain(&queue) == ["stats 3"])
  }

  @Test func `a notice for a range applies to the frames in it whose outcome is not known`() {
    var queue = Self.queue(7)
    queue.drop(2, .supersededBeforeSending)
    #expect(queue.pending(in: 1 ... 4).map(\.sequence) == [1, 3, 4])
    #expect(queue.pending(in: ..<3).map(\.frame) == ["frame 1"])
  }

  @Test(arguments: [true, false])
  func `the end is reported last, and again at each later read`(isFailure: Bool) {
    var queue = Self.queue(1)
    queue.resolve(1, "filtered", as: .filtered(.filtered))
    queue.finish(isFailure ? .failure(CancellationError()) : .success(()))
    queue.finish(.success(()))
    #expect(Self.drain(&queue) == ["filtered +1 picture", isFailure ? "failure" : "end"])
    #expect(Self.drain(&queue) == [isFailure ? "failure" : "end"])
  }
}
