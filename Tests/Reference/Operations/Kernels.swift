import Foundation
package import SidelightKernelLanguage
package import SidelightKernels

extension PixelKernel: ReferenceFunction {
  package func reference(
    _ pixel: SIMD4<Double>, _ source: SIMD4<Double>, x: Int, y: Int, _ time: FrameTime
  ) -> SIMD4<Double> {
    self.program.evaluate(pixel, x: x, y: y, time, images: self.images, source: source)
  }
}

extension KernelNeighborhood: DefinedOperation {
  package func pixels(
    of size: FrameSize, _ time: FrameTime, _ pixel: @escaping (Int, Int) -> SIMD4<Double>
  ) -> (Int, Int) -> SIMD4<Double> {
    func clamped(_ x: Int, _ y: Int) -> SIMD4<Double> {
      pixel(min(max(x, 0), size.width - 1), min(max(y, 0), size.height - 1))
    }
    return { x, y in
      self.program.evaluate(
        clamped(x, y), x: x, y: y, time, images: self.images,
        neighbor: { clamped(x + $0, y + $1) },
        picture: { Interpolation.pixel(at: $0, $1, in: size, pixel) })
    }
  }
}

extension KernelProgram {
  /// Computes a pixel in double precision.
  ///
  /// - Parameters:
  ///   - images: The images; the source frame's pixel for an image that is the source frame.
  ///   - neighbor: The pixel at an offset; premultiplied.
  ///   - picture: The picture for reads at computed positions.
  fileprivate func evaluate(
    _ pixel: SIMD4<Double>, x: Int, y: Int, _ time: FrameTime, images: [PlacedBackdrop],
    source: SIMD4<Double> = .zero,
    neighbor: (_ x: Int, _ y: Int) -> SIMD4<Double> = { _, _ in .zero },
    picture: (_ x: Double, _ y: Double) -> SIMD4<Double> = { _, _ in .zero }
  ) -> SIMD4<Double> {
    let values = self.graph.evaluate(self.results) { input in
      switch input {
      case .channel(let channel): pixel[channel]
      case .sample(let x, let y, let channel): neighbor(x, y)[channel]
      case .image(let image, let channel):
        switch images[image] {
        case .source: source[channel]
        case .image(let placed): placed.pixel(x, y)[channel]
        }
      case .column: Double(x) + 0.5
      case .start: 0
      case .row: Double(y) + 0.5
      case .time: Double(Self.seconds(time))
      case .frame: Double(Self.number(time))
      case .unknown: 0
      }
    } read: { number, x, y in
      guard number > 0, case .image(let placed) = images[number - 1] else {
        return picture(x, y)
      }
      return Interpolation.pixel(at: x, y, in: placed.size) { placed.pixel($0, $1) }
    }
    return [values[0], values[1], values[2], values[3]]
  }
}

extension KernelGraph {
  /// Computes nodes in double precision.
  ///
  /// - Parameters:
  ///   - input: The value of an input.
  ///   - read: A picture's pixel at a position.
  fileprivate func evaluate(
    _ results: [Index], _ input: (Input) -> Double,
    read: (_ picture: Int, _ x: Double, _ y: Double) -> SIMD4<Double>
  ) -> [Double] {
    var values: [Double] = []
    var pixels: [Index: SIMD4<Double>] = [:]
    values.reserveCapacity(self.nodes.count)
    for (index, node) in self.nodes.enumerated() {
      switch node {
      case .constant(let value): values.append(value)
      case .input(let source): values.append(input(source))
      case .operation(let operation, let a, let b, let c):
        values.append(operation.definition(values[a], values[b], values[c]))
      case .read(let picture, let x, let y):
        pixels[index] = read(picture, values[x], values[y])
        values.append(0)
      case .channel(let channel, let pixel): values.append(pixels[pixel]?[channel] ?? 0)
      }
    }
    return results.map { values[$0] }
  }
}

extension KernelOperation {
  /// The value in double precision, by the mathematical library.
  fileprivate func definition(_ a: Double, _ b: Double, _ c: Double) -> Double {
    switch self {
    case .exp2: Foundation.exp2(Swift.min(Swift.max(a.isNaN ? -126 : a, -126), 127))
    case .log2: Foundation.log2(a > 0x1p-126 ? a : 0x1p-126)
    case .sin: Foundation.sin(a.magnitude < 0x1p22 ? a : 0)
    case .cos: Foundation.cos(a.magnitude < 0x1p22 ? a : 0)
    case .pow:
      a > 0
        ? Foundation.exp2(Swift.min(Swift.max(b * Foundation.log2(a), -126), 127)) : 0
    case .atan2: a == 0 && b == 0 ? 0 : Foundation.atan2(a, b)
    default: self.constant(a, b, c)
    }
  }
}

/// Linear interpolation between pixels.
private enum Interpolation {
  /// Returns the pixel at a position, in pixels from the top left; beyond the edges, the pixel at
  /// the edge. NaN counts as 0.
  static func pixel(
    at x: Double, _ y: Double, in size: FrameSize, _ pixel: (Int, Int) -> SIMD4<Double>
  ) -> SIMD4<Double> {
    func split(_ position: Double, _ count: Int) -> (first: Int, second: Int, weight: Double) {
      let limited = position > 0.5 ? min(position - 0.5, Double(count - 1)) : 0
      let first = Int(limited)
      return (first, min(first + 1, count - 1), limited - Double(first))
    }
    let (left, right, across) = split(x, size.width)
    let (upper, lower, down) = split(y, size.height)
    let (a, b) = (pixel(left, upper), pixel(right, upper))
    let (c, d) = (pixel(left, lower), pixel(right, lower))
    let above = a + (b - a) * across
    return above + (c + (d - c) * across - above) * down
  }
}
