import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Frames that are received and then displaced by newer ones.
@Suite(.timeLimit(.minutes(5))) struct ReceptionBudgetTests {
  /// The number of displaced frames of a mebibyte per filtered frame, if as many are displaced as
  /// the budget allows.
  static func displaced(work: Duration?) -> Double {
    var budget = ReceptionBudget()
    var displaced = 0
    let frames = 1000
    for _ in 0 ..< frames {
      budget.accept(byteCount: 1 << 20, work: work)
      // Frames arrive much faster than they are filtered.
      for _ in 0 ..< 20 where !budget.isSpent {
        budget.displace(byteCount: 1 << 20)
        displaced += 1
      }
    }
    return Double(displaced) / Double(frames)
  }

  @Test(
    arguments: [(.zero, 0.1), (.milliseconds(1), 0.2), (.milliseconds(10), 1), (nil, 20)]
      as [(Duration?, Double)])
  func `the more work a frame is, the more of them may be displaced`(
    work: Duration?, expected: Double
  ) {
    #expect(abs(Self.displaced(work: work) / expected - 1) < 0.1)
  }

  @Test func `a burst is displaced without delay, and frames in shared memory always`() {
    var budget = ReceptionBudget()
    budget.accept(byteCount: 1 << 20, work: .zero)
    for _ in 0 ..< 4 {
      budget.displace(byteCount: 1 << 20)
      let isSpent = budget.isSpent
      #expect(!isSpent)
    }
    budget.displace(byteCount: 1 << 20)
    let isSpent = budget.isSpent
    #expect(isSpent)
    var shared = ReceptionBudget()
    shared.accept(byteCount: 0, work: .zero)
    for _ in 0 ..< 100 { shared.displace(byteCount: 0) }
    let isSharedSpent = shared.isSpent
    #expect(!isSharedSpent)
  }

  @Test func `the server stops reading large frames that would be displaced`() async throws {
    let gate = Gate()
    var configuration = ServerConfiguration()
    configuration.framesInFlight = 16
    let image = Sidelight_V1_Image.noise(.gray8, 1024, 1024)
    // On the manual clock frames take zero time: only a tenth of their reception is allowed.
    let frames = try await withServer(
      configuration, catalogue: gate.catalogue, clock: ManualClock().sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        let (filtered, end) = AsyncStream<Never>.makeStream()
        return try await stub.process(options: largeMessages) { writer in
          try await writer.write(.open([.filter("gate")], policy: .newestWins))
          gate.open(for: 1)
          try await writer.write(.frame(1, image))
          for await _ in filtered {}
          try await writer.write(.frame(2, image))
          var entered = gate.entered.makeAsyncIterator()
          for _ in 1 ... 2 { await entered.next() }
          for sequence: UInt64 in 3 ... 10 { try await writer.write(.frame(sequence, image)) }
          // Four frames are displaced without delay, and a fifth.
          try await expectEventually("the server has read eight frames") {
            try await stub.getServerInfo(.init()).load.frames.received == 8
          }
          gate.open(for: 10)
        } onResponse: { response in
          var frames: [UInt64] = []
          for try await message in response.messages {
            guard case .frame(let frame)? = message.kind else { continue }
            frames.append(frame.sequence)
            end.finish()
          }
          return frames
        }
      }
    }
    #expect(frames == [1, 2, 8, 9, 10])
  }

  @Test(arguments: [false, true])
  func `a producer that waits for room resumes when an element is taken, or at the end`(
    atEnd: Bool
  ) async throws {
    let mailbox = Mailbox<Int>()
    await mailbox.waitForRoom()
    _ = await mailbox.offer(1)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await mailbox.waitForRoom() }
      if atEnd { mailbox.finish() } else { #expect(mailbox.take() == 1) }
      await group.waitForAll()
    }
  }
}
