import SidelightServer
import Testing

/// The load that a new session finds.
@Suite struct AdmissionLoadTests {
  static func load(_ demands: [(String?, Double)], for caller: String = "new") -> Double {
    AdmissionLoad(demands.map { .init(caller: $0, work: $1) }, for: caller).value
  }

  @Test(arguments: ["new", "other"])
  func `a few costly sessions leave room for others, also of the same caller`(caller: String) {
    #expect(Self.load(Array(repeating: (caller, 15), count: 4)) == 0.25)
    #expect(Self.load(Array(repeating: (caller, 15), count: 16)) <= 1)
  }

  @Test func `many modest sessions count with all that they demand`() {
    let demands = (0 ..< 100).map { ("caller \($0)", 0.02) }
    #expect(abs(Self.load(demands) - 2) < 0.001)
  }

  @Test func `the sessions of another caller count up to its fair share`() {
    let demands = Array(repeating: ("greedy" as String?, 1.0), count: 64)
    #expect(Self.load(demands) == 0.5)
    #expect(Self.load(demands, for: "greedy") == 4)
    #expect(Self.load(demands + Array(repeating: ("new", 1), count: 2)) == 0.5 + 2.0 / 16)
  }
}
