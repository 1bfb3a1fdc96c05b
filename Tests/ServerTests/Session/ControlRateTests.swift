import SidelightServer
import SidelightWire
import Testing

@Suite struct ControlRateTests {
  @Test func `a burst of one second passes immediately, and later messages at the rate`() {
    var rate = ControlRate(at: .zero)
    rate.take(units: ContractLimits.controlUnitsPerSecond, byteCount: 0)
    let delay = rate.delay(at: .zero)
    #expect(delay > .zero)
    #expect(delay <= .milliseconds(1))
    let later = rate.delay(at: delay)
    #expect(later == .zero)
  }

  @Test func `large messages count by their bytes`() {
    var rate = ControlRate(at: .zero)
    rate.take(units: 1, byteCount: 3 * ContractLimits.controlBytesPerSecond)
    let early = rate.delay(at: .seconds(1.9))
    #expect(early > .zero)
    let late = rate.delay(at: .seconds(2.1))
    #expect(late == .zero)
  }

  @Test func `one acknowledgement per frame is free`() {
    var rate = ControlRate(at: .zero)
    var free = 0
    while rate.takeFreeAcknowledgement() { free += 1 }
    #expect(free > 0)
    let without = rate.takeFreeAcknowledgement()
    #expect(!without)
    for _ in 0 ..< 1000 {
      rate.countFrame()
      let isFree = rate.takeFreeAcknowledgement()
      #expect(isFree)
    }
    let again = rate.takeFreeAcknowledgement()
    #expect(!again)
  }
}
