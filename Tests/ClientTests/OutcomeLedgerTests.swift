import SidelightClient
import Testing

/// Each transition of the client's ledger, without tasks or time.
@Suite struct OutcomeLedgerTests {
  typealias Ledger = OutcomeLedger<String, String>

  static func ledger(_ count: UInt64) -> Ledger {
    var ledger = Ledger(standInLimit: 2)
    for sequence in 1 ... count { ledger.add("frame \(sequence)", sequence: sequence) }
    return ledger
  }

  static func drain(_ ledger: inout Ledger) -> [String] {
    var told: [String] = []
    while ledger.hasNews {
      switch ledger.next() {
      case .told(.event(let event)): told.append(event)
      case .told(.outcome(let event, let sequence, let isPicture)):
        told.append("\(event) +\(sequence)\(isPicture ? " picture" : "")")
      case .told(.dropped(let sequence, let reason)): told.append("\(reason) \(sequence)")
      case .wait: Issue.record("there was no news")
      case .end(let result):
        if case .success = result { return told + ["end"] } else { return told + ["failure"] }
      }
    }
    return told
  }

  @Test("Fates are told in the order in which the frames were given, wherever they were decided")
  func order() {
    var ledger = Self.ledger(4)
    ledger.drop(2, .supersededBeforeSending)
    ledger.resolve(3, "paused 3", as: .dropped(.paused))
    #expect(Self.drain(&ledger) == [])
    ledger.resolve(1, "made 1", as: .made(.filtered))
    #expect(
      Self.drain(&ledger) == ["made 1 +1 picture", "supersededBeforeSending 2", "paused 3 +3"])
    #expect(ledger.pending(4) == "frame 4")
  }

  @Test("At any time the frames given are the sum of the others, each decided once")
  func counts() {
    var ledger = Self.ledger(6)
    #expect(ledger.counts.given == 6)
    #expect(ledger.counts.undecided == 6)
    ledger.resolve(1, "", as: .made(.filtered))
    ledger.resolve(1, "", as: .made(.filtered))
    ledger.resolve(2, "", as: .made(.passedThrough))
    ledger.resolve(3, "", as: .made(.degraded))
    ledger.resolve(4, "", as: .dropped(.lateOnOutput))
    ledger.drop(5, .connectionLost)
    ledger.drop(5, .disconnected)
    let counts = ledger.counts
    #expect(counts.undecided == 1)
    #expect([counts.filtered, counts.passedThrough, counts.degraded] == [1, 1, 1])
    #expect(counts.dropped == [.lateOnOutput: 1, .connectionLost: 1])
    _ = Self.drain(&ledger)
    #expect(ledger.counts == counts, "taking outcomes changes no count")
  }

  @Test("Frames dropped in a row for one reason are kept as one entry and told one by one")
  func runs() {
    var ledger = Self.ledger(6)
    for sequence: UInt64 in [4, 2, 3] { ledger.drop(sequence, .supersededBeforeSending) }
    ledger.drop(5, .disconnected)
    ledger.resolve(1, "made", as: .made(.filtered))
    ledger.resolve(6, "made", as: .made(.filtered))
    #expect(
      Self.drain(&ledger) == [
        "made +1 picture", "supersededBeforeSending 2", "supersededBeforeSending 3",
        "supersededBeforeSending 4", "disconnected 5", "made +6 picture",
      ])
  }

  @Test("Of the pictures that stand in only the newest are kept; the frames keep their outcomes")
  func standIns() {
    var ledger = Self.ledger(4)
    for sequence: UInt64 in 1 ... 4 {
      ledger.drop(sequence, .disconnected, standIn: "original \(sequence)")
    }
    #expect(
      Self.drain(&ledger) == ["disconnected 1", "disconnected 2", "original 3", "original 4"])
    ledger.add("", sequence: 5)
    ledger.drop(5, .disconnected, standIn: "original 5")
    #expect(Self.drain(&ledger) == ["original 5"], "those that were taken make room")
  }

  @Test("What is no frame's fate stands before the frames whose fate is not known")
  func otherEvents() {
    var ledger = Self.ledger(2)
    ledger.resolve(1, "made", as: .made(.filtered))
    ledger.tell("applied")
    ledger.resolve(2, "made", as: .made(.filtered))
    #expect(Self.drain(&ledger) == ["made +1 picture", "applied", "made +2 picture"])
  }

  @Test("Of one topic only the newest is kept until it is taken")
  func topics() {
    var ledger = Self.ledger(1)
    ledger.tell("stats 1", topic: "stats")
    ledger.tell("advice", topic: "advice")
    ledger.tell("stats 2", topic: "stats")
    ledger.tell("applied 1")
    ledger.tell("applied 2")
    #expect(Self.drain(&ledger) == ["advice", "stats 2", "applied 1", "applied 2"])
    ledger.tell("stats 3", topic: "stats")
    #expect(Self.drain(&ledger) == ["stats 3"])
  }

  @Test("A notice for a range means the frames of it whose fate is not known")
  func ranges() {
    var ledger = Self.ledger(7)
    ledger.drop(2, .supersededBeforeSending)
    #expect(ledger.pending(in: 1 ... 4).map(\.sequence) == [1, 3, 4])
    #expect(ledger.pending(in: ..<3).map(\.frame) == ["frame 1"])
  }

  @Test(
    "The end is told after everything else, and once it is told it stays", arguments: [true, false])
  func end(isFailure: Bool) {
    var ledger = Self.ledger(1)
    ledger.resolve(1, "made", as: .made(.filtered))
    ledger.finish(isFailure ? .failure(CancellationError()) : .success(()))
    ledger.finish(.success(()))
    #expect(Self.drain(&ledger) == ["made +1 picture", isFailure ? "failure" : "end"])
    #expect(Self.drain(&ledger) == [isFailure ? "failure" : "end"])
  }
}
