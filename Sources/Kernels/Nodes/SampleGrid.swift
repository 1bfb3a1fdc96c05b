/// The colours of a frame at the points of a small grid, from which its light is measured.
///
/// Sample i of n along an axis of l pixels reads pixel floor((2 i + 1) l / (2 n)). There are at
/// most 64 x 36 samples, and at most one per pixel. All numbers are whole, and therefore the same
/// on every machine.
package struct SampleGrid: Sendable, Hashable {
  /// The maximum number of samples along the width and the height.
  package static let maxColumns = 64
  package static let maxRows = 36
  /// The mean change of luma, in levels, from which a picture shows another scene than the last.
  static let cutChange = 30.0

  /// The number of samples along the width.
  package let columns: Int
  /// The samples, row by row: red, green and blue in 0 ... 255, straight; and 1, or 0 where alpha
  /// is less than a half.
  package let samples: [SIMD4<Int32>]

  /// Reads the samples of a frame.
  package init(_ frame: Frame) {
    let shapes = PlaneShape.planes(frame.format, frame.size)
    self.init(frame.geometry) { plane, x, y, channel in
      let row = unsafe frame.baseAddress(plane: plane) + y * frame.layout.planes[plane].stride
      return unsafe row[x * shapes[plane].step + channel]
    }
  }

  /// Reads samples from bytes by plane and position.
  package init(
    _ geometry: FrameGeometry,
    _ byte: (_ plane: Int, _ x: Int, _ y: Int, _ channel: Int) -> UInt8
  ) {
    let (width, height) = (geometry.size.width, geometry.size.height)
    let (columns, rows) = (min(width, Self.maxColumns), min(height, Self.maxRows))
    self.columns = columns
    let decoder = SampleDecoder(geometry)
    var samples: [SIMD4<Int32>] = []
    samples.reserveCapacity(columns * rows)
    for row in 0 ..< rows {
      let y = (2 * row + 1) * height / (2 * rows)
      for column in 0 ..< columns {
        let x = (2 * column + 1) * width / (2 * columns)
        samples.append(decoder.color(x, y, byte))
      }
    }
    self.samples = samples
  }

  /// The Rec. 709 luma of the samples, in 1/256 level.
  private var luma: [Int32] {
    // .2126, .7152 and .0722 of 256.
    self.samples.map { 54 &* $0.x &+ 183 &* $0.y &+ 19 &* $0.z }
  }

  /// The mean luma in 0 ... 1; `nil` without visible samples.
  package var meanLuma: Double? {
    var sum: Int64 = 0
    var count: Int64 = 0
    for (sample, luma) in zip(self.samples, self.luma) where sample.w == 1 {
      sum += Int64(luma)
      count += 1
    }
    return count == 0 ? nil : Double(sum) / Double(count * 255 * 256)
  }

  /// The minimum level that the greatest channel of at most a share of the visible samples exceeds;
  /// `nil` without visible samples.
  func brightest(share: Double) -> Int? {
    var counts = Array(repeating: 0, count: 256)
    for sample in self.samples where sample.w == 1 {
      counts[Int(max(sample.x, sample.y, sample.z))] += 1
    }
    let total = counts.reduce(0, +)
    guard total > 0 else { return nil }
    let allowed = Int(Double(total) * share)
    var above = 0
    for level in stride(from: 255, to: 0, by: -1) {
      above += counts[level]
      if above > allowed { return level }
    }
    return 0
  }

  /// Whether the picture shows another scene than an earlier one: the mean change of luma is more
  /// than ``cutChange`` levels, or the grids differ.
  package func isCut(from earlier: SampleGrid) -> Bool {
    guard self.columns == earlier.columns, self.samples.count == earlier.samples.count else {
      return true
    }
    let sum = zip(self.luma, earlier.luma).reduce(Int64(0)) { $0 + Int64(abs($1.0 - $1.1)) }
    return Double(sum) > Self.cutChange * Double(256 * self.samples.count)
  }
}

/// The conversion of a frame's bytes at one position to a sample, in whole numbers.
private struct SampleDecoder {
  private let format: PixelFormat
  private let alpha: AlphaMode
  /// The bytes of red, green and blue in a pixel.
  private let places: [Int]
  /// For red, green and blue: the weights of luma, Cb and Cr, and the bias with the rounding's
  /// half, in 1/8192.
  private let rows: [SIMD4<Int32>]

  init(_ geometry: FrameGeometry) {
    self.format = geometry.format
    self.alpha = geometry.format.hasAlpha ? geometry.color.alpha : .opaque
    let order = PixelOrder.colors(of: geometry.format) ?? [0, 1, 2]
    self.places = (0 ..< 3).map { color in order.firstIndex(of: color) ?? color }
    let coding = YUVCoding(geometry.color)
    let affine = AffineCoding(inputs: 3) { code in
      let color = coding.decode(code[0], code[1], code[2]) * 255
      return [color.x, color.y, color.z]
    }
    self.rows = zip(affine.weights, affine.biases).map { weights, bias in
      func fixed(_ number: Double) -> Int32 { Int32((number * 8192).rounded()) }
      return [fixed(weights[0]), fixed(weights[1]), fixed(weights[2]), fixed(bias) + 4096]
    }
  }

  func color(
    _ x: Int, _ y: Int, _ byte: (_ plane: Int, _ x: Int, _ y: Int, _ channel: Int) -> UInt8
  ) -> SIMD4<Int32> {
    func level(_ plane: Int, _ x: Int, _ y: Int, _ channel: Int) -> Int32 {
      Int32(byte(plane, x, y, channel))
    }
    switch self.format {
    case .gray8:
      let gray = level(0, x, y, 0)
      return [gray, gray, gray, 1]
    case .i420, .nv12:
      let isPaired = self.format == .nv12
      let code: SIMD4<Int32> = [
        level(0, x, y, 0), level(1, x / 2, y / 2, 0),
        level(isPaired ? 1 : 2, x / 2, y / 2, isPaired ? 1 : 0), 1,
      ]
      func color(_ row: Int) -> Int32 {
        min(max((self.rows[row] &* code).wrappedSum() >> 13, 0), 255)
      }
      return [color(0), color(1), color(2), 1]
    case .bgra8, .rgba8, .rgb24:
      let color: SIMD3<Int32> = [
        level(0, x, y, self.places[0]), level(0, x, y, self.places[1]),
        level(0, x, y, self.places[2]),
      ]
      guard self.alpha != .opaque else { return SIMD4(color, 1) }
      let alpha = level(0, x, y, 3)
      guard alpha >= 128 else { return .zero }
      guard self.alpha == .premultiplied else { return SIMD4(color, 1) }
      let straight = (color &* 255 &+ alpha / 2) / SIMD3(repeating: alpha)
      return SIMD4(straight.clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255)), 1)
    }
  }
}
