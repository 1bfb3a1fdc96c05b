import CKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Each pixel from another place of the picture, bilinear, with clamped edges.
struct WarpOperation: NeighborhoodOperation {
  /// Where a pixel comes from.
  enum Map: Sendable, Hashable {
    /// (a b; c d) * (place - center) + source.
    case affine(
      a: Double, b: Double, c: Double, d: Double, center: SIMD2<Double>, source: SIMD2<Double>)
    /// r' = r - radius^2 / r; nothing within the radius.
    case hole(center: SIMD2<Double>, radius: Double)
    /// r' = r (1 - amount (1 - (r / radius)^2)^2) within the radius.
    case bump(center: SIMD2<Double>, radius: Double, amount: Double)
    /// Turned by amount (1 - r / radius)^2 within the radius.
    case twirl(center: SIMD2<Double>, radius: Double, amount: Double)

    /// The place that a place comes from; `nil` where there is no image.
    func callAsFunction(_ place: SIMD2<Double>) -> SIMD2<Double>? {
      switch self {
      case .affine(let a, let b, let c, let d, let center, let source):
        let offset = place - center
        return [a * offset.x + b * offset.y, c * offset.x + d * offset.y] + source
      case .hole(let center, let radius):
        let offset = place - center
        let square = (offset * offset).sum()
        return square < radius * radius
          ? nil : center + offset * (1 - radius * radius / max(square, 1e-12))
      case .bump(let center, let radius, let amount):
        let offset = place - center
        let t = max(0, 1 - (offset * offset).sum() / (radius * radius))
        return center + offset * (1 - amount * t * t)
      case .twirl(let center, let radius, let amount):
        let offset = place - center
        let t = max(0, 1 - (offset * offset).sum().squareRoot() / radius)
        let (sine, cosine) = (sin(amount * t * t), cos(amount * t * t))
        return center
          + [offset.x * cosine - offset.y * sine, offset.x * sine + offset.y * cosine]
      }
    }

    /// The map in the pixels of a plane, as the rows in C take it.
    func row(scale: Double) -> sl_map {
      var map = sl_map()
      func setCenter(_ center: SIMD2<Double>, _ radius: Double, _ amount: Double) {
        map.center_x = Float(center.x * scale)
        map.center_y = Float(center.y * scale)
        map.radius = Float(radius * scale)
        map.amount = Float(amount)
      }
      switch self {
      case .affine(let a, let b, let c, let d, let center, let source):
        map.kind = Int32(SL_MAP_AFFINE)
        setCenter(center, 1, 0)
        (map.a, map.b, map.c, map.d) = (Float(a), Float(b), Float(c), Float(d))
        map.source_x = Float(source.x * scale)
        map.source_y = Float(source.y * scale)
      case .hole(let center, let radius):
        map.kind = Int32(SL_MAP_HOLE)
        setCenter(center, radius, 0)
      case .bump(let center, let radius, let amount):
        map.kind = Int32(SL_MAP_BUMP)
        setCenter(center, radius, amount)
      case .twirl(let center, let radius, let amount):
        map.kind = Int32(SL_MAP_TWIRL)
        setCenter(center, radius, amount)
      }
      return map
    }
  }

  let words: String
  let map: Map
  var kind: PassDescription.Kind { .warp }

  func makePass(_ setting: PassSetting) -> any Pass {
    WarpPass(setting, self.map)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    plane.map { x, y, channel in
      let place = SIMD2(Double(x) + 0.5, Double(y) + 0.5) / plane.scale
      guard let source = self.map(place) else { return plane.empty(channel: channel) }
      let spot = source * plane.scale - 0.5
      let left = min(max(spot.x, 0), Double(plane.width - 1))
      let top = min(max(spot.y, 0), Double(plane.height - 1))
      let (x0, y0) = (Int(left), Int(top))
      let (wx, wy) = (left - Double(x0), top - Double(y0))
      let upper = plane[x0, y0, channel] * (1 - wx) + plane[x0 + 1, y0, channel] * wx
      let lower = plane[x0, y0 + 1, channel] * (1 - wx) + plane[x0 + 1, y0 + 1, channel] * wx
      return upper * (1 - wy) + lower * wy
    }
  }
}
