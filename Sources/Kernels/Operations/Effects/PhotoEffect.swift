import CKernels

/// Vintage film with exaggerated colour.
struct PhotoEffectChrome: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectChrome",
    summary: "Vintage film with exaggerated colour.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula: "A fixed look, tuned by eye: saturation 1.3, and an S curve")

  private static let look = PhotoLook(
    .saturation(1.3),
    LookCurve([0, 0], [0.25, 0.22], [0.5, 0.53], [0.75, 0.8], [1, 1]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}

/// Vintage film with diminished colour.
struct PhotoEffectFade: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectFade",
    summary: "Vintage film with diminished colour.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula: "A fixed look, tuned by eye: saturation .7, lifted blacks and lowered whites")

  private static let look = PhotoLook(
    .saturation(0.7),
    red: LookCurve([0, 0.09], [0.25, 0.29], [0.5, 0.53], [0.75, 0.75], [1, 0.95]),
    green: LookCurve([0, 0.09], [0.25, 0.29], [0.5, 0.53], [0.75, 0.75], [1, 0.95]),
    blue: LookCurve([0, 0.11], [0.25, 0.3], [0.5, 0.52], [0.75, 0.73], [1, 0.92]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}

/// Vintage film with distorted colours, as of an instant camera.
struct PhotoEffectInstant: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectInstant",
    summary: "Vintage film with distorted colours, as of an instant camera.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula:
      "A fixed look, tuned by eye: saturation .85; shadows lifted towards blue, highlights lowered towards yellow"
  )

  private static let look = PhotoLook(
    .saturation(0.85),
    red: LookCurve([0, 0.06], [0.25, 0.28], [0.5, 0.57], [0.75, 0.81], [1, 0.98]),
    green: LookCurve([0, 0.05], [0.25, 0.28], [0.5, 0.55], [0.75, 0.78], [1, 0.95]),
    blue: LookCurve([0, 0.13], [0.25, 0.31], [0.5, 0.5], [0.75, 0.67], [1, 0.82]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}

/// Black and white with low contrast.
struct PhotoEffectMono: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectMono",
    summary: "Black and white with low contrast.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula:
      "A fixed look, tuned by eye: a curve that lifts black and lowers white, on Rec. 601 luma")

  private static let look = PhotoLook(
    .monochrome([0.299, 0.587, 0.114]),
    LookCurve([0, 0.09], [0.25, 0.3], [0.5, 0.51], [0.75, 0.72], [1, 0.92]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}

/// Black and white with exaggerated contrast.
struct PhotoEffectNoir: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectNoir",
    summary: "Black and white with exaggerated contrast.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula:
      "A fixed look, tuned by eye: a heavy S curve on a luma with more red and less blue, as of a film behind a yellow filter"
  )

  private static let look = PhotoLook(
    .monochrome([0.36, 0.58, 0.06]),
    LookCurve([0, 0], [0.22, 0.08], [0.5, 0.48], [0.78, 0.92], [1, 1]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}

/// Vintage film with emphasized cool colours.
struct PhotoEffectProcess: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectProcess",
    summary: "Vintage film with emphasized cool colours.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula:
      "A fixed look, tuned by eye: cross-processed: red steep, blue raised most in the shadows")

  private static let look = PhotoLook(
    .saturation(0.95),
    red: LookCurve([0, 0], [0.25, 0.18], [0.5, 0.46], [0.75, 0.75], [1, 0.95]),
    green: LookCurve([0, 0.02], [0.25, 0.25], [0.5, 0.54], [0.75, 0.8], [1, 1]),
    blue: LookCurve([0, 0.12], [0.25, 0.34], [0.5, 0.57], [0.75, 0.78], [1, 0.97]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}

/// Black and white without much change of contrast.
struct PhotoEffectTonal: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectTonal",
    summary: "Black and white without much change of contrast.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula: "A fixed look, tuned by eye: Rec. 601 luma, with a slight lift of the shadows")

  private static let look = PhotoLook(
    .monochrome([0.299, 0.587, 0.114]),
    LookCurve([0, 0.01], [0.25, 0.27], [0.5, 0.52], [0.75, 0.76], [1, 1]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}

/// Vintage film with emphasized warm colours.
struct PhotoEffectTransfer: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectTransfer",
    summary: "Vintage film with emphasized warm colours.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula:
      "A fixed look, tuned by eye: red raised, blue lowered in the lights, blacks a little lifted")

  private static let look = PhotoLook(
    .saturation(0.9),
    red: LookCurve([0, 0.05], [0.25, 0.31], [0.5, 0.6], [0.75, 0.83], [1, 1]),
    green: LookCurve([0, 0.03], [0.25, 0.25], [0.5, 0.52], [0.75, 0.77], [1, 0.97]),
    blue: LookCurve([0, 0.06], [0.25, 0.23], [0.5, 0.43], [0.75, 0.64], [1, 0.84]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}

/// A fixed look: colours are mixed, then each channel goes through a curve of its own.
struct PhotoLook: Sendable {
  /// What is done to colour first.
  let matrix: ColorMatrix
  /// Then to red, green and blue.
  let curves: [LookCurve]

  /// Channels with curves of their own.
  init(_ matrix: ColorMatrix, red: LookCurve, green: LookCurve, blue: LookCurve) {
    self.matrix = matrix
    self.curves = [red, green, blue]
  }

  /// All channels with the same curve.
  init(_ matrix: ColorMatrix, _ curve: LookCurve) {
    self.init(matrix, red: curve, green: curve, blue: curve)
  }

  /// The look as nodes; alpha is kept.
  var nodes: [Node] {
    let curves = self.curves
    let (red, green, blue) = (curves[0].knots, curves[1].knots, curves[2].knots)
    let kernel = StripKernel { pixel, _, _, _ in
      [curves[0](pixel.x), curves[1](pixel.y), curves[2](pixel.z), pixel.w]
    } apply: { strip in
      let curve = unsafe sl_rows_current().pointee.curve
      let intervals = LookCurve.intervals
      unsafe curve(strip.red, strip.count, red.start, intervals)
      unsafe curve(strip.green, strip.count, green.start, intervals)
      unsafe curve(strip.blue, strip.count, blue.start, intervals)
    }
    return [.matrix(self.matrix), Node(.kernel(kernel))]
  }
}

/// A smooth curve of one channel over 0 ... 1, constant beyond: a monotone cubic through points
/// (Fritsch and Carlson 1980), so that it never overshoots between them.
struct LookCurve: Sendable {
  private let points: [SIMD2<Double>]
  private let slopes: [Double]
  /// The curve at ``intervals`` + 1 even places: what the rows in C interpolate between.
  let knots: FloatTable

  /// How finely ``knots`` are sampled.
  static let intervals = 256

  /// - Parameter points: At least two places and values, by rising place.
  init(_ points: SIMD2<Double>...) {
    let secants = zip(points, points.dropFirst()).map { ($1.y - $0.y) / ($1.x - $0.x) }
    var slopes = [secants[0]]
    for (left, right) in zip(secants, secants.dropFirst()) {
      // The harmonic mean; flat where the curve turns.
      slopes.append(left * right > 0 ? 2 * left * right / (left + right) : 0)
    }
    slopes.append(secants[secants.count - 1])
    self.points = points
    self.slopes = slopes
    self.knots = FloatTable(
      (0 ... Self.intervals).map { index in
        Float(Self.value(Double(index) / Double(Self.intervals), points, slopes))
      })
  }

  /// The curve's value at a place.
  func callAsFunction(_ place: Double) -> Double {
    Self.value(place, self.points, self.slopes)
  }

  private static func value(
    _ place: Double, _ points: [SIMD2<Double>], _ slopes: [Double]
  ) -> Double {
    let place = min(max(place, points[0].x), points[points.count - 1].x)
    let index = (points.firstIndex { $0.x > place } ?? points.count - 1) - 1
    let (low, high) = (points[index], points[index + 1])
    let width = high.x - low.x
    let t = (place - low.x) / width
    let (square, cube) = (t * t, t * t * t)
    return low.y * (2 * cube - 3 * square + 1) + high.y * (3 * square - 2 * cube)
      + width * (slopes[index] * (cube - 2 * square + t) + slopes[index + 1] * (cube - square))
  }
}
