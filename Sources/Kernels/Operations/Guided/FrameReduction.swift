import CKernels

/// The reduction of frames to a small picture, in which mattes are computed and faces are found.
///
/// A pixel of it is the mean of a square of `factor` pixels, rounded to 1/32 level and then to a
/// level, halves up; in YUV formats luma and chroma are averaged and then converted to R'G'B'.
/// Squares that reach beyond the right and the bottom edge repeat the pixels at the edge.
package struct FrameReduction: Sendable {
  /// The longer and the shorter side of the largest small picture. It is larger for frames with an
  /// aspect ratio of more than 64.
  package static let longestSide = 320
  package static let shortestSide = 180

  /// Pixels of the frame per pixel of the small picture, along either axis: 1 ... 64.
  package let factor: Int
  /// The size of the small picture.
  package let size: FrameSize
  private let geometry: FrameGeometry
  private let shapes: [PlaneShape]
  private let conversion: [Int32]

  package init(_ geometry: FrameGeometry) {
    let frame = geometry.size
    let (long, short) = (max(frame.width, frame.height), min(frame.width, frame.height))
    let wanted = max(
      (long + Self.longestSide - 1) / Self.longestSide,
      (short + Self.shortestSide - 1) / Self.shortestSide)
    let factor = min(wanted, Int(SL_MATTE_FACTOR))
    self.factor = factor
    self.size = FrameSize(
      width: (frame.width + factor - 1) / factor, height: (frame.height + factor - 1) / factor)
    self.geometry = geometry
    self.shapes = PlaneShape.planes(geometry.format, frame)
    self.conversion = Self.conversion(geometry)
  }

  /// The numbers of ``sl_rows/guide_yuv``.
  private static func conversion(_ geometry: FrameGeometry) -> [Int32] {
    guard geometry.format.isYUV else { return [0, 16384, 0, 0, 0, 0] }
    let toRGB = YUVConversion(geometry.color).toRGB
    func fixed(_ factor: Float) -> Int32 { Int32((Double(factor) * 255 * 16384).rounded()) }
    return [
      Int32(toRGB.luma_offset) * 32, fixed(toRGB.luma_scale), fixed(toRGB.red_v),
      fixed(toRGB.green_u), fixed(toRGB.green_v), fixed(toRGB.blue_u),
    ]
  }

  /// Computes rows of the small picture from a raster of the geometry.
  ///
  /// - Parameter alpha: Receives the mean alpha, in levels, of formats with an alpha channel.
  package func run(
    _ band: Range<Int>, from source: RasterView, to guide: GuidePlanes, alpha: FloatPlanes? = nil
  ) {
    let rows = unsafe sl_rows_current().pointee
    let width = self.size.width
    let step = self.shapes[0].step
    let sums = SumMemory(count: 4 * self.geometry.size.width + 4)
    let cells = SampleMemory(count: 4 * width + 4 * width)
    let (first, second) = unsafe (cells[0], cells[4 * width])
    for y in band {
      let out = unsafe guide.row(y)
      unsafe self.average(y, source, self.shapes[0], sums, first, rows)
      if self.geometry.format.isYUV {
        let chroma = self.shapes[1]
        unsafe self.average(y, source, chroma, sums, second, rows)
        if chroma.step == 1 {
          unsafe self.average(y, source, self.shapes[2], sums, second + width, rows)
        }
        let v = unsafe chroma.step == 1 ? second + width : second + 1
        unsafe rows.guide_yuv(
          first, second, v, chroma.step, width, self.conversion, out, guide.stride)
      } else {
        let order = PixelOrder.colors(of: self.geometry.format) ?? [0, 0, 0]
        unsafe rows.guide_pixels(
          first, step, order.firstIndex(of: 0) ?? 0, order.firstIndex(of: 2) ?? 0, width, out,
          guide.stride)
        guard let alpha, step == 4 else { continue }
        let row = unsafe alpha.row(y)
        for x in 0 ..< width { unsafe row[x] = Float(first[4 * x + 3]) * (1 / 32) }
      }
    }
  }

  /// Computes a row of means of a plane, as deep samples.
  private func average(
    _ y: Int, _ source: RasterView, _ shape: PlaneShape, _ sums: borrowing SumMemory,
    _ out: UnsafeMutablePointer<Int16>, _ rows: sl_rows
  ) {
    let isDeep = source.depth == .deep
    let last = self.geometry.size.height - 1
    let height = self.geometry.size.height
    unsafe withUnsafeTemporaryAllocation(of: UnsafeRawPointer.self, capacity: self.factor) {
      pointers in
      for k in 0 ..< self.factor {
        let row = min(y * self.factor + k, last)
        let place = shape.height == height ? row : row / 2
        unsafe pointers.initializeElement(
          at: k, to: UnsafeRawPointer(source.row(place, plane: shape.plane)))
      }
      let sum = unsafe isDeep ? rows.sum_rows_i16 : rows.sum_rows_u8
      unsafe sum(
        pointers.baseAddress.unsafelyUnwrapped, self.factor, shape.samples, sums.start)
    }
    var width = shape.width
    var factor = self.factor
    var scale = (isDeep ? 1 : 32) / Float(self.factor * self.factor)
    if shape.scale < 1, self.factor.isMultiple(of: 2) {
      factor /= 2
      scale *= 2
    } else if shape.scale < 1 {
      // A sample belongs to two columns, and a cell has an odd number of them.
      width = self.geometry.size.width
      sums.spread(step: shape.step, pixels: width)
    }
    unsafe rows.downsample_cells(
      sums.start, shape.step, width, factor, scale, self.size.width, out)
  }
}

extension FrameReduction {
  /// The two cells with centres around a pixel, along one axis, and the weight of the second. 1.5
  /// is between the pixels 1 and 2.
  package static func place(
    _ pixel: Double, _ factor: Int, _ count: Int
  ) -> (cell: Int, next: Int, fraction: Double) {
    let place = min(max((pixel + 0.5) / Double(factor) - 0.5, 0), Double(count - 1))
    let cell = Int(place)
    return (cell, min(cell + 1, count - 1), place - Double(cell))
  }
}

/// A row of 32-bit sums, owned by one band.
@safe
private struct SumMemory: ~Copyable {
  let start: UnsafeMutablePointer<Int32>

  init(count: Int) {
    unsafe self.start = .allocate(capacity: count)
    unsafe self.start.initialize(repeating: 0, count: count)
  }

  deinit {
    unsafe self.start.deallocate()
  }

  /// Gives every pixel of a row the sums of the chroma sample that it shares, in place.
  borrowing func spread(step: Int, pixels: Int) {
    for x in stride(from: pixels - 1, to: 0, by: -1) {
      for channel in 0 ..< step {
        unsafe self.start[x * step + channel] = self.start[x / 2 * step + channel]
      }
    }
  }
}
