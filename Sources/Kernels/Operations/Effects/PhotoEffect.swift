import CKernels

/// A fixed photographic look: a colour matrix, then a curve per channel. Alpha is kept.
///
/// The looks correspond to Core Image's `CIPhotoEffect...` filters by name and character; their
/// figures are tuned by eye.
struct PhotoEffect: Filter {
  let description: FilterDescription
  /// The colour matrix, which is applied first.
  private let matrix: ColorMatrix
  /// The curves of red, green and blue.
  private let curves: [LookCurve]

  /// A look with a curve per channel.
  private init(
    _ name: String, _ summary: String, _ look: String, keywords: String = "",
    _ matrix: ColorMatrix, red: LookCurve, green: LookCurve, blue: LookCurve
  ) {
    self.description = FilterDescription(
      name: name, summary: summary, category: .effect, reach: .pixel, fidelity: .approximation,
      isCoreImage: true, keywords: keywords, formula: "A fixed look, tuned by eye: \(look)")
    self.matrix = matrix
    self.curves = [red, green, blue]
  }

  /// A look with one curve for all channels.
  private init(
    _ name: String, _ summary: String, _ look: String, keywords: String = "",
    _ matrix: ColorMatrix, _ curve: LookCurve
  ) {
    self.init(
      name, summary, look, keywords: keywords, matrix, red: curve, green: curve, blue: curve)
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let curves = self.curves
    let (red, green, blue) = (curves[0].knots, curves[1].knots, curves[2].knots)
    let kernel = StripKernel { pixel, _, _, _ in
      [curves[0](pixel.x), curves[1](pixel.y), curves[2](pixel.z), pixel.w]
    } apply: { strip in
      let curve = unsafe sl_rows_current().pointee.lookup_curve
      let intervals = LookCurve.intervals
      unsafe curve(strip.red, strip.count, red.start, intervals)
      unsafe curve(strip.green, strip.count, green.start, intervals)
      unsafe curve(strip.blue, strip.count, blue.start, intervals)
    }
    return [.matrix(self.matrix), FilterNode(.kernel(kernel))]
  }

  /// The weights of red, green and blue in Rec. 601 luma.
  private static let luma601 = SIMD3(0.299, 0.587, 0.114)

  /// All looks, by name.
  static let all: [PhotoEffect] = [
    PhotoEffect(
      "photoEffectChrome", "Vintage film with exaggerated colour.",
      "saturation 1.3, and an S curve",
      .saturation(1.3),
      LookCurve([0, 0], [0.25, 0.22], [0.5, 0.53], [0.75, 0.8], [1, 1])),
    PhotoEffect(
      "photoEffectFade", "Vintage film with diminished colour.",
      "saturation .7, lifted blacks and lowered whites",
      .saturation(0.7),
      red: LookCurve([0, 0.09], [0.25, 0.29], [0.5, 0.53], [0.75, 0.75], [1, 0.95]),
      green: LookCurve([0, 0.09], [0.25, 0.29], [0.5, 0.53], [0.75, 0.75], [1, 0.95]),
      blue: LookCurve([0, 0.11], [0.25, 0.3], [0.5, 0.52], [0.75, 0.73], [1, 0.92])),
    PhotoEffect(
      "photoEffectInstant", "Vintage film with distorted colours, like that of an instant camera.",
      "saturation .85; shadows lifted towards blue, highlights lowered towards yellow",
      .saturation(0.85),
      red: LookCurve([0, 0.06], [0.25, 0.28], [0.5, 0.57], [0.75, 0.81], [1, 0.98]),
      green: LookCurve([0, 0.05], [0.25, 0.28], [0.5, 0.55], [0.75, 0.78], [1, 0.95]),
      blue: LookCurve([0, 0.13], [0.25, 0.31], [0.5, 0.5], [0.75, 0.67], [1, 0.82])),
    PhotoEffect(
      "photoEffectMono", "Black and white with low contrast.",
      "a curve that lifts black and lowers white, on Rec. 601 luma",
      keywords: "black white monochrome gray",
      .monochrome(Self.luma601),
      LookCurve([0, 0.09], [0.25, 0.3], [0.5, 0.51], [0.75, 0.72], [1, 0.92])),
    PhotoEffect(
      "photoEffectNoir", "Black and white with exaggerated contrast.",
      "a strong S curve on a luma with more red and less blue, like film behind a yellow filter",
      keywords: "black white monochrome gray",
      .monochrome([0.36, 0.58, 0.06]),
      LookCurve([0, 0], [0.22, 0.08], [0.5, 0.48], [0.78, 0.92], [1, 1])),
    PhotoEffect(
      "photoEffectProcess", "Vintage film with emphasized cool colours.",
      "cross-processed: a steep red curve, blue raised most in the shadows",
      .saturation(0.95),
      red: LookCurve([0, 0], [0.25, 0.18], [0.5, 0.46], [0.75, 0.75], [1, 0.95]),
      green: LookCurve([0, 0.02], [0.25, 0.25], [0.5, 0.54], [0.75, 0.8], [1, 1]),
      blue: LookCurve([0, 0.12], [0.25, 0.34], [0.5, 0.57], [0.75, 0.78], [1, 0.97])),
    PhotoEffect(
      "photoEffectTonal", "Black and white without much change of contrast.",
      "Rec. 601 luma, with slightly lifted shadows",
      keywords: "black white monochrome gray",
      .monochrome(Self.luma601),
      LookCurve([0, 0.01], [0.25, 0.27], [0.5, 0.52], [0.75, 0.76], [1, 1])),
    PhotoEffect(
      "photoEffectTransfer", "Vintage film with emphasized warm colours.",
      "red raised, blue lowered in the highlights, blacks slightly lifted",
      .saturation(0.9),
      red: LookCurve([0, 0.05], [0.25, 0.31], [0.5, 0.6], [0.75, 0.83], [1, 1]),
      green: LookCurve([0, 0.03], [0.25, 0.25], [0.5, 0.52], [0.75, 0.77], [1, 0.97]),
      blue: LookCurve([0, 0.06], [0.25, 0.23], [0.5, 0.43], [0.75, 0.64], [1, 0.84])),
  ]
}
