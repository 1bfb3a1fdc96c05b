import SidelightServer
import SidelightTestSupport
import Testing

@Suite struct QualityGovernorTests {
  /// Thirty frames of one second, `lost` of them lost; returns the verdict.
  static func second(
    _ governor: inout QualityGovernor, _ number: Int, lost: Int,
    as event: QualityGovernor.Event = .lostBeforePipeline, fullCost: Duration = .milliseconds(10)
  ) -> QualityGovernor.Verdict? {
    var verdict: QualityGovernor.Verdict?
    for frame in 0 ... 30 {
      let now = Duration.seconds(number) + .milliseconds(frame * 1000 / 30)
      let next = governor.record(frame < lost ? event : .finished, fullCost: fullCost, at: now)
      verdict = next ?? verdict
    }
    return verdict
  }

  @Test func `a second without loss gives no advice`() {
    var governor = QualityGovernor(mayReduce: true)
    #expect(Self.second(&governor, 0, lost: 1) == nil)
    #expect(!governor.isReduced)
  }

  @Test
  func `a second with loss reduces the quality if allowed, and gives the possible rate`() throws {
    var governor = QualityGovernor(mayReduce: true)
    let verdict = try #require(Self.second(&governor, 0, lost: 15))
    #expect(governor.isReduced)
    #expect(!verdict.isOutputSlow)
    #expect(abs(verdict.framesPerSecond - 16) < 0.1)
    #expect(abs(verdict.scale - (16.0 / 31).squareRoot()) < 0.01)
    var strict = QualityGovernor(mayReduce: false)
    #expect(Self.second(&strict, 0, lost: 15) != nil)
    #expect(!strict.isReduced)
  }

  @Test func `a client that does not read gets advice, but no reduced quality`() {
    var governor = QualityGovernor(mayReduce: true)
    let verdict = Self.second(&governor, 0, lost: 15, as: .lostAtOutput)
    #expect(verdict?.isOutputSlow == true)
    #expect(!governor.isReduced)
  }

  @Test
  func `the full variant is restored after two seconds without loss in which it would have fitted`()
  {
    var governor = QualityGovernor(mayReduce: true)
    _ = Self.second(&governor, 0, lost: 15)
    _ = Self.second(&governor, 1, lost: 0)
    #expect(governor.isReduced)
    _ = Self.second(&governor, 2, lost: 0)
    #expect(!governor.isReduced)
  }

  @Test func `the full variant is restored later if it would not have fitted`() {
    var governor = QualityGovernor(mayReduce: true)
    _ = Self.second(&governor, 0, lost: 15)
    for number in 1 ... 15 {
      _ = Self.second(&governor, number, lost: 0, fullCost: .milliseconds(40))
    }
    #expect(governor.isReduced)
    _ = Self.second(&governor, 16, lost: 0, fullCost: .milliseconds(40))
    #expect(!governor.isReduced)
  }

  @Test func `each failed restoration doubles the wait for the next`() {
    var governor = QualityGovernor(mayReduce: true)
    var number = 0
    func pass(lost: Int) {
      _ = Self.second(&governor, number, lost: lost)
      number += 1
    }
    pass(lost: 15)
    var waits: [Int] = []
    for _ in 0 ..< 3 {
      var wait = 0
      while governor.isReduced {
        pass(lost: 0)
        wait += 1
      }
      waits.append(wait)
      pass(lost: 15)
      #expect(governor.isReduced)
    }
    #expect(waits == [2, 4, 8])
  }
}
