import GRPCCore
import GRPCProtobuf
import SidelightServer
import SidelightWire
import Testing

/// All transitions of the outcome queue, without tasks or time.
@Suite struct OutcomeQueueStateMachineTests {
  typealias Machine = OutcomeQueue<String, String>.StateMachine

  static func finished(
    _ sequence: UInt64, revision: UInt64 = 1, disposition: FrameDisposition = .filtered
  ) -> FinishedFrame<String> {
    FinishedFrame(
      sequence: sequence, disposition: disposition,
      revision: Revision(number: revision, requestID: revision * 10), byteCount: 100,
      payload: "frame \(sequence)")
  }

  static let superseded = Drop(reason: .superseded, stage: .mailbox)

  /// Takes out everything that can go now, in words.
  static func drain(_ machine: inout Machine, at now: Duration = .zero) -> [String] {
    var items: [String] = []
    while case .item(let item) = machine.next(at: now) {
      switch item {
      case .control(let control): items.append(control)
      case .applied(let revision, let first): items.append("applied \(revision.number) at \(first)")
      case .frame(let frame): items.append(frame.payload)
      case .dropped(let run):
        items.append("\(run.drop.reason) \(run.firstSequence)-\(run.lastSequence) x\(run.count)")
      case .finalCounts: items.append("final")
      }
    }
    return items
  }

  @Test func `outcomes are sent in the order of arrival, in any order of completion`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256)
    let arrivals = (1 ... 3).map { machine.reserve(sequence: $0, byteCount: 1).arrival }
    _ = machine.resolve(arrivals[2], finished: Self.finished(3))
    machine.resolve(arrivals[1], dropped: Self.superseded)
    #expect(Self.drain(&machine) == [])
    _ = machine.resolve(arrivals[0], finished: Self.finished(1))
    #expect(Self.drain(&machine) == ["applied 1 at 1", "frame 1", "superseded 2-2 x1", "frame 3"])
  }

  @Test func `adjacent drops for the same reason become one notice`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256)
    let arrivals = (1 ... 6).map { machine.reserve(sequence: $0, byteCount: 1).arrival }
    for index in [3, 1, 2] { machine.resolve(arrivals[index], dropped: Self.superseded) }
    machine.resolve(arrivals[4], dropped: Drop(reason: .queueFull, stage: .mailbox))
    machine.resolve(arrivals[5], dropped: Self.superseded)
    _ = machine.resolve(arrivals[0], finished: Self.finished(1))
    #expect(
      Self.drain(&machine) == [
        "applied 1 at 1", "frame 1", "superseded 2-4 x3", "queueFull 5-5 x1", "superseded 6-6 x1",
      ])
  }

  @Test func `drops with a diagnostic are reported one by one`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256)
    let drop = Drop(
      reason: .invalidFrame, stage: .arrival,
      diagnostic: .init(code: .invalidArgument, message: "no", details: []))
    for sequence: UInt64 in 1 ... 2 {
      machine.resolve(
        machine.reserve(sequence: sequence, byteCount: 1).arrival, dropped: drop)
    }
    #expect(Self.drain(&machine) == ["invalidFrame 1-1 x1", "invalidFrame 2-2 x1"])
  }

  @Test func `a picture beyond the limit displaces the oldest waiting one`() {
    var machine = Machine(pictureLimit: 2, backlogLimit: 256)
    let arrivals = (1 ... 3).map { machine.reserve(sequence: $0, byteCount: 1).arrival }
    #expect(machine.resolve(arrivals[0], finished: Self.finished(1)) == nil)
    let hasRoomForPicture1 = machine.hasPictureCapacity
    #expect(hasRoomForPicture1)
    #expect(machine.resolve(arrivals[1], finished: Self.finished(2)) == nil)
    let hasRoomForPicture2 = machine.hasPictureCapacity
    #expect(!hasRoomForPicture2)
    #expect(machine.resolve(arrivals[2], finished: Self.finished(3)) == "frame 1")
    #expect(
      Self.drain(&machine) == ["outputSuperseded 1-1 x1", "applied 1 at 2", "frame 2", "frame 3"])
  }

  @Test func `a revision is announced once, before its first frame`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256)
    for (sequence, revision) in [(1, 1), (2, 1), (3, 4), (4, 4)] as [(UInt64, UInt64)] {
      let arrival = machine.reserve(sequence: sequence, byteCount: 1).arrival
      _ = machine.resolve(arrival, finished: Self.finished(sequence, revision: revision))
    }
    #expect(
      Self.drain(&machine) == [
        "applied 1 at 1", "frame 1", "frame 2", "applied 4 at 3", "frame 3", "frame 4",
      ])
  }

  @Test func `control messages overtake outcomes and are never dropped`() {
    var machine = Machine(pictureLimit: 1, backlogLimit: 256)
    let arrival = machine.reserve(sequence: 1, byteCount: 1).arrival
    for number in 0 ..< 100 { machine.push("control \(number)") }
    _ = machine.resolve(arrival, finished: Self.finished(1))
    #expect(
      Self.drain(&machine) == (0 ..< 100).map { "control \($0)" } + ["applied 1 at 1", "frame 1"])
  }

  @Test func `after the end the queue delivers its items, then the final counts, then nothing`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256)
    let arrivals = (1 ... 5).map { machine.reserve(sequence: $0, byteCount: 7).arrival }
    _ = machine.resolve(arrivals[0], finished: Self.finished(1))
    _ = machine.resolve(arrivals[1], finished: Self.finished(2, disposition: .passedThrough))
    for index in 2 ... 4 { machine.resolve(arrivals[index], dropped: Self.superseded) }
    machine.finish()
    #expect(
      Self.drain(&machine) == [
        "applied 1 at 1", "frame 1", "frame 2", "superseded 3-5 x3", "final",
      ])
    guard case .finished = machine.next() else {
      Issue.record("the machine continues after its end")
      return
    }
    let counts = machine.counts
    #expect(counts.received == 5)
    #expect(counts.filtered == 1)
    #expect(counts.passedThrough == 1)
    #expect(counts.dropped == [.superseded: 3])
    #expect(counts.inFlight == 0)
    #expect(counts.bytesIn == 35)
    #expect(counts.bytesOut == 200)
  }

  @Test func `a frame is resolved once`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256)
    let arrival = machine.reserve(sequence: 1, byteCount: 1).arrival
    machine.resolve(arrival, dropped: Self.superseded)
    _ = machine.resolve(arrival, finished: Self.finished(1))
    machine.resolve(arrival, dropped: Drop(reason: .draining, stage: .arrival))
    #expect(Self.drain(&machine) == ["superseded 1-1 x1"])
  }

  @Test func `the reader waits while the backlog is long, and resumes when items are written`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 3)
    for number in 0 ..< 3 { machine.push("\(number)") }
    let hasRoom3 = machine.hasCapacity
    #expect(!hasRoom3)
    _ = machine.next()
    let hasRoom4 = machine.hasCapacity
    #expect(hasRoom4)
  }

  @Test func `repeated sequence numbers are distinguished by their arrival`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256)
    let first = machine.reserve(sequence: 5, byteCount: 1).arrival
    let second = machine.reserve(sequence: 5, byteCount: 1).arrival
    machine.resolve(second, dropped: Drop(reason: .invalidFrame, stage: .arrival))
    _ = machine.resolve(first, finished: Self.finished(5))
    #expect(Self.drain(&machine) == ["applied 1 at 5", "frame 5", "invalidFrame 5-5 x1"])
  }

  @Test func `a picture that is late when it is written becomes a drop with its lateness`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256)
    for sequence: UInt64 in 1 ... 2 {
      let arrival = machine.reserve(sequence: sequence, byteCount: 1).arrival
      var frame = Self.finished(sequence)
      frame.deadline = .milliseconds(10 * Int(sequence))
      _ = machine.resolve(arrival, finished: frame)
    }
    guard case .late("frame 1") = machine.next(at: .milliseconds(15)) else {
      Issue.record("frame 1 is not late")
      return
    }
    guard case .item(.dropped(let run)) = machine.next(at: .milliseconds(15)) else {
      Issue.record("frame 1 gets no notice")
      return
    }
    #expect(run.drop == Drop(reason: .lateOnOutput, stage: .outbox))
    #expect(run.lateness == .milliseconds(5))
    #expect(Self.drain(&machine) == ["applied 1 at 2", "frame 2"])
    #expect(machine.counts.dropped == [.lateOnOutput: 1])
  }

  @Test func `a frame that was announced as the first of its revision is always sent`() {
    var machine = Machine(pictureLimit: 1, backlogLimit: 256)
    let arrivals = (1 ... 3).map { machine.reserve(sequence: $0, byteCount: 1).arrival }
    var first = Self.finished(1)
    first.deadline = .milliseconds(1)
    _ = machine.resolve(arrivals[0], finished: first)
    guard case .item(.applied) = machine.next() else {
      Issue.record("revision 1 is not announced")
      return
    }
    #expect(machine.resolve(arrivals[1], finished: Self.finished(2)) == "frame 2")
    guard case .item(.frame(let frame)) = machine.next(at: .seconds(1)) else {
      Issue.record("the announced frame does not follow")
      return
    }
    #expect(frame.sequence == 1)
  }

  @Test func `a credit is used on arrival and returned when the outcome is sent`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256, creditLimit: 2)
    let reservations = (1 ... 3).map { machine.reserve(sequence: $0, byteCount: 1) }
    #expect(reservations.map(\.hasCredit) == [true, true, false])
    machine.resolve(reservations[2].arrival, dropped: Drop(reason: .noCredit, stage: .arrival))
    machine.resolve(reservations[1].arrival, dropped: Self.superseded)
    let stillSpent = machine.reserve(sequence: 4, byteCount: 1)
    #expect(!stillSpent.hasCredit)
    _ = machine.resolve(reservations[0].arrival, finished: Self.finished(1))
    #expect(
      Self.drain(&machine) == [
        "applied 1 at 1", "frame 1", "superseded 2-2 x1", "noCredit 3-3 x1",
      ])
    let again = machine.reserve(sequence: 5, byteCount: 1)
    #expect(again.hasCredit)
  }

  @Test func `a closed output window delays only pictures; an acknowledgement opens it`() {
    var machine = Machine(pictureLimit: 1, backlogLimit: 256, outputWindow: 1)
    let arrivals = (1 ... 4).map { machine.reserve(sequence: $0, byteCount: 1).arrival }
    _ = machine.resolve(arrivals[0], finished: Self.finished(1))
    #expect(Self.drain(&machine) == ["applied 1 at 1", "frame 1"])
    _ = machine.resolve(arrivals[1], finished: Self.finished(2))
    machine.push("control")
    #expect(Self.drain(&machine) == ["control"])
    // The newest waits and displaces.
    #expect(machine.resolve(arrivals[2], finished: Self.finished(3)) == "frame 2")
    #expect(Self.drain(&machine) == ["outputSuperseded 2-2 x1"])
    machine.acknowledge(1)
    #expect(Self.drain(&machine) == ["frame 3"])
    machine.acknowledge(99)
    _ = machine.resolve(arrivals[3], finished: Self.finished(4))
    #expect(Self.drain(&machine) == ["frame 4"])
  }

  @Test func `the window of encoded pictures counts what the link carries`() {
    var machine = Machine(pictureLimit: 1, backlogLimit: 256, outputWindow: 64)
    let wished = EncoderTarget(bitRate: 1_000_000, width: 640, height: 360, frameRate: 30)
    #expect(machine.adapt(wished, at: .zero) == wished)
    var (sent, now) = (UInt64(0), Duration.zero)
    func send(_ machine: inout Machine) -> Bool {
      sent += 1
      now += .milliseconds(33)
      let arrival = machine.reserve(sequence: sent, byteCount: 1).arrival
      _ = machine.resolve(arrival, finished: Self.finished(sent))
      let isSent = Self.drain(&machine, at: now).contains("frame \(sent)")
      // Five times the bytes of the rate.
      if isSent { machine.countEncoded(byteCount: 20_000, at: now) }
      return isSent
    }
    while sent < 64, send(&machine) {}
    // Without an acknowledgement it closes long before 64 pictures.
    #expect((2 ... 20).contains(sent))
    machine.acknowledge(sent, at: now)
    #expect(Self.drain(&machine, at: now).contains("frame \(sent)"))
    #expect(machine.counts.bytesOut >= 20_000 * (sent - 1))
  }

  @Test func `a withdrawn picture counts as dropped and leaves the window open`() {
    var machine = Machine(pictureLimit: 2, backlogLimit: 256, outputWindow: 1)
    let arrivals = (1 ... 2).map { machine.reserve(sequence: $0, byteCount: 1).arrival }
    _ = machine.resolve(arrivals[0], finished: Self.finished(1))
    _ = machine.resolve(arrivals[1], finished: Self.finished(2))
    #expect(Self.drain(&machine) == ["applied 1 at 1", "frame 1"])
    let run = machine.withdraw(
      Self.finished(1), as: Drop(reason: .outputSuperseded, stage: .outbox))
    #expect((run.firstSequence, run.lastSequence, run.count) == (1, 1, 1))
    #expect(machine.counts.filtered == 0)
    #expect(machine.counts.dropped == [.outputSuperseded: 1])
    #expect(Self.drain(&machine) == ["frame 2"])
  }

  @Test func `opening the window releases waiting outcomes`() {
    var machine = Machine(pictureLimit: 4, backlogLimit: 256, outputWindow: 1)
    for sequence: UInt64 in 1 ... 3 {
      let arrival = machine.reserve(sequence: sequence, byteCount: 1).arrival
      _ = machine.resolve(arrival, finished: Self.finished(sequence))
    }
    machine.openWindow()
    machine.finish()
    #expect(Self.drain(&machine) == ["applied 1 at 1", "frame 1", "frame 2", "frame 3", "final"])
  }

  @Test func `a picture filtered before an override is not sent, even if it was announced`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256)
    let arrivals = (1 ... 3).map { machine.reserve(sequence: $0, byteCount: 1).arrival }
    for (arrival, sequence) in zip(arrivals, [1, 2] as [UInt64]) {
      _ = machine.resolve(arrival, finished: Self.finished(sequence))
    }
    guard case .item(.applied) = machine.next() else {
      Issue.record("revision 1 is not announced")
      return
    }
    let discarded = machine.discardPictures(before: 2)
    #expect(discarded.sorted() == ["frame 1", "frame 2"])
    _ = machine.resolve(arrivals[2], finished: Self.finished(3, revision: 2))
    #expect(
      Self.drain(&machine) == ["outputSuperseded 1-2 x2", "applied 2 at 3", "frame 3"])
    let hasCapacity = machine.hasPictureCapacity
    #expect(hasCapacity)
  }

  @Test func `a picture that is being filtered when an override begins is not sent`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256)
    let arrivals = (1 ... 2).map { machine.reserve(sequence: $0, byteCount: 1).arrival }
    let discarded = machine.discardPictures(before: 2)
    #expect(discarded.isEmpty)
    let refused = machine.resolve(arrivals[0], finished: Self.finished(1))
    #expect(refused == "frame 1")
    _ = machine.resolve(arrivals[1], finished: Self.finished(2, revision: 2))
    #expect(Self.drain(&machine) == ["outputSuperseded 1-1 x1", "applied 2 at 2", "frame 2"])
  }

  @Test func `after the final counts nothing is counted or sent`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256)
    machine.finish()
    #expect(Self.drain(&machine) == ["final"])
    let late = machine.reserve(sequence: 1, byteCount: 1).arrival
    machine.resolve(late, dropped: Drop(reason: .draining, stage: .mailbox))
    machine.push("late")
    #expect(Self.drain(&machine) == [])
    #expect(machine.counts.received == 0)
  }
}
