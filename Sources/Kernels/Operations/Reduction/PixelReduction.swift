import CKernels
import Synchronization

/// A measurement of the pixels of an area, from which the pixels of the result follow.
package protocol PixelReduction: Sendable {
  /// The sums and extremes of the pixels so far.
  associatedtype Measurement: Sendable
  /// Returns the measurement of a frame without pixels.
  func measurement(of size: FrameSize) -> Measurement
  /// Adds a premultiplied pixel. The order of pixels doesn't change the measurement.
  func add(_ pixel: SIMD4<Float>, x: Int, y: Int, to measurement: inout Measurement)
  /// Adds the measurement of other pixels.
  func merge(_ other: Measurement, into measurement: inout Measurement)
  /// Computes what the pixels of the result need, once all pixels are added.
  func finish(_ measurement: inout Measurement)
  /// Returns a pixel of the result, premultiplied.
  func pixel(
    _ own: SIMD4<Float>, x: Int, y: Int, of size: FrameSize, in measurement: Measurement
  ) -> SIMD4<Float>
  /// Adds the pixels of a strip, premultiplied, by vectors where the type has code for it. May
  /// overwrite them.
  func add(_ strip: Strip, isOpaque: Bool, to measurement: inout Measurement)
  /// Replaces the pixels of a strip by the result's, by vectors where the type has code for it.
  func replace(_ strip: Strip, isOpaque: Bool, of size: FrameSize, by measurement: Measurement)
}

extension PixelReduction {
  package func finish(_ measurement: inout Measurement) {}

  package func add(_ strip: Strip, isOpaque: Bool, to measurement: inout Measurement) {
    for index in 0 ..< strip.count {
      let pixel = strip.pixel(index, isOpaque: isOpaque)
      self.add(pixel, x: strip.x + index, y: strip.y, to: &measurement)
    }
  }

  package func replace(
    _ strip: Strip, isOpaque: Bool, of size: FrameSize, by measurement: Measurement
  ) {
    for index in 0 ..< strip.count {
      let own = strip.pixel(index, isOpaque: isOpaque)
      let result = self.pixel(own, x: strip.x + index, y: strip.y, of: size, in: measurement)
      unsafe strip.red[index] = result.x
      unsafe strip.green[index] = result.y
      unsafe strip.blue[index] = result.z
      if !isOpaque { unsafe strip.alpha[index] = result.w }
    }
  }
}

extension Strip {
  /// Writes a colour to a run of pixels.
  func fill(_ run: Range<Int>, with color: SIMD4<Float>, isOpaque: Bool) {
    let (start, count) = (run.lowerBound, run.count)
    unsafe (self.red + start).update(repeating: color.x, count: count)
    unsafe (self.green + start).update(repeating: color.y, count: count)
    unsafe (self.blue + start).update(repeating: color.z, count: count)
    if !isOpaque { unsafe (self.alpha + start).update(repeating: color.w, count: count) }
  }

  func pixel(_ index: Int, isOpaque: Bool) -> SIMD4<Float> {
    unsafe [
      self.red[index], self.green[index], self.blue[index], isOpaque ? 1 : self.alpha[index],
    ]
  }
}

/// Sums of values of pixels, which are the same in every order: values are limited to -1024 ... 1024
/// and rounded to multiples of 2^-20, and the sums are whole numbers below 2^53.
struct ExactSum: Sendable {
  /// The sums times 2^20.
  var units = SIMD4<Double>.zero

  /// Returns a value times 2^20, rounded to a whole number; halves to the even one.
  @inline(__always)
  static func units(_ value: Float) -> Double {
    let limited = Double(min(max(-1024, value), 1024)) * 0x1p20
    return limited + 0x1.8p52 - 0x1.8p52
  }

  static func += (total: inout Self, pixel: SIMD4<Float>) {
    for channel in 0 ..< 4 { total.units[channel] += Self.units(pixel[channel]) }
  }

  static func += (total: inout Self, other: Self) { total.units += other.units }

  func mean(of count: Int) -> SIMD4<Float> {
    SIMD4<Float>(self.units / (Double(max(count, 1)) * 0x1p20))
  }
}

/// The sums and the extremes of the channels of a strip.
struct StripStatistics {
  private(set) var sum = ExactSum()
  private(set) var low = SIMD4<Float>(repeating: 1)
  private(set) var high = SIMD4<Float>(repeating: 1)

  init(_ strip: Strip, isOpaque: Bool) {
    var channel = 0
    func add(_ values: UnsafeMutablePointer<Float>) {
      var found = sl_statistics(units: 0, low: .infinity, high: -.infinity)
      unsafe sl_rows_current().pointee.measure(values, strip.count, &found)
      self.sum.units[channel] = found.units
      self.low[channel] = found.low
      self.high[channel] = found.high
      channel += 1
    }
    unsafe strip.forEachColor(add)
    if isOpaque {
      self.sum.units.w = Double(strip.count) * 0x1p20
    } else {
      unsafe add(strip.alpha)
    }
  }
}

/// A reduction of an area, as an operation on frames of any format.
package struct ReductionOperation<Reduction: PixelReduction>: NeighborhoodOperation {
  package let reduction: Reduction
  /// The area: left, top, width and height in pixels. Without pixels in the frame, it is the frame.
  let extent: [Double]
  package let isOpaque: Bool
  package let summary: String

  package var kind: PassDescription.Kind { .frame }
  package var averages: Bool { false }
  // The pass reads the samples of frames, which are exact, whether colour is premultiplied or not.
  package var mixesPixels: Bool { false }

  package func area(in size: FrameSize) -> PixelRect {
    PixelRect(
      Region(
        origin: FramePoint(x: Length(self.extent[0]), y: Length(self.extent[1])),
        width: Length(self.extent[2]), height: Length(self.extent[3])), in: size)
      ?? PixelRect(x: 0 ..< size.width, y: 0 ..< size.height)
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    ReductionPass(setting: setting, operation: self)
  }
}

/// The pass of a reduction: it reads the area, and writes the frame.
private struct ReductionPass<Reduction: PixelReduction>: OperationPass {
  let setting: PassSetting
  let operation: ReductionOperation<Reduction>

  func run(_ context: PassContext) async {
    let size = context.output.size
    let area = self.operation.area(in: size)
    let total = Mutex(self.operation.reduction.measurement(of: size))
    await context.bands.run(
      rows: area.y.count, nanoseconds: Double(area.x.count * area.y.count)
    ) { band in
      let part = self.measure(
        area.y.lowerBound + band.lowerBound ..< area.y.lowerBound + band.upperBound, area.x, context
      )
      total.withLock { self.operation.reduction.merge(part, into: &$0) }
    }
    var measured = total.withLock { $0 }
    self.operation.reduction.finish(&measured)
    let measurement = measured
    await context.bands.run(
      rows: size.height, alignment: context.output.format.isYUV ? 2 : 1,
      nanoseconds: Double(size.pixelCount)
    ) { band in
      self.write(band, measurement, context)
    }
  }

  private func measure(
    _ rows: Range<Int>, _ columns: Range<Int>, _ context: PassContext
  ) -> Reduction.Measurement {
    let source = unsafe StripStore(
      context.inputs[0].view, YUVConversion(self.setting.geometry.color),
      sl_rows_current().pointee)
    let memory = StripMemory(strips: 1)
    var measurement = self.operation.reduction.measurement(of: context.output.size)
    for y in rows {
      for x in stride(from: columns.lowerBound, to: columns.upperBound, by: Strip.capacity) {
        let strip = self.load(
          x, y, min(Strip.capacity, columns.upperBound - x), memory.strip(0, time: context.time),
          from: source)
        self.operation.reduction.add(strip, isOpaque: self.operation.isOpaque, to: &measurement)
      }
    }
    return measurement
  }

  private func write(
    _ band: Range<Int>, _ measurement: Reduction.Measurement, _ context: PassContext
  ) {
    let rows = unsafe sl_rows_current().pointee
    let conversion = YUVConversion(self.setting.geometry.color)
    let source = unsafe StripStore(context.inputs[0].view, conversion, rows)
    let destination = unsafe StripStore(context.output.view, conversion, rows)
    let size = context.output.size
    let memory = StripMemory(strips: 2)
    for y in stride(from: band.lowerBound, to: band.upperBound, by: destination.rowsAtOnce) {
      for x in stride(from: 0, to: size.width, by: Strip.capacity) {
        let strips = (0 ..< min(destination.rowsAtOnce, size.height - y)).map { row in
          let strip = self.load(
            x, y + row, min(Strip.capacity, size.width - x), memory.strip(row, time: context.time),
            from: source)
          self.operation.reduction.replace(
            strip, isOpaque: self.operation.isOpaque, of: size, by: measurement)
          if self.isStraight {
            unsafe rows.unpremultiply(strip.red, strip.green, strip.blue, strip.alpha, strip.count)
          }
          return strip
        }
        destination.store(strips)
      }
    }
  }

  private func load(
    _ x: Int, _ y: Int, _ count: Int, _ memory: Strip, from source: StripStore
  ) -> Strip {
    var strip = memory
    (strip.x, strip.y, strip.count) = (x, y, count)
    source.load(strip)
    if self.isStraight {
      unsafe sl_rows_current().pointee.premultiply(
        strip.red, strip.green, strip.blue, strip.alpha, strip.count)
    }
    return strip
  }

  /// Whether the pictures hold straight colours.
  private var isStraight: Bool { !self.operation.isOpaque && !self.setting.isPremultiplied }
}

extension FilterNode {
  /// A reduction of frames, or of the area that arguments have as `extent`.
  static func reduction(
    _ reduction: some PixelReduction, of arguments: Arguments? = nil, _ summary: String,
    for geometry: FrameGeometry
  ) -> FilterNode {
    let extent = arguments?.vector("extent") ?? [0, 0, 0, 0]
    return FilterNode(
      .neighborhood(
        ReductionOperation(
          reduction: reduction, extent: extent, isOpaque: geometry.isOpaque, summary: summary)))
  }
}
