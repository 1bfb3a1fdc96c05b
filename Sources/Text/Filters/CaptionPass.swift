import CKernels
import SidelightKernels

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
