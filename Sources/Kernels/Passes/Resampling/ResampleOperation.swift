import CKernels

/// A resampling of a rectangle of the frame to a size.
package struct ResampleOperation: NeighborhoodOperation {
  /// The top left corner, in pixels of the input.
  package let origin: (x: Double, y: Double)
  /// The size of the rectangle, in pixels of the input.
  package let extent: (width: Double, height: Double)
  /// The size of the result.
  package let size: FrameSize

  package init(
    origin: (x: Double, y: Double), extent: (width: Double, height: Double), size: FrameSize
  ) {
    self.origin = origin
    self.extent = extent
    self.size = size
  }

  package var kind: PassDescription.Kind { .warp }

  package var mixesPixels: Bool {
    let (x, y) = self.origin
    let isWhole = x.rounded() == x && y.rounded() == y
    return !isWhole || self.step != (1, 1)
  }

  package var summary: String {
    let step = self.step
    let taken = "from \(self.origin.x), \(self.origin.y)"
    if step.x == 1, step.y == 1 { return "a rectangle of \(self.size) \(taken)" }
    return "\(self.extent.width)x\(self.extent.height) \(taken), resampled to \(self.size)"
  }

  /// Pixels of the input per pixel of the output.
  package var step: (x: Double, y: Double) {
    (self.extent.width / Double(self.size.width), self.extent.height / Double(self.size.height))
  }

  package func output(for geometry: FrameGeometry) -> FrameGeometry {
    FrameGeometry(format: geometry.format, size: self.size, color: geometry.color)
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
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
}

/// Resampling of every plane along rows and columns.
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
  ///   - size: The size of the result, 1 ... ``FrameLayout/maxDimension`` in either direction.
  package static func resample(
    from origin: (x: Double, y: Double), extent: (width: Double, height: Double), to size: FrameSize
  ) -> FilterNode {
    FilterNode(.neighborhood(ResampleOperation(origin: origin, extent: extent, size: size)))
  }
}
