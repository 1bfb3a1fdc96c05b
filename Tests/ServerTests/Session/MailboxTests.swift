import SidelightServer
import SidelightWire
import Testing

@Suite struct MailboxTests {
  @Test func `elements within the depth are returned oldest first`() async {
    let mailbox = Mailbox<Int>(depth: 2)
    #expect(await mailbox.offer(1).isEmpty)
    #expect(await mailbox.offer(2).isEmpty)
    #expect(await mailbox.next() == 1)
    #expect(await mailbox.next() == 2)
  }

  @Test func `with newest wins a full mailbox returns the oldest element`() async {
    let mailbox = Mailbox<Int>(depth: 1, policy: .newestWins)
    #expect(await mailbox.offer(1).isEmpty)
    #expect(await mailbox.offer(2).map(\.element) == [1])
    #expect(await mailbox.offer(3).map(\.element) == [2])
    #expect(await mailbox.next() == 3)
  }

  @Test func `with keep oldest a full mailbox returns the offered element`() async {
    let mailbox = Mailbox<Int>(depth: 1, policy: .keepOldest)
    #expect(await mailbox.offer(1).isEmpty)
    #expect(await mailbox.offer(2).map(\.element) == [2])
    #expect(await mailbox.next() == 1)
  }

  @Test func `with never drop the producer waits for the consumer, and no element is lost`() async {
    let mailbox = Mailbox<Int>(depth: 1, policy: .neverDrop)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 0 ..< 1000 { #expect(await mailbox.offer(number).isEmpty) }
        mailbox.finish()
      }
      var received: [Int] = []
      while let number = await mailbox.next() { received.append(number) }
      #expect(received == Array(0 ..< 1000))
    }
  }

  @Test func `a finished mailbox delivers its elements, then ends, and rejects offers`() async {
    let mailbox = Mailbox<Int>(depth: 2)
    _ = await mailbox.offer(1)
    mailbox.finish()
    #expect(await mailbox.offer(2).map(\.element) == [2])
    #expect(await mailbox.next() == 1)
    #expect(await mailbox.next() == nil)
  }

  @Test func `a waiting consumer resumes on an element, on the end, and on cancellation`() async {
    for wake in 0 ..< 3 {
      let mailbox = Mailbox<Int>()
      let result = await withTaskGroup(of: Int?.self) { group in
        group.addTask { await mailbox.next() }
        switch wake {
        case 0: _ = await mailbox.offer(7)
        case 1: mailbox.finish()
        default: group.cancelAll()
        }
        return await group.next() ?? nil
      }
      #expect(result == (wake == 0 ? 7 : nil))
    }
  }

  @Test(
    arguments: [
      true, false,
    ])
  func `a waiting producer gets its element back when the mailbox closes`(byCancellation: Bool)
    async
  {
    let mailbox = Mailbox<Int>(depth: 1, policy: .neverDrop)
    _ = await mailbox.offer(1)
    await withTaskGroup(of: Int?.self) { group in
      group.addTask { await mailbox.offer(2).first?.element }
      if byCancellation { group.cancelAll() } else { mailbox.finish() }
      #expect(await group.next() == 2)
    }
  }

  @Test
  func `with newest wins the displaced and the delivered elements are all that were offered`() async
  {
    let mailbox = Mailbox<Int>(depth: 1, policy: .newestWins)
    let (displaced, received) = await withTaskGroup(of: [Int].self) { group in
      group.addTask {
        var displaced: [Int] = []
        for number in 0 ..< 10_000 {
          displaced += await mailbox.offer(number).map(\.element)
        }
        mailbox.finish()
        return displaced
      }
      var received: [Int] = []
      while let number = await mailbox.next() { received.append(number) }
      return (await group.next() ?? [], received)
    }
    #expect((displaced + received).sorted() == Array(0 ..< 10_000))
    #expect(received == received.sorted())
    #expect(received.last == 9_999, "the newest always comes through")
  }

  @Test
  func `a peeked element stays, and does not count against the depth`() async {
    let mailbox = Mailbox<Int>(depth: 1)
    _ = await mailbox.offer(1)
    #expect(await mailbox.first() == 1)
    #expect(
      await mailbox.offer(2).isEmpty, "the consumer would have removed the first without the wait")
    #expect(mailbox.take { $0 == 2 } == nil, "it is not what is wanted")
    #expect(mailbox.take() == 1)
    #expect(await mailbox.offer(3).map(\.element) == [2], "the room is one again")
    #expect(mailbox.take() == 3)
    #expect(mailbox.take() == nil)
  }

  @Test func `with newest wins the consumer that waits too long gets the newest element`() async {
    let mailbox = Mailbox<Int>(depth: 1)
    _ = await mailbox.offer(1)
    #expect(await mailbox.first() == 1)
    #expect(await mailbox.offer(2).isEmpty)
    #expect(await mailbox.offer(3).map(\.element) == [1, 2], "not the one after the first")
    #expect(await mailbox.offer(4).map(\.element) == [3])
    #expect(mailbox.take() == 4)
  }

  @Test func `after a displacement a peeked element counts against the depth`() async {
    let mailbox = Mailbox<Int>(depth: 1)
    _ = await mailbox.offer(1)
    _ = await mailbox.offer(2)
    #expect(mailbox.take() == 2)
    _ = await mailbox.offer(3)
    #expect(await mailbox.first() == 3)
    #expect(await mailbox.offer(4).map(\.element) == [3], "the consumer is behind")
    #expect(mailbox.take() == 4)
    _ = await mailbox.offer(5)
    #expect(mailbox.take() == 5, "nothing was displaced before it")
    _ = await mailbox.offer(6)
    #expect(await mailbox.first() == 6)
    #expect(await mailbox.offer(7).isEmpty)
  }

  @Test func `after an element was left behind a peeked one counts against the depth`() async {
    let mailbox = Mailbox<Int>(depth: 1)
    _ = await mailbox.offer(1)
    #expect(await mailbox.first() == 1)
    #expect(await mailbox.offer(2).isEmpty, "a burst of two loses none")
    #expect(mailbox.take() == 1)
    #expect(await mailbox.first() == 2)
    #expect(await mailbox.offer(3).map(\.element) == [2], "the consumer is behind")
    #expect(mailbox.take() == 3)
    _ = await mailbox.offer(4)
    #expect(mailbox.take() == 4, "nothing was displaced or left behind")
    _ = await mailbox.offer(5)
    #expect(await mailbox.first() == 5)
    #expect(await mailbox.offer(6).isEmpty)
  }

  @Test func `a peeked element that is displaced leaves no more than the depth`() async {
    let mailbox = Self.mailbox(depth: 1, .newestWins)
    _ = await mailbox.offer(Letter(number: 1))
    #expect(await mailbox.first()?.number == 1)
    #expect(await mailbox.offer(Letter(number: 2, priority: 1)).isEmpty)
    let displaced = await mailbox.offer(Letter(number: 3))
    #expect(displaced.map(\.element.number) == [1, 3], "the second has the highest priority")
    #expect(displaced.map(\.reason) == [.superseded, .queueFull])
    #expect(mailbox.take()?.number == 2)
  }

  @Test func `with keep oldest a peeked element stays`() async {
    let mailbox = Mailbox<Int>(depth: 1, policy: .keepOldest)
    _ = await mailbox.offer(1)
    #expect(await mailbox.first() == 1)
    #expect(await mailbox.offer(2).isEmpty)
    #expect(await mailbox.offer(3).map(\.element) == [3])
    #expect(mailbox.take() == 1)
  }

  @Test func `a waiting peek resumes on an element, which stays, and on the end`() async {
    let mailbox = Mailbox<Int>(depth: 1)
    await withTaskGroup(of: Int?.self) { group in
      group.addTask { await mailbox.first() }
      _ = await mailbox.offer(7)
      #expect(await group.next() == 7)
      mailbox.finish()
      #expect(await mailbox.first() == 7, "what is in can still be taken out")
      #expect(mailbox.take() == 7)
      #expect(await mailbox.first() == nil)
    }
  }

  /// An element that states its own eviction priority.
  struct Letter: Sendable, Hashable {
    var number: Int
    var priority: Int32 = 0
    var mustStay = false
    var evictionPriority: EvictionPriority {
      EvictionPriority(priority: self.priority, mustStay: self.mustStay)
    }
  }

  static func mailbox(depth: Int, _ policy: DropPolicy) -> Mailbox<Letter> {
    Mailbox(depth: depth, policy: policy, evictionPriority: \.evictionPriority)
  }

  @Test func `the lowest priority goes first; among equals the policy decides`() async {
    let mailbox = Self.mailbox(depth: 2, .newestWins)
    _ = await mailbox.offer(Letter(number: 1, priority: 5))
    _ = await mailbox.offer(Letter(number: 2, priority: 1))
    let second = await mailbox.offer(Letter(number: 3, priority: 1))
    #expect(second.map(\.element.number) == [2])
    #expect(second.map(\.reason) == [.superseded])
    let offered = await mailbox.offer(Letter(number: 4, priority: 0))
    #expect(offered.map(\.element.number) == [4], "it has the least claim of all")
    #expect(offered.map(\.reason) == [.queueFull])
    #expect(await mailbox.next()?.number == 1)
    #expect(await mailbox.next()?.number == 3)
  }

  @Test
  func `a required element is not displaced; if all are required, the producer waits`() async {
    let mailbox = Self.mailbox(depth: 1, .newestWins)
    _ = await mailbox.offer(Letter(number: 1, mustStay: true))
    #expect(await mailbox.offer(Letter(number: 2)).map(\.element.number) == [2])
    await withTaskGroup(of: Int?.self) { group in
      group.addTask {
        await mailbox.offer(Letter(number: 3, mustStay: true)).first?.element.number
      }
      #expect(await mailbox.next()?.number == 1)
      #expect(await mailbox.next()?.number == 3)
      #expect(await group.next() == .some(nil))
    }
  }
}
