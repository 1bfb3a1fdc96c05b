import SidelightClient
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
    while window.isReady, case .send(let element) = window.next() {
      switch element {
      case .frame(let frame): sent.append("frame \(frame)")
      case .control(let control): sent.append(control)
      case .acknowledgement(let sequence): sent.append("ack \(sequence)")
      }
    }
    return sent
  }

  /// Offers a frame, and describes the result in words.
  static func offer(_ window: inout Window) -> String {
    switch window.offer({ $0 }) {
    case .accept(let sequence, nil): "accepted \(sequence)"
    case .accept(let sequence, let displaced?): "accepted \(sequence) for \(displaced)"
    case .disconnected(let sequence): "disconnected \(sequence)"
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
    #expect(unsent.waiting == 2)
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
    #expect(unsent.waiting == 2)
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
}
