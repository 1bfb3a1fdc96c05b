import CKernels

/// A resampling of a rectangle of the frame to a size.
struct ResampleOperation: NeighborhoodOperation {
  /// The top left corner, in pixels of the input.
  let origin: (x: Double, y: Double)
  /// The size of the rectangle, in pixels of the input.
  let extent: (width: Double, height: Double)
  /// The size of the result.
  let size: FrameSize

  var kind: PassDescription.Kind { .warp }

  var mixesPixels: Bool {
    let (x, y) = self.origin
    let isWhole = x.rounded() == x && y.rounded() == y
    return !isWhole || self.step != (1, 1)
  }

  var summary: String {
    let step = self.step
    let taken = "from \(self.origin.x), \(self.origin.y)"
    if step.x == 1, step.y == 1 { return "a rectangle of \(self.size) \(taken)" }
    return "\(self.extent.width)x\(self.extent.height) \(taken), resampled to \(self.size)"
  }

  /// Pixels of the input per pixel of the output.
  private var step: (x: Double, y: Double) {
    (self.extent.width / Double(self.size.width), self.extent.height / Double(self.size.height))
  }

  func output(for geometry: FrameGeometry) -> FrameGeometry {
    FrameGeometry(format: geometry.format, size: self.size, color: geometry.color)
  }

  func makePass(_ setting: PassSetting) -> any Pass {
    let planes = PlaneShape.planes(setting.geometry.format, setting.geometry.size)
    let results = PlaneShape.planes(setting.geometry.format, self.size)
    return ResamplePass(
      description: setting.description,
      keepsFourthChannel: setting.keepsFourthChannel && self.size == setting.geometry.size,
      planes: zip(planes, results).map { source, result in
        // In samples of the plane: positions scale with the plane, steps do not.
        PlaneResampler(
          source: source,
          horizontal: ResampleAxis(
            source: source.width, count: result.width, origin: self.origin.x * source.scale,
            step: self.step.x),
          vertical: ResampleAxis(
            source: source.height, count: result.height, origin: self.origin.y * source.scale,
            step: self.step.y))
      })
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    let scale = plane.scale
    // A chroma sample covers two pixels, the last one of an odd row one.
    func count(_ pixels: Int) -> Int { Int((Double(pixels) * scale).rounded(.up)) }
    let (width, height) = (count(self.size.width), count(self.size.height))
    let empty = ReferencePlane(
      width: width, height: height, step: plane.step, scale: scale,
      samples: Array(repeating: 0, count: width * height * plane.step))
    return empty.map { x, y, channel in
      Self.mean(self.origin.y * scale + Double(y) * self.step.y, self.step.y) { row in
        Self.mean(self.origin.x * scale + Double(x) * self.step.x, self.step.x) { column in
          plane[column, row, channel]
        }
      }
    }
  }

  /// The value at the middle of an interval between samples, or the mean over an interval that is
  /// longer than one.
  private static func mean(
    _ low: Double, _ length: Double, _ sample: (Int) -> Double
  ) -> Double {
    if length <= 1 {
      let position = low + length / 2 - 0.5
      let left = position.rounded(.down)
      let fraction = position - left
      return sample(Int(left)) * (1 - fraction) + sample(Int(left) + 1) * fraction
    }
    var sum = 0.0
    for index in Int(low.rounded(.down)) ..< Int((low + length).rounded(.up)) {
      let covered = min(Double(index) + 1, low + length) - max(Double(index), low)
      sum += sample(index) * covered / length
    }
    return sum
  }
}

/// Resampling of each plane along rows and columns.
package struct ResamplePass: Pass {
  package let description: PassDescription
  private let keepsFourthChannel: Bool
  private let planes: [PlaneResampler]

  init(description: PassDescription, keepsFourthChannel: Bool, planes: [PlaneResampler]) {
    self.description = description
    self.keepsFourthChannel = keepsFourthChannel
    self.planes = planes
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let shapes = PlaneShape.planes(context.output.format, context.output.size)
    for (shape, plane) in zip(shapes, self.planes) {
      let writer = RowWriter(
        context, shape, fractionBits: 5, keepsAlpha: self.keepsFourthChannel)
      let read = Double(plane.source.samples * shape.height * plane.vertical.taps)
      let written = Double(shape.samples * shape.height * plane.horizontal.taps)
      await context.bands.run(rows: shape.height, nanoseconds: read * 0.1 + written * 0.5) { band in
        unsafe plane.run(band, from: source) { y, samples in
          unsafe writer.write(samples, y: y, sl_rows_current().pointee)
        }
      }
    }
  }
}

extension FilterNode {
  /// Resamples a rectangle of the frame to a size: linear interpolation where it grows, the mean of
  /// the covered area where it shrinks. The result has that size.
  ///
  /// - Parameters:
  ///   - origin: The top left corner, in pixels.
  ///   - extent: The size of the rectangle, in pixels. Beyond the frame it reads the pixels at the
  ///     edge.
  ///   - size: The size of the result, 1 ... ``FrameLayout/maxDimension`` in each direction.
  package static func resample(
    from origin: (x: Double, y: Double), extent: (width: Double, height: Double), to size: FrameSize
  ) -> FilterNode {
    FilterNode(.neighborhood(ResampleOperation(origin: origin, extent: extent, size: size)))
  }
}
