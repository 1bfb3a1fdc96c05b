import CKernels
package import SidelightKernels

/// A drawn text as factors and summands of a frame's samples: b' = (b k + v) / 255, rounded, with
/// the byte b, k = 255 (1 - a) and v = 255 a times the text's sample, a its alpha.
///
/// A sample of chroma has the means of the pixels that share it. Frames with straight alpha need
/// divisions, and keep the premultiplied pixels instead.
@safe
package final class CaptionSamples: @unchecked Sendable {  // written by its initialiser only
  /// The samples of one plane.
  package struct Plane: Sendable {
    package let rows: Range<Int>
    /// The first byte of a row that is drawn on.
    package let start: Int
    /// The bytes of a row that are drawn on.
    package let count: Int
    /// The position of the plane's first factor.
    fileprivate let offset: Int
  }

  /// The planes of the frame, in order; empty for straight alpha.
  package let planes: [Plane]
  /// The rectangle of pixels.
  package let rect: PixelRect
  /// The premultiplied pixels of the rectangle; empty unless the frame's alpha is straight.
  package let pixels: [UInt8]
  /// A factor of ``pixels``. The samples of planes contain it.
  package let opacity: Float
  private let factors: UnsafeMutablePointer<UInt8>
  private let summands: UnsafeMutablePointer<UInt16>

  /// Converts a text for frames of a geometry.
  ///
  /// - Parameter opacity: A factor of the text's alpha, 0 to 1.
  package init(_ caption: TextCaption, opacity: Double, for geometry: FrameGeometry) {
    self.rect = PixelRect(
      x: caption.x ..< caption.x + caption.size.width,
      y: caption.y ..< caption.y + caption.size.height)
    self.opacity = Float(opacity)
    guard geometry.alpha != .straight else {
      self.planes = []
      self.pixels = caption.pixels
      unsafe self.factors = .allocate(capacity: 1)
      unsafe self.summands = .allocate(capacity: 1)
      return
    }
    self.pixels = []
    let picture = CaptionPicture(
      pixels: caption.pixels, rect: self.rect, opacity: self.opacity)
    let channels = CaptionChannels(geometry)
    var planes: [Plane] = []
    var total = 0
    for shape in PlaneShape.planes(geometry.format, geometry.size) {
      let unit = shape.scale < 1 ? 2 : 1
      let rows = self.rect.y.lowerBound / unit ..< (self.rect.y.upperBound + unit - 1) / unit
      let columns = self.rect.x.lowerBound / unit ..< (self.rect.x.upperBound + unit - 1) / unit
      planes.append(
        Plane(
          rows: rows, start: columns.lowerBound * shape.step, count: columns.count * shape.step,
          offset: total))
      total += rows.count * columns.count * shape.step
    }
    self.planes = planes
    unsafe self.factors = .allocate(capacity: total)
    unsafe self.summands = .allocate(capacity: total)
    for (plane, shape) in zip(planes, PlaneShape.planes(geometry.format, geometry.size)) {
      var index = plane.offset
      let first = plane.start / shape.step
      for y in plane.rows {
        for x in first ..< first + plane.count / shape.step {
          let pixel =
            shape.scale < 1 ? picture.mean(x, y, in: geometry.size) : picture.pixel(x, y)
          for channel in 0 ..< shape.step {
            let (factor, summand) = channels.samples(
              pixel, plane: shape.plane, channel: channel)
            unsafe self.factors[index] = factor
            unsafe self.summands[index] = summand
            index += 1
          }
        }
      }
    }
  }

  deinit {
    unsafe self.factors.deallocate()
    unsafe self.summands.deallocate()
  }

  /// The memory in bytes.
  package var byteCount: Int {
    self.pixels.count + self.planes.reduce(0) { $0 + 3 * $1.rows.count * $1.count }
  }

  /// The factors and summands of a row of a plane; valid while the samples live.
  package func row(
    _ y: Int, of plane: Plane
  ) -> (factors: UnsafePointer<UInt8>, summands: UnsafePointer<UInt16>) {
    let offset = plane.offset + (y - plane.rows.lowerBound) * plane.count
    return unsafe (UnsafePointer(self.factors + offset), UnsafePointer(self.summands + offset))
  }
}

/// The premultiplied pixels of a text in its rectangle.
private struct CaptionPicture {
  let pixels: [UInt8]
  let rect: PixelRect
  let opacity: Float

  /// A pixel of the frame, 0 to 255; transparent outside the rectangle.
  func pixel(_ x: Int, _ y: Int) -> SIMD4<Float> {
    guard self.rect.x.contains(x), self.rect.y.contains(y) else { return .zero }
    let index =
      4 * ((y - self.rect.y.lowerBound) * self.rect.x.count + x - self.rect.x.lowerBound)
    return self.opacity
      * SIMD4(
        Float(self.pixels[index]), Float(self.pixels[index + 1]), Float(self.pixels[index + 2]),
        Float(self.pixels[index + 3]))
  }

  /// The mean of the pixels that share a sample of chroma; at an odd edge, of the existing pixels.
  func mean(_ x: Int, _ y: Int, in size: FrameSize) -> SIMD4<Float> {
    let (right, lower) = (min(2 * x + 1, size.width - 1), min(2 * y + 1, size.height - 1))
    return
      (self.pixel(2 * x, 2 * y) + self.pixel(right, 2 * y) + self.pixel(2 * x, lower)
      + self.pixel(right, lower)) / 4
  }
}

/// The samples of a premultiplied colour in a format.
private struct CaptionChannels {
  /// The weights of red, green, blue and alpha by plane and channel.
  private let weights: [[SIMD4<Float>]]
  /// Whether the channel is the fourth of an opaque format, which keeps its bytes.
  private let keepsFourth: Bool

  init(_ geometry: FrameGeometry) {
    self.keepsFourth = geometry.format.hasAlpha && geometry.alpha == .opaque
    func weights(_ component: (SIMD4<Double>) -> Double) -> SIMD4<Float> {
      let black = component([0, 0, 0, 1])
      return SIMD4<Float>(
        SIMD4<Double>(
          component([1, 0, 0, 1]) - black, component([0, 1, 0, 1]) - black,
          component([0, 0, 1, 1]) - black, black))
    }
    switch geometry.format {
    case .i420, .nv12:
      let coding = YUVCoding(geometry.color)
      let chroma = (0 ..< 2).map { channel in weights { coding.chroma($0)[channel] } }
      self.weights =
        [[weights { coding.luma($0) }]]
        + (geometry.format == .nv12 ? [chroma] : chroma.map { [$0] })
    case .gray8:
      self.weights = [[weights { 255 * ($0 * SIMD4(ColorMatrix.luma, 0)).sum() }]]
    case .bgra8, .rgba8, .rgb24:
      let colors: [SIMD4<Float>] = [
        [255, 0, 0, 0], [0, 255, 0, 0], [0, 0, 255, 0], [0, 0, 0, 255],
      ]
      let order = geometry.format == .bgra8 ? [2, 1, 0, 3] : [0, 1, 2, 3]
      self.weights = [order.map { colors[$0] }]
    }
  }

  /// Returns the factor and the summand of a sample.
  ///
  /// - Parameter pixel: The premultiplied colour, 0 to 255.
  func samples(
    _ pixel: SIMD4<Float>, plane: Int, channel: Int
  ) -> (factor: UInt8, summand: UInt16) {
    guard pixel.w > 0, !(self.keepsFourth && channel == 3) else { return (255, 0) }
    // Truncated after half is added: Float.rounded() is a call of the mathematics library.
    let alpha = Int32(pixel.w + 0.5)
    let value = Int32(max((pixel * self.weights[plane][channel]).sum() + 0.5, 0))
    // The sum with any byte stays within 255 * 255.
    return (
      UInt8(truncatingIfNeeded: 255 - alpha), UInt16(truncatingIfNeeded: min(value, 255 * alpha))
    )
  }
}

/// A pass that draws a text on frames. Samples that the text does not cover keep their bytes.
struct CaptionPass: Pass {
  /// The estimated time of a sample in nanoseconds.
  private static let sampleNanoseconds = 0.1

  let setting: PassSetting
  let operation: TextOperation

  var description: PassDescription { self.setting.description }

  var worksInPlace: Bool { true }

  var drawsOnInput: Bool { true }

  func run(_ context: PassContext) async throws {
    let output = context.output
    if output.relation(to: context.inputs[0]) != .same {
      for shape in PlaneShape.planes(output.format, output.size) {
        await PlaneCopy(shape: shape).run(context)
      }
    }
    guard let caption = try self.operation.samples(of: context.details) else { return }
    let rows = caption.rect.y
    // Rows that share chroma belong to one band.
    let top = rows.lowerBound / 2 * 2
    let samples = caption.planes.reduce(4 * caption.pixels.count) { $0 + $1.rows.count * $1.count }
    await context.bands.run(
      rows: rows.upperBound - top, alignment: 2,
      nanoseconds: Double(samples) * Self.sampleNanoseconds
    ) { band in
      let band = top + band.lowerBound ..< top + band.upperBound
      if caption.planes.isEmpty {
        Self.drawStraight(caption, band, output.view)
      } else {
        Self.draw(caption, band, output.view)
      }
    }
    // The rows above are addresses without ownership.
    withExtendedLifetime(output) {}
  }

  private static func draw(_ caption: CaptionSamples, _ band: Range<Int>, _ view: RasterView) {
    let rows = unsafe sl_rows_current().pointee
    for (index, plane) in caption.planes.enumerated() {
      let unit = view.format.isYUV && index > 0 ? 2 : 1
      let part = (band.lowerBound / unit ..< (band.upperBound + unit - 1) / unit)
        .clamped(to: plane.rows)
      for y in part {
        let samples = unsafe caption.row(y, of: plane)
        unsafe rows.draw_caption(
          view.row(y, plane: index).assumingMemoryBound(to: UInt8.self) + plane.start,
          samples.factors, samples.summands, plane.count)
      }
    }
  }

  /// Draws on colour with straight alpha: the result's alpha is a + f (1 - a), and its colour
  /// c = (o + s f (1 - a)) / alpha, o the premultiplied text, s the frame's colour, f its alpha.
  private static func drawStraight(
    _ caption: CaptionSamples, _ band: Range<Int>, _ view: RasterView
  ) {
    let order = view.format == .bgra8 ? [2, 1, 0] : [0, 1, 2]
    let columns = caption.rect.x
    for y in band.clamped(to: caption.rect.y) {
      let row = unsafe view.row(y).assumingMemoryBound(to: UInt8.self) + 4 * columns.lowerBound
      let start = 4 * (y - caption.rect.y.lowerBound) * columns.count
      for x in 0 ..< columns.count {
        let source = start + 4 * x
        guard caption.pixels[source + 3] > 0 else { continue }
        let pixel = unsafe row + 4 * x
        // 0 to 1: the alpha of the text, of the frame's colour and of the result.
        let alpha = Float(caption.pixels[source + 3]) * caption.opacity / 255
        let under = unsafe Float(pixel[3]) / 255 * (1 - alpha)
        let total = alpha + under
        // A small opacity rounds the text's alpha to 0.
        guard total > 0 else { continue }
        for channel in 0 ..< 3 {
          let color = Float(caption.pixels[source + channel]) * caption.opacity
          let out = order[channel]
          let sum = unsafe color + Float(pixel[out]) * under
          unsafe pixel[out] = UInt8(min(sum / total + 0.5, 255))
        }
        unsafe pixel[3] = UInt8(min(255 * total + 0.5, 255))
      }
    }
  }
}
