import SidelightKernels

extension Frame {
  /// The samples by plane, without padding.
  var samples: [[UInt8]] {
    (0 ..< self.format.planeCount).map { plane in
      (0 ..< self.format.rowCount(plane: plane, height: self.size.height)).flatMap { y in
        self.withRow(y, plane: plane) { row in
          (0 ..< row.byteCount).map { unsafe row.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        }
      }
    }
  }

  /// The greatest difference of any sample from those expected, in levels.
  ///
  /// Straight colour is weighed by alpha: invisible pixels cannot be wrong.
  func worstDifference(from expected: [[UInt8]]) -> Double {
    let actual = self.samples
    let weighs = self.format.hasAlpha && self.color.alpha == .straight
    var worst = 0.0
    for (plane, samples) in actual.enumerated() {
      guard samples.count == expected[plane].count else { return .infinity }
      for (index, sample) in samples.enumerated() where sample != expected[plane][index] {
        var difference = abs(Double(sample) - Double(expected[plane][index]))
        if weighs, index % 4 != 3 {
          difference *= Double(max(samples[index | 3], expected[plane][index | 3])) / 255
        }
        worst = max(worst, difference)
      }
    }
    return worst
  }
}

extension Frame {
  /// Returns a copy in a given buffer, plane by plane and row by row.
  func copied(to buffer: PixelBuffer, layout: FrameLayout) -> Frame {
    var copy = MutableFrame(layout: layout, color: self.color, buffer: buffer)
    for shape in PlaneShape.planes(self.format, self.size) {
      for y in 0 ..< shape.height {
        self.withRow(y, plane: shape.plane) { from in
          copy.withMutableRow(y, plane: shape.plane) { to in
            for index in 0 ..< from.byteCount {
              to.storeBytes(
                of: unsafe from.unsafeLoad(fromByteOffset: index, as: UInt8.self),
                toByteOffset: index, as: UInt8.self)
            }
          }
        }
      }
    }
    return copy.finish()
  }
}
