import CKernels
import SidelightKernels

/// The composition of a sticker with the bytes of a frame: o + s (1 - oa), o premultiplied.
///
/// In YUV formats and gray8, luma and chroma of o are computed and composited; a chroma sample has
/// the mean of the pixels that share it. Sums are integers, in which an opaque pixel is 8160: 255
/// levels in units of 1/32 level. A byte is rounded once.
struct StickerBlend: Sendable {
  /// The weights of red, green, blue and alpha in a component, in 1/16384.
  private typealias Weights = SIMD4<Int32>

  private static let opaque: Int32 = 255 * 32

  private let format: PixelFormat
  private let alpha: AlphaMode
  private let order: [Int]
  /// The weights of luma, Cb and Cr.
  private let components: [Weights]

  init(_ geometry: FrameGeometry) {
    self.format = geometry.format
    self.alpha = geometry.alpha
    self.order = PixelOrder.colors(of: geometry.format) ?? []
    /// The component of a premultiplied colour, given the components of the primaries and of black.
    func weights(_ component: (SIMD4<Double>) -> Double) -> Weights {
      let black = component([0, 0, 0, 1])
      func weight(_ color: SIMD4<Double>) -> Int32 {
        Int32(((component(color) - black) / 255 * 16384).rounded())
      }
      return Weights(
        weight([1, 0, 0, 1]), weight([0, 1, 0, 1]), weight([0, 0, 1, 1]),
        Int32((black / 255 * 16384).rounded()))
    }
    switch geometry.format {
    case .gray8:
      self.components = [
        weights { 255 * (0.2126 * $0.x + 0.7152 * $0.y + 0.0722 * $0.z) }
      ]
    case .i420, .nv12:
      let coding = YUVCoding(geometry.color)
      self.components = [
        weights { coding.luma($0) }, weights { coding.chroma($0)[0] },
        weights { coding.chroma($0)[1] },
      ]
    case .bgra8, .rgba8, .rgb24: self.components = []
    }
  }

  /// Composites rows of the frame, in place.
  ///
  /// - Parameter band: The rows; in YUV formats the first is even.
  func run(_ band: Range<Int>, _ sticker: PlacedSticker, _ frame: RasterView) {
    let pixels = StickerReader(sticker, capacity: frame.size.width + 1)
    guard self.format.isYUV else {
      for y in band {
        let columns = sticker.columns(y)
        guard !columns.isEmpty else { continue }
        let sums = unsafe pixels.read(columns, y)
        if self.components.isEmpty {
          unsafe self.composite(sums, columns, frame.row(y))
        } else {
          unsafe Self.composite(
            sums, columns.count, self.components[0], 1,
            frame.row(y).assumingMemoryBound(to: UInt8.self) + columns.lowerBound)
        }
      }
      return
    }
    let means = SampleMemory(count: 2 * frame.size.width + 8)
    for y in stride(from: band.lowerBound, to: band.upperBound, by: 2) {
      self.compositeYUV(y, sticker, frame, pixels, means)
    }
  }

  /// Composites two rows that share chroma.
  private func compositeYUV(
    _ y: Int, _ sticker: PlacedSticker, _ frame: RasterView, _ pixels: borrowing StickerReader,
    _ means: borrowing SampleMemory
  ) {
    let below = y + 1 < frame.size.height ? sticker.columns(y + 1) : 0 ..< 0
    let columns = Self.union(sticker.columns(y), below)
    guard !columns.isEmpty else { return }
    // All pixels of the chroma samples.
    let start = columns.lowerBound / 2 * 2
    let covered = start ..< min((columns.upperBound + 1) / 2 * 2, frame.size.width)
    let samples = (covered.count + 1) / 2
    let mean = unsafe UnsafeMutableRawPointer(means[0])
      .assumingMemoryBound(to: SIMD4<Int16>.self)
    let rowCount = min(2, frame.size.height - y)
    for row in 0 ..< rowCount {
      let sums = unsafe pixels.read(covered, y + row)
      unsafe Self.composite(
        sums, covered.count, self.components[0], 1,
        frame.row(y + row).assumingMemoryBound(to: UInt8.self) + start)
      for index in 0 ..< samples {
        let left = unsafe sums[2 * index]
        // At an odd edge, the pixels that exist.
        let right = unsafe 2 * index + 1 < covered.count ? sums[2 * index + 1] : left
        let sum = left &+ right
        // Four sums of at most 8160 fit.
        unsafe mean[index] = row == 0 ? sum : mean[index] &+ sum
      }
    }
    let shift: Int16 = rowCount == 2 ? 2 : 1
    for index in 0 ..< samples {
      unsafe mean[index] = (mean[index] &+ SIMD4(repeating: shift)) &>> SIMD4(repeating: shift)
    }
    let chroma = unsafe frame.row(y / 2, plane: 1).assumingMemoryBound(to: UInt8.self)
    if self.format == .nv12 {
      unsafe Self.composite(mean, samples, self.components[1], 2, chroma + start)
      unsafe Self.composite(mean, samples, self.components[2], 2, chroma + start + 1)
    } else {
      let second = unsafe frame.row(y / 2, plane: 2).assumingMemoryBound(to: UInt8.self)
      unsafe Self.composite(mean, samples, self.components[1], 1, chroma + start / 2)
      unsafe Self.composite(mean, samples, self.components[2], 1, second + start / 2)
    }
  }

  private static func union(_ one: Range<Int>, _ other: Range<Int>) -> Range<Int> {
    if one.isEmpty { return other }
    if other.isEmpty { return one }
    return min(one.lowerBound, other.lowerBound) ..< max(one.upperBound, other.upperBound)
  }

  /// Composites one component with samples that are `step` bytes apart.
  private static func composite(
    _ sums: UnsafePointer<SIMD4<Int16>>, _ count: Int, _ weights: Weights, _ step: Int,
    _ out: UnsafeMutablePointer<UInt8>
  ) {
    for index in 0 ..< count {
      let sum = unsafe SIMD4<Int32>(truncatingIfNeeded: sums[index])
      let product = sum &* weights
      let value = (product.x &+ product.y &+ product.z &+ product.w &+ 8192) &>> 14
      unsafe out[step * index] = self.mixed(out[step * index], value, sum.w)
    }
  }

  /// Returns a byte of the frame under a sum.
  private static func mixed(_ byte: UInt8, _ value: Int32, _ alpha: Int32) -> UInt8 {
    let sum = Int32(byte) &* (Self.opaque &- alpha) &+ 255 &* value &+ Self.opaque / 2
    // Sums of colours may exceed sums of alpha by their rounding.
    return UInt8(truncatingIfNeeded: max(0, min(255, sum / Self.opaque)))
  }

  /// Composites interleaved pixels.
  private func composite(
    _ sums: UnsafePointer<SIMD4<Int16>>, _ columns: Range<Int>, _ row: UnsafeMutableRawPointer
  ) {
    let step = self.format == .rgb24 ? 3 : 4
    let out = unsafe row.assumingMemoryBound(to: UInt8.self) + step * columns.lowerBound
    let (red, blue) = self.order[0] == 0 ? (0, 2) : (2, 0)
    switch self.alpha {
    case .opaque:
      for index in 0 ..< columns.count {
        let sum = unsafe SIMD4<Int32>(truncatingIfNeeded: sums[index])
        let pixel = unsafe out + step * index
        unsafe pixel[red] = Self.mixed(pixel[red], sum.x, sum.w)
        unsafe pixel[1] = Self.mixed(pixel[1], sum.y, sum.w)
        unsafe pixel[blue] = Self.mixed(pixel[blue], sum.z, sum.w)
      }
    case .premultiplied:
      for index in 0 ..< columns.count {
        let sum = unsafe SIMD4<Int32>(truncatingIfNeeded: sums[index])
        let pixel = unsafe out + 4 * index
        let alpha = unsafe Self.mixed(pixel[3], sum.w, sum.w)
        // A pixel that the image does not cover keeps its bytes, also where they exceed alpha.
        guard sum.w > 0 else { continue }
        unsafe pixel[red] = min(Self.mixed(pixel[red], sum.x, sum.w), alpha)
        unsafe pixel[1] = min(Self.mixed(pixel[1], sum.y, sum.w), alpha)
        unsafe pixel[blue] = min(Self.mixed(pixel[blue], sum.z, sum.w), alpha)
        unsafe pixel[3] = alpha
      }
    case .straight:
      for index in 0 ..< columns.count {
        let sum = unsafe SIMD4<Int32>(truncatingIfNeeded: sums[index])
        guard sum.w > 0 else { continue }
        let pixel = unsafe out + 4 * index
        // Alpha of the frame's colour, and of the result, in 1 / (255 * 8160).
        let under = unsafe Int32(pixel[3]) &* (Self.opaque &- sum.w)
        let total = under &+ 255 &* sum.w
        func color(_ byte: UInt8, _ value: Int32) -> UInt8 {
          let color = (Int32(byte) &* under &+ 255 * 255 &* value &+ total / 2) / total
          return UInt8(truncatingIfNeeded: min(255, color))
        }
        unsafe pixel[red] = color(pixel[red], sum.x)
        unsafe pixel[1] = color(pixel[1], sum.y)
        unsafe pixel[blue] = color(pixel[blue], sum.z)
        unsafe pixel[3] = UInt8(
          truncatingIfNeeded: (total &+ Self.opaque / 2) / Self.opaque)
      }
    }
  }
}

/// A reader of a sticker's pixels at the pixels of a frame's row. Owned by one band.
@safe
private struct StickerReader: ~Copyable {
  private let sticker: PlacedSticker
  private let reader: WarpReader

  init(_ sticker: PlacedSticker, capacity: Int) {
    self.sticker = sticker
    let size = sticker.raster.size
    self.reader = WarpReader(
      sticker.raster.view, PlaneShape.planes(.rgba8, size)[0], empty: [0, 0, 0, 0],
      capacity: capacity)
  }

  /// Returns premultiplied red, green, blue and alpha with the sticker's opacity, in units of 1/32
  /// level. They are valid until the next call.
  func read(_ columns: Range<Int>, _ y: Int) -> UnsafePointer<SIMD4<Int16>> {
    let map = self.sticker.map
    let position = map(Double(columns.lowerBound) + 0.5, Double(y) + 0.5)
    let start = [Float(position.x - 0.5), Float(position.y - 0.5)]
    let slope = [Float(map.a), Float(map.b)]
    var plane = self.reader.plane
    unsafe sl_rows_current().pointee.remap_line(
      &plane, start, slope, columns.count, self.reader.positions.pointers)
    let sums = unsafe UnsafeMutableRawPointer(self.reader.read(count: columns.count, covers: true))
      .assumingMemoryBound(to: SIMD4<Int16>.self)
    let opacity = self.sticker.opacity
    if opacity < 32768 {
      for index in 0 ..< columns.count {
        let sum = unsafe SIMD4<Int32>(truncatingIfNeeded: sums[index])
        unsafe sums[index] = SIMD4(truncatingIfNeeded: (sum &* opacity &+ 16384) &>> 15)
      }
    }
    return unsafe UnsafePointer(sums)
  }
}
