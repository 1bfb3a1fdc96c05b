import SidelightClient
import Testing

/// Each transition of the client's ledger, without tasks or time.
@Suite struct OutcomeLedgerStateMachineTests {
  typealias Machine = OutcomeLedger<String, String>.StateMachine

  static func drain(_ machine: inout Machine) -> [String] {
    var told: [String] = []
    while true {
      switch machine.next() {
      case .event(let event, let isCredit): told.append(isCredit ? "\(event) +1" : event)
      case .displaced(let sequence): told.append("displaced \(sequence)")
      case .wait: return told
      case .end(let result):
        if case .success = result { return told + ["end"] } else { return told + ["failure"] }
      }
    }
  }

  @Test("Fates are told in the order in which the frames were given, wherever they were decided")
  func order() {
    var machine = Machine()
    for sequence: UInt64 in 1 ... 4 { machine.add("frame \(sequence)", sequence: sequence) }
    machine.displace(2)
    machine.resolve(3, "made 3")
    #expect(Self.drain(&machine) == [])
    machine.resolve(1, "made 1")
    #expect(Self.drain(&machine) == ["made 1 +1", "displaced 2", "made 3 +1"])
    #expect(machine.pending(4) == "frame 4")
  }

  @Test("Frames displaced in a row are kept as one entry and told one by one")
  func displacedRuns() {
    var machine = Machine()
    for sequence: UInt64 in 1 ... 5 { machine.add("", sequence: sequence) }
    for sequence: UInt64 in [4, 2, 3] { machine.displace(sequence) }
    machine.resolve(1, "made 1")
    machine.resolve(5, "made 5")
    #expect(
      Self.drain(&machine) == [
        "made 1 +1", "displaced 2", "displaced 3", "displaced 4", "made 5 +1",
      ])
  }

  @Test(
    "What is no frame's fate stands before the frames whose fate is not known, and costs no credit")
  func otherEvents() {
    var machine = Machine()
    machine.add("", sequence: 1)
    machine.add("", sequence: 2)
    machine.resolve(1, "made 1")
    machine.tell("applied")
    machine.resolve(2, "made 2")
    #expect(Self.drain(&machine) == ["made 1 +1", "applied", "made 2 +1"])
  }

  @Test("A notice for a range means the frames of it whose fate is not known")
  func ranges() {
    var machine = Machine()
    for sequence: UInt64 in [1, 2, 4, 7] { machine.add("", sequence: sequence) }
    machine.displace(2)
    #expect(machine.pending(in: 1 ... 6) == [1, 4])
  }

  @Test("The end is told after everything else, and frames without fate do not hold it back")
  func end() {
    var machine = Machine()
    machine.add("", sequence: 1)
    machine.add("", sequence: 2)
    machine.resolve(1, "made 1")
    machine.finish(.failure(CancellationError()))
    #expect(Self.drain(&machine) == ["made 1 +1", "failure"])
  }
}
