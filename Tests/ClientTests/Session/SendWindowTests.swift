import SidelightClient
import SidelightWire
import Testing

/// All transitions of the client's window, without tasks or time.
@Suite struct SendWindowTests {
  typealias Window = SendWindow<UInt64, String>

  /// A window of an open link, with so many credits.
  static func window(
    _ policy: SessionOptions.DropPolicy = .newestWins, credits: Int
  ) -> Window {
    var window = Window(policy: policy)
    window.startOpening()
    window.open(capacity: credits)
    return window
  }

  static func drain(_ window: inout Window) -> [String] {
    var sent: [String] = []
    while window.isReady(), case .send(let element) = window.next() {
      switch element {
      case .frame(let frame, nil): sent.append("frame \(frame)")
      case .frame(let frame, let dependency?): sent.append("frame \(frame) after \(dependency)")
      case .control(let control): sent.append(control)
      case .acknowledgement(let sequence): sent.append("ack \(sequence)")
      }
    }
    return sent
  }

  /// Offers a frame, and describes the result in words.
  static func offer(
    _ window: inout Window, as role: StreamRole = .independent, mustProcess: Bool = false
  ) -> String {
    func list(_ displaced: [UInt64]) -> String {
      displaced.isEmpty
        ? "" : " for " + displaced.map(String.init).joined(separator: ", ")
    }
    return switch window.offer(as: role, mustProcess: mustProcess, { $0 }) {
    case .accept(let sequence, let displaced): "accepted \(sequence)\(list(displaced))"
    case .disconnected(let sequence): "disconnected \(sequence)"
    case .undecodable(let sequence, let reason, let displaced):
      "undecodable \(sequence) \(reason)\(list(displaced))"
    case .wait: "wait"
    case .refuse: "refused"
    }
  }

  @Test func `a frame leaves for a credit, which comes back when its outcome is taken`() {
    var window = Self.window(credits: 1)
    #expect(Self.offer(&window) == "accepted 1")
    #expect(Self.drain(&window) == ["frame 1"])
    #expect(Self.offer(&window) == "accepted 2")
    #expect(Self.drain(&window) == [])
    window.returnCredits(1)
    #expect(Self.drain(&window) == ["frame 2"])
  }

  @Test(arguments: [StreamRole.independent, .reference])
  func `a longer way lowers the frames in flight of samples, not of encoded video`(
    role: StreamRole
  ) {
    var window = Self.window(credits: 4)
    _ = Self.offer(&window, as: role == .reference ? .keyFrame : role)
    _ = Self.drain(&window)
    window.returnCredits(1)
    for index in 0 ..< 40 {
      let time = Duration.milliseconds(index == 0 ? 20 : 200)
      window.recordTransit(time, at: .milliseconds(index * 33))
    }
    var sent = 0
    for _ in 0 ..< 4 {
      _ = Self.offer(&window, as: role)
      sent += Self.drain(&window).count
    }
    #expect(sent == (role == .reference ? 4 : 1))
  }

  @Test func `while the window is shut, the newest frame takes the place of the one that waits`() {
    var window = Self.window(credits: 1)
    _ = Self.offer(&window)
    _ = Self.drain(&window)
    #expect(Self.offer(&window) == "accepted 2")
    #expect(Self.offer(&window) == "accepted 3 for 2")
    #expect(Self.offer(&window) == "accepted 4 for 3")
    window.returnCredits(1)
    #expect(Self.drain(&window) == ["frame 4"])
  }

  @Test
  func `a selection given between two frames goes between them, and applies to the second alone`() {
    var window = Self.window(credits: 1)
    _ = Self.offer(&window)
    window.push("select A")
    #expect(Self.drain(&window) == ["frame 1", "select A"])
    _ = Self.offer(&window)
    window.push("select B")
    #expect(Self.offer(&window) == "accepted 3 for 2")
    window.returnCredits(1)
    #expect(Self.drain(&window) == ["select B", "frame 3"])
  }

  @Test(
    arguments: [SessionOptions.DropPolicy.neverDrop, .keepOldest])
  func
    `where nothing may be dropped, a second frame waits, and gets its number when it is taken in`(
      policy: SessionOptions.DropPolicy
    )
  {
    var window = Self.window(policy, credits: 1)
    _ = Self.offer(&window)
    _ = Self.drain(&window)
    #expect(Self.offer(&window) == "accepted 2")
    #expect(!window.hasAnswer)
    #expect(Self.offer(&window) == "wait")
    window.returnCredits(1)
    #expect(Self.drain(&window) == ["frame 2"])
    #expect(window.hasAnswer)
    #expect(Self.offer(&window) == "accepted 3")
  }

  @Test
  func `pings and acknowledgements overtake a frame that waits; only the newest is acknowledged`() {
    var window = Self.window(credits: 1)
    _ = Self.offer(&window)
    _ = Self.drain(&window)
    _ = Self.offer(&window)
    window.push("select")
    window.pushUrgent("ping")
    window.acknowledge(4)
    window.acknowledge(7)
    window.acknowledge(5)
    #expect(Self.drain(&window) == ["ack 7", "ping"])
    window.returnCredits(1)
    window.pushUrgent("ping")
    #expect(Self.drain(&window) == ["frame 2", "select", "ping"], "else it keeps its place")
  }

  @Test func `after the end nothing is taken in, and what is in still goes`() {
    var window = Self.window(credits: 1)
    _ = Self.offer(&window)
    window.finish()
    #expect(Self.offer(&window) == "refused")
    window.push("late")
    #expect(!window.isDrained)
    #expect(Self.drain(&window) == ["frame 1"])
    #expect(window.isDrained)
    guard case .finished = window.next() else {
      Issue.record("the window did not end")
      return
    }
  }

  @Test func `without a connection live frames end at once, each with a separate number`() {
    var window = Self.window(credits: 1)
    _ = Self.offer(&window)
    _ = window.close()
    #expect(Self.offer(&window) == "disconnected 2")
    window.startOpening()
    #expect(Self.offer(&window) == "disconnected 3")
    window.open(capacity: 1)
    #expect(Self.offer(&window) == "accepted 4")
    #expect(Self.drain(&window) == ["frame 4"])
  }

  @Test func `a connection that is lost leaves nothing of a live session behind`() {
    var window = Self.window(credits: 1)
    _ = Self.offer(&window)
    _ = Self.drain(&window)
    _ = Self.offer(&window)
    window.push("select")
    window.pushUrgent("ping")
    let unsent = window.close()
    #expect(unsent.nextSequence == 3)
    #expect(unsent.waiting == [2])
    #expect(!unsent.isKept)
    #expect(unsent.controls == ["select"])
    window.startOpening()
    window.open(capacity: 2, first: ["replay", "pause"])
    #expect(Self.drain(&window) == ["replay", "pause"])
  }

  @Test
  func `where nothing may be dropped, what was not sent goes to the next connection, in its order`()
  {
    var window = Self.window(.neverDrop, credits: 1)
    _ = Self.offer(&window)
    _ = Self.drain(&window)
    _ = Self.offer(&window)
    window.push("select")
    let unsent = window.close()
    #expect(unsent.waiting == [2])
    #expect(unsent.isKept)
    #expect(unsent.controls.isEmpty)
    #expect(Self.offer(&window) == "wait")
    window.returnCredits(1)
    window.startOpening()
    window.open(capacity: 1, first: ["replay"])
    #expect(Self.drain(&window) == ["replay", "frame 2", "select"])
  }

  @Test func `outcomes of an earlier connection that were not taken still hold their credits`() {
    var window = Self.window(credits: 2)
    for _ in 1 ... 2 {
      _ = Self.offer(&window)
      _ = Self.drain(&window)
    }
    // One of the two was lost; the other's outcome waits to be taken.
    _ = window.close()
    window.returnCredits(1)
    window.startOpening()
    window.open(capacity: 2)
    _ = Self.offer(&window)
    #expect(Self.drain(&window) == ["frame 3"])
    _ = Self.offer(&window)
    #expect(Self.drain(&window) == [])
  }

  @Test func `before a server that shuts down only signs of life are sent`() {
    var window = Self.window(credits: 4)
    window.push("select")
    window.drain()
    window.pushUrgent("ping")
    window.acknowledge(1)
    #expect(Self.drain(&window) == ["ack 1", "ping"])
    #expect(Self.offer(&window) == "disconnected 1")
    #expect(window.close().controls == ["select"])
  }

  @Test func `a connection is left before a frame that depends on none, or if it drains`() {
    var window = Self.window(credits: 4)
    #expect(window.canMove)
    #expect(Self.offer(&window, as: .keyFrame) == "accepted 1")
    #expect(window.canMove)
    #expect(Self.drain(&window) == ["frame 1"])
    #expect(!window.canMove, "the next frame may depend on the first")
    #expect(Self.offer(&window, as: .reference) == "accepted 2")
    #expect(!window.canMove)
    window.drain()
    #expect(window.canMove)
    #expect(window.firstUnsent == 2)
    #expect(window.move(capacity: 4, first: ["select"]) == [2], "its key frame is elsewhere")
    #expect(Self.drain(&window) == ["select"])
    #expect(Self.offer(&window, as: .keyFrame) == "accepted 3")
    #expect(Self.drain(&window) == ["frame 3"])
  }

  @Test func `controls and the frames after them wait for a move`() {
    var window = Self.window(credits: 4)
    window.push("select")
    #expect(Self.offer(&window) == "accepted 1")
    #expect(!window.isReady(holdingControls: true))
    guard case .wait = window.next(holdingControls: true) else {
      Issue.record("a control was sent")
      return
    }
    #expect(window.move(capacity: 4, first: ["replay"]) == [])
    #expect(Self.drain(&window) == ["replay", "select", "frame 1"])
  }

  // MARK: Encoded video

  /// A window whose only credit is taken by a key frame.
  static func shutWindow() -> Window {
    var window = Self.window(credits: 1)
    #expect(Self.offer(&window, as: .keyFrame) == "accepted 1")
    #expect(Self.drain(&window) == ["frame 1"])
    return window
  }

  @Test func `frames on which others depend wait together, and leave in order`() {
    var window = Self.shutWindow()
    for number in 2 ... 4 { #expect(Self.offer(&window, as: .reference) == "accepted \(number)") }
    var sent: [String] = []
    for _ in 2 ... 4 {
      window.returnCredits(1)
      sent += Self.drain(&window)
    }
    #expect(sent == ["frame 2", "frame 3", "frame 4"])
  }

  @Test func `a disposable frame is replaced, and the next one states its dependency`() {
    var window = Self.shutWindow()
    #expect(Self.offer(&window, as: .reference) == "accepted 2")
    #expect(Self.offer(&window, as: .disposable) == "accepted 3")
    #expect(Self.offer(&window, as: .disposable) == "accepted 4 for 3")
    #expect(Self.offer(&window, as: .reference) == "accepted 5 for 4")
    #expect(Self.offer(&window, as: .disposable) == "accepted 6")
    var sent: [String] = []
    for _ in 1 ... 3 {
      window.returnCredits(1)
      sent += Self.drain(&window)
    }
    #expect(sent == ["frame 2", "frame 5 after 2", "frame 6"])
  }

  @Test func `disposable frames are left out while the server has no time for them`() {
    var window = Self.window(credits: 60)
    #expect(Self.offer(&window, as: .keyFrame) == "accepted 1")
    var next: UInt64 = 2
    for interval: UInt64 in [1, 2, 4, 8, 16, 16] {
      #expect(Self.offer(&window, as: .disposable) == "accepted \(next)")
      #expect(Self.drain(&window).last?.hasPrefix("frame \(next)") == true)
      window.recordOutcome(of: next, dropped: .superseded)
      for left in next + 1 ... next + interval {
        #expect(Self.offer(&window, as: .disposable) == "accepted \(left) for \(left)")
      }
      next += interval + 1
    }
    #expect(Self.drain(&window) == [])
    // One that comes back ends it. Others are always sent.
    for sequence in next ... next + 2 {
      let role = sequence == next + 2 ? StreamRole.reference : .disposable
      #expect(Self.offer(&window, as: role) == "accepted \(sequence)")
      #expect(Self.drain(&window).count == 1)
      window.recordOutcome(of: sequence)
    }
  }

  @Test func `a disposable frame that must be processed is sent, and is not the one that is tried`()
  {
    var window = Self.window(credits: 60)
    #expect(Self.offer(&window, as: .keyFrame) == "accepted 1")
    #expect(Self.offer(&window, as: .disposable) == "accepted 2")
    #expect(Self.drain(&window) == ["frame 1", "frame 2"])
    window.recordOutcome(of: 2, dropped: .superseded)
    #expect(Self.offer(&window, as: .disposable, mustProcess: true) == "accepted 3")
    #expect(Self.drain(&window) == ["frame 3"])
    window.recordOutcome(of: 3)
    #expect(Self.offer(&window, as: .disposable) == "accepted 4 for 4")
    #expect(Self.offer(&window, as: .disposable) == "accepted 5")
    #expect(Self.drain(&window) == ["frame 5 after 1"])
    window.recordOutcome(of: 5, dropped: .superseded)
    for left in 6 ... 7 {
      #expect(Self.offer(&window, as: .disposable) == "accepted \(left) for \(left)")
    }
  }

  @Test func `beyond the limit all are dropped up to the next key frame`() {
    var window = Self.shutWindow()
    let limit = UInt64(Window.referenceLimit)
    for number in 2 ... limit + 1 {
      #expect(Self.offer(&window, as: .reference) == "accepted \(number)")
    }
    let waiting = (2 ... limit + 1).map(String.init).joined(separator: ", ")
    #expect(
      Self.offer(&window, as: .reference) == "undecodable \(limit + 2) loss for \(waiting)")
    window.returnCredits(1)
    #expect(Self.offer(&window, as: .reference) == "undecodable \(limit + 3) loss")
    #expect(Self.offer(&window, as: .disposable) == "undecodable \(limit + 4) loss")
    #expect(Self.drain(&window) == [])
    #expect(Self.offer(&window, as: .keyFrame) == "accepted \(limit + 5)")
    #expect(Self.drain(&window) == ["frame \(limit + 5)"])
    #expect(Self.offer(&window, as: .reference) == "accepted \(limit + 6)")
    window.returnCredits(1)
    #expect(Self.drain(&window) == ["frame \(limit + 6)"])
  }

  @Test func `a key frame replaces all frames that wait`() {
    var window = Self.shutWindow()
    _ = Self.offer(&window, as: .reference)
    window.push("select")
    _ = Self.offer(&window, as: .reference)
    #expect(Self.offer(&window, as: .keyFrame) == "accepted 4 for 2, 3")
    window.returnCredits(1)
    #expect(Self.drain(&window) == ["select", "frame 4"])
  }

  @Test func `a new connection begins with a key frame`() {
    var window = Self.shutWindow()
    _ = Self.offer(&window, as: .reference)
    let unsent = window.close()
    #expect(unsent.waiting == [2])
    #expect(Self.offer(&window, as: .reference) == "disconnected 3")
    window.returnCredits(1)
    window.startOpening()
    window.open(capacity: 2)
    #expect(Self.offer(&window, as: .reference) == "undecodable 4 start")
    #expect(Self.offer(&window, as: .keyFrame) == "accepted 5")
    #expect(Self.offer(&window, as: .reference) == "accepted 6")
    #expect(Self.drain(&window) == ["frame 5", "frame 6"])
  }

  @Test func `where nothing may be dropped, the server decides about encoded frames`() {
    var window = Self.window(.neverDrop, credits: 1)
    _ = Self.offer(&window, as: .keyFrame)
    _ = Self.drain(&window)
    #expect(Self.offer(&window, as: .reference) == "accepted 2")
    #expect(Self.offer(&window, as: .disposable) == "wait")
    _ = window.close()
    window.returnCredits(1)
    window.startOpening()
    window.open(capacity: 1)
    #expect(Self.drain(&window) == ["frame 2"])
  }
}
