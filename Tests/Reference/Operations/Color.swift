package import SidelightKernels

extension CubeAsset: ReferenceFunction {
  package func reference(
    _ pixel: SIMD4<Double>, _ source: SIMD4<Double>, x: Int, y: Int, _ time: FrameTime
  ) -> SIMD4<Double> {
    SIMD4(self.color(of: SIMD3(pixel.x, pixel.y, pixel.z)), pixel.w)
  }

  /// The table's colour for a colour.
  private func color(of color: SIMD3<Double>) -> SIMD3<Double> {
    let low = SIMD3<Double>(self.domainLow)
    let unit = ((color - low) / (SIMD3<Double>(self.domainHigh) - low))
      .clamped(lowerBound: .zero, upperBound: .one)
    switch self.shape {
    case .curves(let count):
      var result = SIMD3<Double>.zero
      for channel in 0 ..< 3 {
        let position = unit[channel] * Double(count - 1)
        let knot = min(Int(position), count - 2)
        let (from, to) = (
          Double(self.entries[3 * knot + channel]), Double(self.entries[3 * knot + 3 + channel])
        )
        result[channel] = from + (to - from) * (position - Double(knot))
      }
      return result
    case .cube(let size):
      return self.tetrahedral(unit * Double(size - 1), size)
    }
  }

  private func tetrahedral(_ position: SIMD3<Double>, _ size: Int) -> SIMD3<Double> {
    var corner = (0 ..< 3).map { min(Int(position[$0]), size - 2) }
    let fractions = (0 ..< 3).map { position[$0] - Double(corner[$0]) }
    func entry() -> SIMD3<Double> {
      let index = 3 * (corner[0] + size * (corner[1] + size * corner[2]))
      return SIMD3(
        Double(self.entries[index]), Double(self.entries[index + 1]),
        Double(self.entries[index + 2]))
    }
    var previous = entry()
    var result = previous
    for axis in (0 ..< 3).sorted(by: { fractions[$0] > fractions[$1] }) {
      corner[axis] += 1
      let next = entry()
      result += (next - previous) * fractions[axis]
      previous = next
    }
    return result
  }
}
