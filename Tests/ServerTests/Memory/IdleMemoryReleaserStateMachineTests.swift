import SidelightServer
import SidelightWire
import Testing

/// The decisions to release memory, without tasks or time.
@Suite struct IdleMemoryReleaserStateMachineTests {
  typealias Machine = IdleMemoryReleaser.StateMachine

  /// The memory of a process; memory outside the heap is by default as much as at its start.
  static func heap(used: Int, free: Int = 0, beside: Int = Self.beside) -> HeapUsage {
    HeapUsage(residentBytes: used + free + beside, usedBytes: used)
  }

  static let beside = 10 << 20
  static let used = 80 << 20
  static let atRest = Self.heap(used: 1 << 20)

  /// A server whose memory is checked.
  final class Server {
    private var machine: Machine
    private var activity: UInt64 = 7

    init(heap: HeapUsage? = IdleMemoryReleaserStateMachineTests.atRest) {
      self.machine = Machine(activity: 7, heap: heap)
    }

    /// Whether a release is due at a check after activity.
    func isDueUnderLoad(_ heap: HeapUsage?) -> Bool {
      self.activity += 1
      return self.isDueAfterNothing(heap)
    }

    /// Whether a release is due at a check without activity.
    func isDueAfterNothing(_ heap: HeapUsage?) -> Bool {
      self.machine.isDue(activity: self.activity, heap: heap)
    }

    func freed() { self.machine.freed() }

    func released(leaving heap: HeapUsage?) {
      self.machine.released(leaving: heap)
    }
  }

  @Test func `a server without any activity releases no memory`() {
    let server = Server()
    for _ in 0 ..< 3 { #expect(!server.isDueAfterNothing(Self.atRest)) }
  }

  @Test func `when activity ends, all free memory is released once`() {
    let server = Server()
    for _ in 0 ..< 2 {
      #expect(!server.isDueUnderLoad(Self.heap(used: Self.used, free: 1)))
      let still = Self.heap(used: 1 << 20, free: 1)
      #expect(server.isDueAfterNothing(still))
      server.released(leaving: Self.atRest)
      #expect(!server.isDueAfterNothing(Self.atRest))
    }
  }

  @Test func `memory that is freed after a release is released too`() {
    let server = Server()
    #expect(!server.isDueUnderLoad(Self.atRest))
    #expect(server.isDueAfterNothing(Self.atRest))
    server.released(leaving: Self.atRest)
    server.freed()
    #expect(server.isDueAfterNothing(Self.atRest))
    server.released(leaving: Self.atRest)
    #expect(!server.isDueAfterNothing(Self.atRest))
  }

  @Test func `under load free memory is released if it exceeds an eighth of the resident memory`() {
    let server = Server()
    let resident = Self.used + Self.beside
    #expect(!server.isDueUnderLoad(Self.heap(used: Self.used, free: resident / 8)))
    #expect(server.isDueUnderLoad(Self.heap(used: Self.used, free: resident / 4)))
    server.released(leaving: Self.heap(used: Self.used))
    #expect(!server.isDueUnderLoad(Self.heap(used: Self.used)))
  }

  @Test func `memory that a load still holds counts as free only when the load has released it`() {
    let server = Server()
    #expect(!server.isDueUnderLoad(Self.heap(used: 4 * Self.used)))
    #expect(server.isDueUnderLoad(Self.heap(used: Self.used, free: 3 * Self.used)))
  }

  @Test func `a failed release is not tried again, and memory that is freed later is released`() {
    let server = Server()
    let fragmented = Self.heap(used: Self.used, free: Self.used)
    #expect(server.isDueUnderLoad(fragmented))
    server.released(leaving: fragmented)
    for _ in 0 ..< 3 { #expect(!server.isDueUnderLoad(fragmented)) }
    #expect(server.isDueUnderLoad(Self.heap(used: Self.used, free: 2 * Self.used)))
  }

  @Test
  func `pages outside the heap cause one release when they appear, and none when they disappear`() {
    let server = Server()
    let pictures = Self.heap(used: Self.used, beside: 5 * Self.beside)
    #expect(server.isDueUnderLoad(pictures))
    server.released(leaving: pictures)
    #expect(!server.isDueUnderLoad(pictures))
    #expect(!server.isDueUnderLoad(Self.heap(used: Self.used)))
    #expect(server.isDueUnderLoad(Self.heap(used: Self.used, free: 4 * Self.beside)))
  }

  @Test
  func `after a release under load the remaining free memory is released when activity ends`() {
    let server = Server()
    #expect(server.isDueUnderLoad(Self.heap(used: Self.used, free: Self.used)))
    server.released(leaving: Self.heap(used: Self.used))
    #expect(server.isDueAfterNothing(Self.atRest))
    server.released(leaving: Self.atRest)
    #expect(!server.isDueAfterNothing(Self.atRest))
  }

  @Test func `without heap statistics memory is released only when activity ends`() {
    let server = Server(heap: nil)
    #expect(!server.isDueUnderLoad(nil))
    #expect(server.isDueAfterNothing(nil))
    server.released(leaving: nil)
    #expect(!server.isDueAfterNothing(nil))
  }
}
