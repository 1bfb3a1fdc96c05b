import CKernels

/// Means over boxes of bytes, in 16 bits: for boxes whose sums those can hold.
///
/// Down the rows the sums are exact. Their means keep as many bits below a level as the sums along
/// the row have room for, at least two.
struct NarrowBox: Sendable {
  /// How far boxes reach along one axis, and how their sums become means.
  private struct Axis: Sendable {
    let radius: Int
    let scale: sl_box_scale

    /// - Parameters:
    ///   - reach: Samples to either side, a share of the last one included; greater than 0.
    ///   - sampleBits: How many bits the samples have below a level.
    ///   - bits: How many the means are to have.
    init(reach: Double, sampleBits: Int, bits: Int = 0) {
      let length = (2 * reach + 1) * Double(1 << sampleBits)
      // Sums fill their 16 bits as far as they can; that of two samples may not exceed them either.
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

  /// So many times 255 fit 16 bits.
  private static let capacity = 257.0

  private let horizontal: Axis?
  private let vertical: Axis?

  /// - Parameter reach: How far boxes reach to both sides, in samples; 0 for not at all.
  /// - Returns: `nil` if the sums would not fit.
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
  func run(_ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ finish: DirectFinish) {
    let rows = unsafe sl_rows_current().pointee
    let margin = ((self.horizontal?.radius ?? 0) + 1) * shape.step
    // Sums of columns, a row that adds nothing, means of columns with a margin, and a result.
    let memory = SampleMemory(count: 4 * shape.samples + 2 * margin + 64)
    let nothing = unsafe UnsafeRawPointer(memory[shape.samples])
    let means = unsafe memory[2 * shape.samples + margin]
    let scratch = unsafe memory[3 * shape.samples + 2 * margin]
    let sums = unsafe Self.sums(memory[0], shape)
    func row(_ y: Int) -> UnsafeRawPointer {
      unsafe UnsafeRawPointer(
        source.row(min(max(y, 0), shape.height - 1), plane: shape.plane))
    }
    let radius = self.vertical?.radius ?? 0
    if var scale = self.vertical?.scale {
      for y in band.lowerBound - 1 - radius ... band.lowerBound - 1 + radius {
        var entering = unsafe sl_box_rows(entering: row(y), leaving: nothing, after: nothing)
        unsafe rows.box_vertical_narrow_u16(
          &entering, &scale, shape.samples, sums, Self.sums(means, shape))
      }
    }
    for y in band {
      unsafe finish.write(y: y, scratch: scratch, rows) { output in
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

  /// Rows of 16-bit samples as rows of sums.
  private static func sums(
    _ samples: UnsafeMutablePointer<Int16>, _ shape: PlaneShape
  ) -> UnsafeMutablePointer<UInt16> {
    unsafe UnsafeMutableRawPointer(samples).assumingMemoryBound(to: UInt16.self)
  }
}
