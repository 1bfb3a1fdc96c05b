import CKernels

/// An affine map of the picture within its frame.
struct AffineTransform: ArgumentFilter {
  static let description = FilterDescription(
    name: "affineTransform",
    summary: "Moves, rotates, scales or shears the picture; the frame keeps its size.",
    category: .geometry, reach: .frame, fidelity: .formula, isCoreImage: true,
    keywords: "rotate shift zoom perspective",
    examples: ["affineTransform(transform: [0.9, 0.3, -0.3, 0.9, 60, -30])"],
    formula: """
      A pixel at (x, y) moves to (a x + c y + tx, b x + d y + ty), in pixels from the top left \
      corner; bilinear, and where the picture shrinks n-fold the mean of n x n samples, n at most \
      8. border sets the pixels outside the picture
      """,
    parameters: [
      ParameterDescription(
        "transform", .vector(count: 6), default: .vector([1, 0, 0, 1, 0, 0]), slider: -2 ... 2,
        limits: -65536 ... 65536, "a, b, c, d, tx, ty; the default is the identity."),
      ParameterDescription(
        "border", .choice(["transparent", "clamp"]), default: .text("transparent"),
        "The pixels outside the picture: transparent (black in opaque pictures), or those at "
          + "its edge."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let vector = self.arguments.vector("transform")
    let map = AffineMap(
      a: vector[0], b: vector[1], c: vector[2], d: vector[3], tx: vector[4], ty: vector[5])
    guard map != .identity else { return [] }
    let clamps = self.arguments.text("border") == "clamp"
    return [FilterNode(.neighborhood(AffineOperation(inverse: map.inverse, clamps: clamps)))]
  }
}

/// A resampling of the picture using an affine map, in a frame of the same size.
package struct AffineOperation: NeighborhoodOperation {
  /// The map from positions of the result to positions of the input, in pixels; `nil` if the result
  /// is empty.
  package let inverse: AffineMap?
  /// Whether the edge pixels extend beyond the picture; otherwise the outside is empty
  /// (``TransparentBlack``).
  package let clamps: Bool

  package var kind: PassDescription.Kind { .warp }

  package var summary: String {
    let samples = self.samples
    return samples > 1
      ? "an affine map, the mean of \(samples)x\(samples) bilinear samples"
      : "an affine map, bilinear"
  }

  /// The number of samples per axis for the mean of a pixel: enough to cover the source area where
  /// the picture shrinks, at most 8. A bilinear sample spans two pixels and suffices up to a factor
  /// of 1.5.
  package var samples: Int {
    guard let inverse = self.inverse else { return 1 }
    return min(max(Int((inverse.stretch - 0.5 - 1e-9).rounded(.up)), 1), 8)
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    AffinePass(
      description: setting.description, operation: self,
      empty: TransparentBlack.samples(setting.geometry).map { $0.map(Double.init) },
      keepsFourthChannel: setting.keepsFourthChannel)
  }
}

/// Resampling of every plane by an affine map, bilinear, in tiles: a tile's sources are close
/// together, a row's sources may be spread over the frame.
package struct AffinePass: Pass {
  package let description: PassDescription
  let operation: AffineOperation
  /// The code values of the empty area, by plane and channel.
  let empty: [[Double]]
  let keepsFourthChannel: Bool

  private static let tileWidth = 128
  private static let tileHeight = 32

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let square = Double(self.operation.samples * self.operation.samples)
    for shape in PlaneShape.planes(source.format, source.size) {
      let writer = SegmentWriter(context, shape, keepsAlpha: self.keepsFourthChannel)
      let cost = Double(shape.samples * shape.height) * 0.4 * square
      await context.bands.run(
        rows: shape.height, alignment: Self.tileHeight, nanoseconds: cost
      ) { band in
        self.run(band, source, shape, writer)
      }
    }
  }

  private func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ writer: SegmentWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let clamps = self.operation.clamps
    let reader = WarpReader(
      source, shape, empty: self.empty[shape.plane], capacity: Self.tileWidth)
    let sums = SampleSums(count: Self.tileWidth * shape.step)
    // A singular map reads a constant position: outside, or the first pixel if edges are clamped.
    let map =
      self.operation.inverse
      ?? AffineMap(a: 0, b: 0, c: 0, d: 0, tx: clamps ? 0 : -1e6, ty: 0)
    let count = self.operation.samples
    for top in stride(from: band.lowerBound, to: band.upperBound, by: Self.tileHeight) {
      for left in stride(from: 0, to: shape.width, by: Self.tileWidth) {
        let length = min(Self.tileWidth, shape.width - left)
        for y in top ..< min(top + Self.tileHeight, band.upperBound) {
          writer.fetch(x: left, y: y, count: length)
          func read(_ sample: Int) -> UnsafeMutablePointer<Int16> {
            let column = (Double(sample % count) + 0.5) / Double(count)
            let row = (Double(sample / count) + 0.5) / Double(count)
            Self.setPositions(reader, map, Double(left) + column, Double(y) + row, length, shape)
            return unsafe reader.read(count: length, covers: !clamps)
          }
          guard count > 1 else {
            unsafe writer.write(read(0), x: left, y: y, count: length, rows)
            continue
          }
          for sample in 0 ..< count * count {
            unsafe sums.add(read(sample), count: length * shape.step, isFirst: sample == 0, rows)
          }
          unsafe writer.write(
            sums.means(of: count * count, count: length * shape.step), x: left, y: y,
            count: length, rows)
        }
      }
    }
  }

  /// Sets the positions of a run of pixels that begins at a position of a plane, in samples of the
  /// plane.
  private static func setPositions(
    _ reader: borrowing WarpReader, _ map: AffineMap, _ x: Double, _ y: Double, _ length: Int,
    _ shape: PlaneShape
  ) {
    let position = map(x / shape.scale, y / shape.scale)
    var plane = reader.plane
    let start = [Float(position.x * shape.scale - 0.5), Float(position.y * shape.scale - 0.5)]
    let slope = [Float(map.a), Float(map.b)]
    unsafe sl_rows_current().pointee.remap_line(
      &plane, start, slope, length, reader.positions.pointers)
  }
}

/// Sums of runs of samples, and their means. Owned by one band.
@safe
struct SampleSums: ~Copyable {
  private let memory: SampleMemory
  private let sums: UnsafeMutablePointer<Int32>
  private let count: Int

  /// Allocates sums.
  ///
  /// - Parameter count: The maximum number of samples of a run.
  init(count: Int) {
    self.memory = SampleMemory(count: 3 * count)
    unsafe self.sums = UnsafeMutableRawPointer(self.memory[0])
      .bindMemory(to: Int32.self, capacity: count)
    self.count = count
  }

  /// Adds a run; the first one replaces the sums.
  func add(
    _ samples: UnsafePointer<Int16>, count: Int, isFirst: Bool, _ rows: sl_rows
  ) {
    if isFirst { unsafe self.sums.update(repeating: 0, count: count) }
    unsafe rows.accumulate_i16(samples, count, self.sums)
  }

  /// Returns the means, rounded.
  ///
  /// - Parameters:
  ///   - runs: The number of added runs.
  ///   - count: The number of samples.
  func means(of runs: Int, count: Int) -> UnsafeMutablePointer<Int16> {
    let result = unsafe self.memory[2 * self.count]
    unsafe sl_rows_current().pointee.scale_sums(
      self.sums, 1 / Float(runs), count, result)
    return unsafe result
  }
}
