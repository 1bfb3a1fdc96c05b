package import SidelightKernels

/// Reductions measure all pixels of the area, one at a time.
extension ReductionOperation: DefinedOperation {
  package func pixels(
    of size: FrameSize, _ time: FrameTime, _ pixel: @escaping (Int, Int) -> SIMD4<Double>
  ) -> (Int, Int) -> SIMD4<Double> {
    let measurement = self.measurement(of: size, pixel)
    return { x, y in self.result(pixel(x, y), x: x, y: y, of: size, in: measurement) }
  }

  private func measurement(
    of size: FrameSize, _ pixel: (Int, Int) -> SIMD4<Double>
  ) -> Reduction.Measurement {
    var measurement = self.reduction.measurement(of: size)
    let area = self.area(in: size)
    for row in area.y {
      for column in area.x {
        self.reduction.add(
          self.single(pixel(column, row)), x: column, y: row, to: &measurement)
      }
    }
    self.reduction.finish(&measurement)
    return measurement
  }

  private func result(
    _ own: SIMD4<Double>, x: Int, y: Int, of size: FrameSize, in measurement: Reduction.Measurement
  ) -> SIMD4<Double> {
    var result = SIMD4<Double>(
      self.reduction.pixel(self.single(own), x: x, y: y, of: size, in: measurement))
    if self.isOpaque { result.w = own.w }
    return result
  }

  private func single(_ pixel: SIMD4<Double>) -> SIMD4<Float> {
    var result = SIMD4<Float>(pixel)
    if self.isOpaque { result.w = 1 }
    return result
  }
}
