#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Prints the picture in dots, as newspapers do.
public struct DotScreen: CatalogueFilter {
  public static let description = FilterDescription(
    name: "dotScreen",
    summary: "Simulates the dots of a halftone screen.",
    category: .stylize, reach: .pixel, fidelity: .modelled,
    formula: """
      g = clamp((Y - t) * k + .5), t = .5 - .25 (cos(2 pi u / width) + cos(2 pi v / width)), (u, v) \
      the place from center turned by angle, k = 1 / (1 - .95 sharpness), Y the Rec. 709 luma
      """,
    parameters: [
      ParameterDescription("center", .point, default: .point(.center), "The middle of a dot."),
      ParameterDescription(
        "angle", .number, default: .number(0), slider: -3.14 ... 3.14, limits: -1000 ... 1000,
        unit: .radians, "How the screen is turned."),
      ParameterDescription(
        "width", .length, default: .number(6), slider: 2 ... 50, limits: 1 ... 16384, unit: .pixels,
        "From dot to dot."),
      ParameterDescription(
        "sharpness", .number, default: .number(0.7), slider: 0 ... 1, limits: 0 ... 1,
        "How hard the dots' edges are."),
    ])

  private let center: Point
  private let angle: Double
  private let width: Length
  private let sharpness: Double

  public init(_ arguments: Arguments) {
    self.center = arguments.point("center")
    self.angle = arguments.number("angle")
    self.width = arguments.length("width")
    self.sharpness = arguments.number("sharpness")
  }

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    let (cx, cy) = self.center.pixels(in: geometry.size)
    let scale = 2 * Double.pi / max(self.width.pixels(in: geometry.size), 1)
    return [
      .colorKernel(
        Kernel(
          cx: Float(cx), cy: Float(cy), cosine: Float(cos(self.angle) * scale),
          sine: Float(sin(self.angle) * scale), slope: Float(1 / (1 - 0.95 * self.sharpness))))
    ]
  }

  private struct Kernel: ColorKernel {
    let cx: Float
    let cy: Float
    let cosine: Float
    let sine: Float
    let slope: Float

    func callAsFunction(_ pixel: Pixel, at place: Place) -> Pixel {
      let (x, y) = (Float(place.x) + 0.5 - self.cx, Float(place.y) + 0.5 - self.cy)
      let u = x * self.cosine + y * self.sine
      let v = y * self.cosine - x * self.sine
      let threshold = 0.5 - 0.25 * (cosf(u) + cosf(v))
      let gray = min(max((pixel.luma - threshold) * self.slope + 0.5, 0), 1)
      return Pixel(red: gray, green: gray, blue: gray, alpha: pixel.alpha)
    }
  }
}
