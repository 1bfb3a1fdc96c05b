import CKernels
import SidelightKernels

/// The blur of a frame's background: a Gaussian of the frame that gives the person a weight of 0 to
/// keep it from spreading into the background.
///
/// blur(w f) / blur(w), with w = (1 - c)^2, c the person's maximum share in the 3x3 pixels of the
/// reduced picture. Far from the background, it is the blur of the person. Computed on means of at
/// least the reduced picture's pixels, in R'G'B', by using three boxes.
struct BackgroundSoftening: Sendable {
  /// The frame's pixels per pixel of the blurred picture, and the reduced picture's.
  let factor: Int
  private let step: Int
  private let radii: [Int]
  private let size: FrameSize
  private let reduction: FrameReduction
  private let alpha: AlphaMode
  private let matrix: [Float]
  private let geometry: FrameGeometry

  /// The minimum weight of a pixel. Far from the background, it applies to all pixels.
  private static let minWeight: Float = 0.001

  /// - Parameters:
  ///   - geometry: The geometry of frames.
  ///   - reduction: Their reduction.
  ///   - sigma: The standard deviation in pixels of the frame.
  init(_ geometry: FrameGeometry, _ reduction: FrameReduction, sigma: Double) {
    var step = 1
    // At least 1.5 cells: the three boxes of 12 pixels at 720 rows are then cheap.
    while 2 * step * reduction.factor <= Int(SL_MATTE_FACTOR),
      sigma / Double(2 * step * reduction.factor) >= 1.5
    {
      step *= 2
    }
    self.step = step
    self.factor = step * reduction.factor
    let square = Double(self.factor * self.factor)
    // Means and the linear interpolation between them blur too.
    self.radii = FloatPlanes.boxRadii(
      variance: (sigma * sigma - (square - 1) / 12 - square / 6) / square)
    self.size = FrameSize(
      width: (reduction.size.width + step - 1) / step,
      height: (reduction.size.height + step - 1) / step)
    self.reduction = reduction
    self.geometry = geometry
    self.alpha = geometry.alpha
    self.matrix = MatteCoding(geometry).encoding.flatMap { $0.map(Float.init) }
  }

  /// Computes a frame's background.
  ///
  /// - Parameters:
  ///   - guide: The reduced frame.
  ///   - alpha: Its alpha in levels, for frames with alpha.
  ///   - cover: The person's share of every pixel; `nil` if the whole frame is background.
  func run(
    _ context: PassContext, _ guide: GuidePlanes, alpha: FloatPlanes?, cover: FloatPlanes?
  ) async -> SoftBackdrop {
    let (width, height) = (self.size.width, self.size.height)
    // Red, green, blue, weight, and alpha.
    let count = alpha == nil ? 4 : 5
    func planes() -> FloatPlanes {
      FloatPlanes(width: width, height: height, planes: 5, pool: context.pool)
    }
    let (sums, other) = (planes(), planes())
    await context.bands.run(
      rows: height, nanoseconds: Double(guide.width * guide.height) * 3
    ) { band in
      let memory = FloatMemory(count: 2 * guide.width)
      for y in band { self.sum(y, guide, alpha, cover, memory, to: sums) }
    }
    let blurred = await sums.blurred(
      radii: self.radii, count: count, with: other, context.bands)
    await context.bands.run(rows: height, nanoseconds: Double(width * height) * 2) { band in
      for y in band { self.divide(y, blurred, hasAlpha: count == 5) }
    }
    return SoftBackdrop(
      planes: blurred, factor: self.factor, geometry: self.geometry, matrix: self.matrix)
  }

  /// Computes a row of weighted sums.
  private func sum(
    _ y: Int, _ guide: GuidePlanes, _ alpha: FloatPlanes?, _ cover: FloatPlanes?,
    _ memory: borrowing FloatMemory, to sums: FloatPlanes
  ) {
    let (weights, opaque) = unsafe (memory[0], memory[guide.width])
    for plane in 0 ..< (alpha == nil ? 4 : 5) {
      unsafe sums.row(y, plane: plane).update(repeating: 0, count: sums.width)
    }
    for row in y * self.step ..< min((y + 1) * self.step, guide.height) {
      if let cover {
        unsafe Self.weigh(row, cover, to: weights)
      } else {
        unsafe weights.update(repeating: 1, count: guide.width)
      }
      unsafe self.add(nil, weights, guide.width, to: sums.row(y, plane: 3))
      var shares = unsafe weights
      if let alpha {
        let levels = unsafe alpha.row(row)
        unsafe self.add(levels, weights, guide.width, to: sums.row(y, plane: 4))
        if self.alpha == .straight {
          for x in 0 ..< guide.width { unsafe opaque[x] = weights[x] * levels[x] * (1 / 255) }
          unsafe shares = opaque
        }
      }
      for plane in 0 ..< 3 {
        unsafe self.add(
          guide.row(row, plane: plane), offset: 128, shares, guide.width,
          to: sums.row(y, plane: plane))
      }
    }
  }

  /// Adds (levels + offset) * weights to cells, or the weights alone.
  private func add(
    _ levels: UnsafePointer<Float>?, offset: Float = 0, _ weights: UnsafePointer<Float>,
    _ count: Int, to out: UnsafeMutablePointer<Float>
  ) {
    guard self.step > 1 else {
      if let levels = unsafe levels {
        for x in 0 ..< count { unsafe out[x] += (levels[x] + offset) * weights[x] }
      } else {
        for x in 0 ..< count { unsafe out[x] += weights[x] }
      }
      return
    }
    for (cell, x) in stride(from: 0, to: count, by: self.step).enumerated() {
      var sum: Float = 0
      for column in x ..< min(x + self.step, count) {
        let level = unsafe levels.map { unsafe $0[column] + offset } ?? 1
        unsafe sum += level * weights[column]
      }
      unsafe out[cell] += sum
    }
  }

  /// Computes the weights of a row of the reduced picture.
  private static func weigh(
    _ y: Int, _ cover: FloatPlanes, to weights: UnsafeMutablePointer<Float>
  ) {
    let (above, own) = unsafe (cover.row(max(y - 1, 0)), cover.row(y))
    let below = unsafe cover.row(min(y + 1, cover.height - 1))
    func greatest(_ x: Int) -> Float { unsafe max(above[x], own[x], below[x]) }
    let last = cover.width - 1
    func weight(_ cover: Float) -> Float {
      max((1 - cover) * (1 - cover), Self.minWeight)
    }
    guard last > 0 else { return unsafe weights[0] = weight(greatest(0)) }
    unsafe weights[0] = weight(max(greatest(0), greatest(1)))
    unsafe weights[last] = weight(max(greatest(last - 1), greatest(last)))
    for x in 1 ..< max(last, 1) {
      unsafe weights[x] = weight(max(greatest(x - 1), greatest(x), greatest(x + 1)))
    }
  }

  /// Divides a row by its weights, and puts alpha in the fourth plane.
  private func divide(_ y: Int, _ planes: FloatPlanes, hasAlpha: Bool) {
    let weights = unsafe planes.row(y, plane: 3)
    for plane in [0, 1, 2, 4] where plane < 3 || hasAlpha {
      let row = unsafe planes.row(y, plane: plane)
      for x in 0 ..< planes.width {
        unsafe row[x] = min(max(row[x] / weights[x], 0), 255)
      }
    }
    guard hasAlpha else { return unsafe weights.update(repeating: 255, count: planes.width) }
    unsafe weights.update(from: planes.row(y, plane: 4), count: planes.width)
  }
}

/// A picture behind a matte that is a small one, enlarged.
struct SoftBackdrop: MatteBackground {
  /// Premultiplied red, green, blue, and alpha, in levels.
  let planes: FloatPlanes
  /// The frame's pixels to one of the planes'.
  let factor: Int
  let geometry: FrameGeometry
  /// The codes of colours (``MatteCoding/encoding``).
  let matrix: [Float]

  func makeRows() -> any BackdropRows { Rows(self) }

  @safe
  private final class Rows: BackdropRows {
    let stride: Int
    private let shapes: [PlaneShape]
    private let geometry: FrameGeometry
    private let rows: ExpandedRows
    private let memory: [SampleRow]

    init(_ backdrop: SoftBackdrop) {
      self.geometry = backdrop.geometry
      self.stride = backdrop.geometry.size.width
      self.shapes = PlaneShape.planes(backdrop.geometry.format, backdrop.geometry.size)
      self.rows = ExpandedRows(
        backdrop.planes, factor: backdrop.factor, matrix: backdrop.matrix)
      self.memory = self.shapes.map { SampleRow(count: $0.samples) }
    }

    func row(_ y: Int, plane: Int) -> UnsafePointer<Int16> {
      let kernels = unsafe sl_rows_current().pointee
      let shape = self.shapes[plane]
      let out = unsafe self.memory[plane].start
      if plane == 0 {
        let pair = self.rows.rows(about: Double(y))
        for channel in 0 ..< shape.step {
          let code = unsafe pair.code(channel)
          unsafe kernels.mix_rows(
            code.upper, code.lower, pair.fraction, shape.width, out + channel * self.stride)
        }
      } else {
        let pair = self.rows.rows(about: 2 * Double(y) + 0.5)
        for channel in 0 ..< shape.step {
          let code = unsafe pair.code(plane + channel)
          unsafe kernels.mix_pairs(
            code.upper, code.lower, pair.fraction, self.geometry.size.width, shape.step,
            out + channel)
        }
      }
      return unsafe UnsafePointer(out)
    }
  }

  @safe
  private final class SampleRow {
    private let memory: SampleMemory
    var start: UnsafeMutablePointer<Int16> { unsafe self.memory[0] }

    init(count: Int) {
      self.memory = SampleMemory(count: count)
    }
  }
}
