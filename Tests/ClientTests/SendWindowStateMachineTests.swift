import SidelightClient
import Testing

/// Each transition of the client's window, without tasks or time.
@Suite struct SendWindowStateMachineTests {
  typealias Machine = SendWindow<Int, String>.StateMachine

  static func drain(_ machine: inout Machine) -> [String] {
    var sent: [String] = []
    while case .send(let element) = machine.next() {
      switch element {
      case .frame(let frame): sent.append("frame \(frame)")
      case .control(let control): sent.append(control)
      }
    }
    return sent
  }

  static func displaced(_ action: Machine.OfferAction) -> Int? {
    if case .accept(let displaced) = action { displaced } else { nil }
  }

  @Test("A frame leaves for a credit, and not without")
  func credits() {
    var machine = Machine(policy: .newestWins)
    _ = machine.offer(1)
    #expect(Self.drain(&machine) == [])
    machine.addCredits(2)
    #expect(Self.drain(&machine) == ["frame 1"])
    _ = machine.offer(2)
    #expect(Self.drain(&machine) == ["frame 2"])
    _ = machine.offer(3)
    #expect(Self.drain(&machine) == [])
  }

  @Test("While the window is shut, the newest frame takes the place of the one that waits")
  func newestWins() {
    var machine = Machine(policy: .newestWins)
    #expect(Self.displaced(machine.offer(1)) == nil)
    #expect(Self.displaced(machine.offer(2)) == 1)
    #expect(Self.displaced(machine.offer(3)) == 2)
    machine.addCredits(1)
    #expect(Self.drain(&machine) == ["frame 3"])
  }

  @Test("A selection given between two frames goes between them, and applies to the second alone")
  func selectionsKeepTheirPlace() {
    var machine = Machine(policy: .newestWins)
    _ = machine.offer(1)
    machine.push("select A")
    machine.addCredits(1)
    #expect(Self.drain(&machine) == ["frame 1", "select A"])
    _ = machine.offer(2)
    machine.push("select B")
    #expect(Self.displaced(machine.offer(3)) == 2)
    machine.addCredits(1)
    #expect(Self.drain(&machine) == ["select B", "frame 3"])
  }

  @Test(
    "Where nothing may be dropped, a second frame waits",
    arguments: [
      SessionOptions.DropPolicy.neverDrop, .keepOldest,
    ])
  func waiting(policy: SessionOptions.DropPolicy) {
    var machine = Machine(policy: policy)
    _ = machine.offer(1)
    guard case .wait = machine.offer(2) else {
      Issue.record("the second frame was taken in")
      return
    }
    let isFrameWaiting1 = machine.isFrameWaiting
    #expect(isFrameWaiting1)
    machine.addCredits(1)
    #expect(Self.drain(&machine) == ["frame 1"])
    let isFrameWaiting2 = machine.isFrameWaiting
    #expect(!isFrameWaiting2)
  }

  @Test("After the end nothing is taken in, and what is in still goes")
  func end() {
    var machine = Machine(policy: .newestWins)
    machine.addCredits(1)
    _ = machine.offer(1)
    machine.finish()
    guard case .refuse = machine.offer(2) else {
      Issue.record("a frame was taken in after the end")
      return
    }
    machine.push("late")
    #expect(Self.drain(&machine) == ["frame 1"])
    guard case .finished = machine.next() else {
      Issue.record("the window did not end")
      return
    }
  }
}
