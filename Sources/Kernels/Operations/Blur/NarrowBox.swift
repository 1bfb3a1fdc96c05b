import CKernels

/// Means over boxes of bytes by using 16-bit sums, for boxes with sums that fit.
///
/// Vertical sums are exact. Their means keep as many fractional bits as the horizontal sums have
/// room for, at least two.
struct NarrowBox: Sendable {
  /// The extent of boxes along one axis, and the scale from their sums to means.
  private struct Axis: Sendable {
    let radius: Int
    let scale: sl_box_scale

    /// Creates an axis.
    ///
    /// - Parameters:
    ///   - reach: The extent to either side in samples, greater than 0; the fraction is the share
    ///     of the last sample.
    ///   - sampleBits: The fractional bits of the samples.
    ///   - bits: The fractional bits of the means.
    init(reach: Double, sampleBits: Int, bits: Int = 0) {
      let length = (2 * reach + 1) * Double(1 << sampleBits)
      // Sums use as many of their 16 bits as possible; the sum of two adjacent samples must fit
      // too.
      var shift = 0
      while length * Double(2 << shift) <= NarrowBox.capacity, shift + sampleBits < 7 { shift += 1 }
      self.radius = Int(reach)
      self.scale = sl_box_scale(
        shift: UInt16(shift),
        fraction: UInt16(min(65535, ((reach - reach.rounded(.down)) * 65536).rounded())),
        factor: UInt16(min(65535, (8_388_608 / (length * Double(1 << shift))).rounded())),
        bits: UInt16(bits))
    }
  }

  /// The number of bytes of value 255 with a sum that fits 16 bits.
  private static let capacity = 257.0

  private let horizontal: Axis?
  private let vertical: Axis?

  /// Creates the filter.
  ///
  /// - Parameter reach: The extent of boxes to either side, in samples; 0 disables a direction.
  /// - Returns: `nil` if the sums do not fit 16 bits.
  init?(reach: (x: Double, y: Double)) {
    let (width, height) = (2 * reach.x + 1, 2 * reach.y + 1)
    guard width <= Self.capacity, height <= Self.capacity else { return nil }
    guard reach.y > 0 else {
      self.vertical = nil
      self.horizontal = Axis(reach: reach.x, sampleBits: 0)
      return
    }
    guard reach.x > 0 else {
      self.vertical = Axis(reach: reach.y, sampleBits: 0)
      self.horizontal = nil
      return
    }
    guard let bits = (2 ... 6).last(where: { width * Double(1 << $0) <= Self.capacity }) else {
      return nil
    }
    self.vertical = Axis(reach: reach.y, sampleBits: 0, bits: bits)
    self.horizontal = Axis(reach: reach.x, sampleBits: bits)
  }

  /// Computes the rows of a band.
  func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ writer: DirectRowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let margin = ((self.horizontal?.radius ?? 0) + 1) * shape.step
    // The sums of columns, a row of zeros, the means of columns with a margin, and a result.
    let memory = SampleMemory(count: 4 * shape.samples + 2 * margin + 64)
    let zeros = unsafe UnsafeRawPointer(memory[shape.samples])
    let means = unsafe memory[2 * shape.samples + margin]
    let scratch = unsafe memory[3 * shape.samples + 2 * margin]
    let sums = unsafe Self.sums(memory[0], shape)
    func row(_ y: Int) -> UnsafeRawPointer {
      unsafe UnsafeRawPointer(source.row(clamped: y, of: shape))
    }
    let radius = self.vertical?.radius ?? 0
    if var scale = self.vertical?.scale {
      for y in band.lowerBound - 1 - radius ... band.lowerBound - 1 + radius {
        var entering = unsafe sl_box_rows(entering: row(y), leaving: zeros, after: zeros)
        unsafe rows.box_vertical_narrow_u16(
          &entering, &scale, shape.samples, sums, Self.sums(means, shape))
      }
    }
    for y in band {
      unsafe writer.write(y: y, scratch: scratch, rows) { output in
        if var scale = self.vertical?.scale {
          var slid = unsafe sl_box_rows(
            entering: row(y + radius), leaving: row(y - radius - 1), after: row(y + radius + 1))
          guard self.horizontal != nil else {
            return unsafe rows.box_vertical_narrow_u8(
              &slid, &scale, shape.samples, sums,
              output.bindMemory(to: UInt8.self, capacity: shape.samples))
          }
          unsafe rows.box_vertical_narrow_u16(
            &slid, &scale, shape.samples, sums, Self.sums(means, shape))
        } else {
          unsafe rows.widen_u16(row(y), shape.samples, Self.sums(means, shape))
        }
        guard let across = self.horizontal else { return }
        var scale = across.scale
        unsafe rows.replicate_edges(means, shape.step, shape.width, across.radius + 1)
        unsafe rows.box_horizontal_narrow(
          Self.sums(means, shape), shape.step, shape.width, across.radius, &scale, output)
      }
    }
  }

  /// A row of 16-bit samples as a row of sums.
  private static func sums(
    _ samples: UnsafeMutablePointer<Int16>, _ shape: PlaneShape
  ) -> UnsafeMutablePointer<UInt16> {
    unsafe UnsafeMutableRawPointer(samples).assumingMemoryBound(to: UInt16.self)
  }
}
