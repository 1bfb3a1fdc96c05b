import SidelightClient
import SidelightKernels
import Testing

/// Each transition of the journal.
@Suite struct SelectionJournalTests {
  static let first: Pipeline = [Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm")]

  static func warm(_ intensity: Double, isActive: Bool = true) -> Pipeline {
    [
      Stage(
        .filter(FilterCall(name: "sepiaTone", parameters: ["intensity": .number(intensity)])),
        id: "warm", isActive: isActive)
    ]
  }

  static func update(_ intensity: Double) -> PipelineChange {
    .update(["warm": ["intensity": .number(intensity)]])
  }

  /// Records a change and sends it.
  static func send(
    _ change: PipelineChange, isConditional: Bool = false, in journal: inout SelectionJournal
  ) -> UInt64 {
    let requestID = journal.record(change, isConditional: isConditional)
    journal.send(requestID)
    return requestID
  }

  @Test("What the server put into force is what the session is opened with")
  func applied() {
    var journal = SelectionJournal(pipeline: Self.first)
    #expect(journal.pipeline == Self.first)
    _ = Self.send(Self.update(0.5), in: &journal)
    let second = Self.send(.activate(["warm": false]), in: &journal)
    #expect(journal.pipeline == Self.first, "it is not known yet whether the server takes them")
    journal.apply(second)
    #expect(journal.pipeline == Self.warm(0.5, isActive: false))
    #expect(journal.takeReplay() == nil)
  }

  @Test("Changes without an answer are asked for again, as one, in the name of the last")
  func replay() {
    var journal = SelectionJournal(pipeline: Self.first)
    _ = Self.send(Self.update(0.5), in: &journal)
    let last = Self.send(.activate(["warm": false]), in: &journal)
    #expect(journal.loseConnection().isEmpty)
    #expect(
      journal.takeReplay()
        == SelectionJournal.Replay(pipeline: Self.warm(0.5, isActive: false), requestID: last))
    journal.apply(last)
    #expect(journal.takeReplay() == nil)
  }

  @Test("A change that waits to be sent is not asked for twice")
  func unsent() {
    var journal = SelectionJournal(pipeline: Self.first)
    let sent = Self.send(Self.update(0.5), in: &journal)
    _ = journal.record(Self.update(0.9), isConditional: false)
    _ = journal.loseConnection()
    #expect(
      journal.takeReplay()
        == SelectionJournal.Replay(pipeline: Self.warm(0.5), requestID: sent))
  }

  @Test("A change that was refused is not asked for again")
  func rejected() {
    var journal = SelectionJournal(pipeline: Self.first)
    let refused = Self.send(.select([.filter("nope")]), in: &journal)
    let kept = Self.send(Self.update(0.25), in: &journal)
    #expect(journal.reject(refused) == nil)
    #expect(
      journal.takeReplay() == SelectionJournal.Replay(pipeline: Self.warm(0.25), requestID: kept))
  }

  @Test("If the last of several that were asked for as one is refused, the others still count")
  func rejectedReplay() {
    var journal = SelectionJournal(pipeline: Self.first)
    let good = Self.send(Self.update(0.5), in: &journal)
    let bad = Self.send(.select([.filter("nope")]), in: &journal)
    _ = journal.loseConnection()
    #expect(journal.takeReplay()?.requestID == bad)
    #expect(
      journal.reject(bad)
        == SelectionJournal.Replay(pipeline: Self.warm(0.5), requestID: good))
    journal.apply(good)
    #expect(journal.pipeline == Self.warm(0.5))
  }

  @Test("A change with a condition is not asked for twice: its fate is not known")
  func conditional() {
    var journal = SelectionJournal(pipeline: Self.first)
    let conditional = Self.send(Self.update(0.5), isConditional: true, in: &journal)
    let waiting = journal.record(Self.update(0.7), isConditional: true)
    #expect(journal.loseConnection() == [conditional])
    #expect(journal.takeReplay() == nil)
    journal.send(waiting)
    #expect(journal.loseConnection() == [waiting])
  }

  @Test("A change that cannot be is left out, as the server leaves it out")
  func impossible() {
    var journal = SelectionJournal(pipeline: Self.first)
    let last = Self.send(.activate(["no such stage": false]), in: &journal)
    #expect(
      journal.takeReplay() == SelectionJournal.Replay(pipeline: Self.first, requestID: last))
  }

  @Test("Changes that no frame is made with are kept in bounds, and none is lost")
  func bounds() {
    var journal = SelectionJournal(pipeline: Self.first)
    var last: UInt64 = 0
    for step in 1 ... 1000 { last = Self.send(Self.update(Double(step) / 1000), in: &journal) }
    #expect(
      journal.takeReplay() == SelectionJournal.Replay(pipeline: Self.warm(1), requestID: last))
    #expect(journal.pipeline == Self.warm(0.936), "all but the last 64 count as accepted")
  }
}
