import CKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Moves, turns, scales and shears the picture within its frame.
struct AffineTransform: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "affineTransform",
    summary: "Moves, turns, scales or shears the picture; the frame keeps its size.",
    category: .geometry, reach: .frame, fidelity: .formula,
    formula: """
      A pixel at (x, y) goes to (a x + c y + tx, b x + d y + ty), in pixels from the top left corner; \
      bilinear, and where the picture shrinks n-fold the mean of n x n samples, n at most 8. Outside \
      lies transparency (black where there is no alpha), or what is at the edge
      """,
    parameters: [
      ParameterDescription(
        "transform", .vector(count: 6), default: .vector([1, 0, 0, 1, 0, 0]), slider: -2 ... 2,
        limits: -65536 ... 65536, "a, b, c, d, tx, ty; the default changes nothing."),
      ParameterDescription(
        "border", .choice(["transparent", "clamp"]), default: .text("transparent"),
        "What lies outside the picture."),
    ])

  private let map: AffineMap
  private let clamps: Bool

  /// Reads the settings.
  init(_ arguments: Arguments) {
    let vector = arguments.vector("transform")
    self.map = AffineMap(
      a: vector[0], b: vector[1], c: vector[2], d: vector[3], tx: vector[4], ty: vector[5])
    self.clamps = arguments.text("border") == "clamp"
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    guard self.map != .identity else { return [] }
    return [
      Node(.neighborhood(AffineOperation(inverse: self.map.inverse, clamps: self.clamps)))
    ]
  }
}

/// An affine map of places: x' = a x + c y + tx, y' = b x + d y + ty.
struct AffineMap: Sendable, Hashable {
  let a, b, c, d, tx, ty: Double

  /// Leaves every place where it is.
  static let identity = AffineMap(a: 1, b: 0, c: 0, d: 1, tx: 0, ty: 0)

  /// Where a place goes.
  func callAsFunction(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
    (self.a * x + self.c * y + self.tx, self.b * x + self.d * y + self.ty)
  }

  /// The map back; `nil` where places coincide, or nearly: a frame would shrink to less than one of
  /// its 4096th parts.
  var inverse: AffineMap? {
    let determinant = self.a * self.d - self.b * self.c
    let (a, b) = (self.d / determinant, -self.b / determinant)
    let (c, d) = (-self.c / determinant, self.a / determinant)
    guard determinant != 0, [a, b, c, d].allSatisfy({ abs($0) <= 4096 }) else { return nil }
    return AffineMap(
      a: a, b: b, c: c, d: d, tx: -(a * self.tx + c * self.ty), ty: -(b * self.tx + d * self.ty))
  }

  /// How many times further than before neighbours may come to lie, at most.
  var stretch: Double {
    max(hypot(self.a, self.b), hypot(self.c, self.d))
  }
}

/// The picture moved by an affine map, in a frame that stays as it is.
struct AffineOperation: NeighborhoodOperation {
  /// From places of the result to those of the input, in pixels; `nil` if nothing is to be seen.
  let inverse: AffineMap?
  /// Whether the pixels at the edges lie outside too; else there is nothing (``EmptyColor``).
  let clamps: Bool

  var kind: PassDescription.Kind { .warp }

  var words: String {
    let samples = self.samples
    return samples > 1
      ? "an affine map, the mean of \(samples)x\(samples) bilinear samples"
      : "an affine map, bilinear"
  }

  /// How many samples a pixel is the mean of, along x and along y: enough for those that it covers
  /// when the picture shrinks, and at most 8. One bilinear sample spans two pixels, and so does for
  /// up to one and a half.
  var samples: Int {
    guard let inverse = self.inverse else { return 1 }
    return min(max(Int((inverse.stretch - 0.5 - 1e-9).rounded(.up)), 1), 8)
  }

  func makePass(_ setting: PassSetting) -> any Pass {
    AffinePass(
      description: setting.description, operation: self,
      empty: EmptyColor.samples(setting.geometry).map { $0.map(Double.init) },
      keepsFourthChannel: setting.keepsFourthChannel)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    guard let inverse = self.inverse else {
      // So small that a clamped picture is one pixel, wherever one looks.
      return plane.map { _, _, channel in
        self.clamps ? plane[0, 0, channel] : plane.empty(channel: channel)
      }
    }
    func sample(_ x: Int, _ y: Int, _ channel: Int) -> Double {
      let isInside = (0 ..< plane.width).contains(x) && (0 ..< plane.height).contains(y)
      return isInside || self.clamps ? plane[x, y, channel] : plane.empty(channel: channel)
    }
    let count = self.samples
    return plane.map { x, y, channel in
      var sum = 0.0
      for row in 0 ..< count {
        for column in 0 ..< count {
          let place = inverse(
            (Double(x) + (Double(column) + 0.5) / Double(count)) / plane.scale,
            (Double(y) + (Double(row) + 0.5) / Double(count)) / plane.scale)
          let (u, v) = (place.x * plane.scale - 0.5, place.y * plane.scale - 0.5)
          let (left, top) = (u.rounded(.down), v.rounded(.down))
          let (fx, fy) = (u - left, v - top)
          let (i, j) = (Int(left), Int(top))
          sum +=
            (sample(i, j, channel) * (1 - fx) + sample(i + 1, j, channel) * fx) * (1 - fy)
            + (sample(i, j + 1, channel) * (1 - fx) + sample(i + 1, j + 1, channel) * fx) * fy
        }
      }
      return sum / Double(count * count)
    }
  }
}

/// Moves each plane by an affine map, bilinear, in tiles: a tile's sources lie close together, where
/// a row's may lie all over the frame.
package struct AffinePass: Pass {
  package let description: PassDescription
  private let operation: AffineOperation
  /// The border of the moved picture, by plane and channel.
  private let empty: [[Double]]
  private let keepsFourthChannel: Bool

  private static let tileWidth = 128
  private static let tileHeight = 32

  init(
    description: PassDescription, operation: AffineOperation, empty: [[Double]],
    keepsFourthChannel: Bool
  ) {
    self.description = description
    self.operation = operation
    self.empty = empty
    self.keepsFourthChannel = keepsFourthChannel
  }

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
      source, shape, nothing: self.empty[shape.plane], capacity: Self.tileWidth)
    let sums = SampleSums(count: Self.tileWidth * shape.step)
    // Nothing to be seen is all border: a line that stands still outside, or at the first pixel.
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
            Self.setPlaces(reader, map, Double(left) + column, Double(y) + row, length, shape)
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

  /// Sets the places of a run of pixels that begins at a place of a plane, in samples of the plane.
  private static func setPlaces(
    _ reader: borrowing WarpReader, _ map: AffineMap, _ x: Double, _ y: Double, _ length: Int,
    _ shape: PlaneShape
  ) {
    let place = map(x / shape.scale, y / shape.scale)
    var plane = reader.plane
    let start = [Float(place.x * shape.scale - 0.5), Float(place.y * shape.scale - 0.5)]
    let slope = [Float(map.a), Float(map.b)]
    unsafe sl_area_rows_current().pointee.line_places(
      &plane, start, slope, length, reader.places.pointers)
  }
}

/// Sums of runs of samples, and their means. Owned by one band.
@safe
struct SampleSums: ~Copyable {
  private let memory: SampleMemory
  private let sums: UnsafeMutablePointer<Int32>
  private let count: Int

  /// - Parameter count: How many samples a run has at most.
  init(count: Int) {
    self.memory = SampleMemory(count: 3 * count)
    unsafe self.sums = UnsafeMutableRawPointer(self.memory[0])
      .bindMemory(to: Int32.self, capacity: count)
    self.count = count
  }

  /// Adds a run, or begins anew with it.
  func add(
    _ samples: UnsafePointer<Int16>, count: Int, isFirst: Bool, _ rows: sl_rows
  ) {
    if isFirst { unsafe self.sums.update(repeating: 0, count: count) }
    unsafe rows.accumulate_i16(samples, count, self.sums)
  }

  /// The sums' means, rounded.
  ///
  /// - Parameter runs: How many runs were added.
  func means(of runs: Int, count: Int) -> UnsafeMutablePointer<Int16> {
    let result = unsafe self.memory[2 * self.count]
    unsafe sl_area_rows_current().pointee.mean_sums(
      self.sums, 1 / Float(runs), count, result)
    return unsafe result
  }
}
