import SidelightKernels
import Testing

@Suite struct `The curve of a transition` {
  @Test(arguments: TransitionCurve.allCases)
  func `begins at 0, ends at 1, and never decreases`(_ curve: TransitionCurve) {
    #expect(curve(0) == 0 && curve(1) == 1)
    #expect(curve(-1) == 0 && curve(2) == 1)
    let values = (0 ... 1000).map { curve(Double($0) / 1000) }
    #expect(values == values.sorted())
    #expect(values.allSatisfy { (0 ... 1).contains($0) })
  }

  @Test func `is at its known values in the middle`() {
    #expect(TransitionCurve.allCases.map { $0(0.5) } == [0.5, 0.25, 0.75, 0.5])
    #expect(TransitionCurve.easeInOut(0.25) == 0.15625)
  }
}
