import CKernels

/// The colour guided filter (He, Sun and Tang 2013; with subsampling, He and Sun 2015): the edges
/// of a matte follow a picture's edges.
///
/// In every box of the small picture the matte is approximated by a linear function of red, green
/// and blue: a = (cov(I) + epsilon)^-1 cov(I, m), b = mean(m) - a . mean(I). The functions of all
/// boxes that contain a pixel are averaged. At full resolution, they are interpolated between the
/// small picture's pixels and applied to the frame's own colours. Boxes end at the picture's edges.
///
/// A constant matte is returned unchanged, and a matte that is a linear function of the colours
/// nearly so: epsilon makes a linear function with noise prefer the flatter one.
package struct GuidedFilter: Sendable, Hashable {
  /// The distance from a box's centre to its sides, 1 ... 16.
  package var radius = 5
  /// The variance, with colours in 0 ... 1, below which a box counts as flat.
  package var epsilon = 0.001

  package init(radius: Int = 5, epsilon: Double = 0.001) {
    precondition((1 ... 16).contains(radius) && epsilon > 0)
    self.radius = radius
    self.epsilon = epsilon
  }

  /// Returns the distance from which a pixel of a frame gets content that could show a face: two
  /// boxes, and the pixels of the small picture that are interpolated. Means of wide boxes are
  /// coarser than the cells of a covered face, or reach less far than the margin of its cover.
  package func spread(in geometry: FrameGeometry) -> Double {
    self.radius >= 5 ? 0 : Double((2 * self.radius + 2) * FrameReduction(geometry).factor)
  }

  /// Computes rows of averaged functions: three weights and a bias, of colours less 128 and the
  /// matte in 0 ... 255.
  package func run(_ band: Range<Int>, _ guide: GuidePlanes, to models: FloatPlanes) {
    guard !band.isEmpty else { return }
    let rows = unsafe sl_rows_current().pointee
    let (radius, width, height) = (self.radius, guide.width, guide.height)
    // Rows of sums and of functions have zeros beyond both ends.
    let stride = (width + 2 * radius + 15) & ~15
    let ringSize = 2 * radius + 1
    let memory = FloatMemory(count: (13 + 4 * ringSize) * stride)
    let sums = unsafe memory[radius]
    func ring(_ y: Int) -> UnsafeMutablePointer<Float> {
      unsafe memory[(13 + y % ringSize * 4) * stride + radius]
    }
    let epsilon = Float(self.epsilon * 255 * 255)
    func add(_ y: Int, _ sign: Float) {
      guard (0 ..< height).contains(y) else { return }
      unsafe rows.guided_add_row(guide.row(y), guide.stride, sign, width, sums, stride)
    }
    func within(_ y: Int) -> ClosedRange<Int> { max(y - radius, 0) ... min(y + radius, height - 1) }
    let first = within(band.lowerBound).lowerBound
    let last = within(band.upperBound - 1).upperBound
    for y in within(first) { add(y, 1) }
    unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<Float>.self, capacity: ringSize) {
      pointers in
      var next = band.lowerBound
      for y in first ... last {
        if y > first {
          add(y + radius, 1)
          add(y - radius - 1, -1)
        }
        unsafe rows.guided_solve(
          sums, stride, width, radius, within(y).count, epsilon, ring(y), stride)
        while next < band.upperBound, within(next).upperBound <= y {
          let window = within(next)
          for (index, row) in window.enumerated() {
            unsafe pointers.initializeElement(at: index, to: UnsafePointer(ring(row)))
          }
          unsafe rows.guided_average(
            pointers.baseAddress.unsafelyUnwrapped, window.count, stride, width, radius,
            models.row(next), models.stride)
          next += 1
        }
      }
    }
  }
}
