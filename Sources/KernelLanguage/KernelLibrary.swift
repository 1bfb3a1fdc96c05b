/// The functions of the language that are written in it.
enum KernelLibrary {
  /// The functions, in an order in which they call only earlier ones.
  static let functions: [KernelFunction] = {
    var parser = KernelParser(Array(Self.text.utf8))
    do throws(KernelTextError) {
      return try parser.parseLibrary()
    } catch {
      preconditionFailure("the library of kernels is invalid: \(error)")
    }
  }()

  /// `blend` composites colours that a blend mode mixed. Blend modes have the bottom first, as
  /// B(Cb, Cs) in the W3C's Compositing and Blending.
  private static let text = """
    // Positions

    func mirror(p: vec2, extent: vec2) -> vec2 { extent - abs(mod(p, extent * 2) - extent) }

    func inside(p: vec2) -> float {
      let d = saturate(min(p, size - p) + 0.5)
      return d.x * d.y
    }

    func rotate(v: vec2, angle: float) -> vec2 {
      let c = cos(angle)
      let s = sin(angle)
      return vec2(v.x * c - v.y * s, v.x * s + v.y * c)
    }

    func linearGradient(p: vec2, start: vec2, end: vec2) -> float {
      let d = end - start
      return saturate(dot(p - start, d) / dot(d, d))
    }

    func radialGradient(p: vec2, center: vec2, inner: float, outer: float) -> float {
      saturate((distance(p, center) - inner) / (outer - inner))
    }

    func noise(p: vec2) -> float {
      let i = floor(p)
      let f = p - i
      let t = f * f * (3 - 2 * f)
      let upper = mix(hash(i), hash(i + vec2(1, 0)), t.x)
      let lower = mix(hash(i + vec2(0, 1)), hash(i + vec2(1, 1)), t.x)
      return mix(upper, lower, t.y)
    }

    // Alpha

    func premultiply(c: vec4) -> vec4 { vec4(c.rgb * c.a, c.a) }

    func unpremultiply(c: vec4) -> vec4 { vec4(c.a > 0 ? c.rgb / c.a : vec3(0), c.a) }

    func composite(top: vec4, bottom: vec4, topShare: float, bottomShare: float) -> vec4 {
      unpremultiply(premultiply(top) * topShare + premultiply(bottom) * bottomShare)
    }

    func over(top: vec4, bottom: vec4) -> vec4 { composite(top, bottom, 1, 1 - top.a) }

    func blend(top: vec4, bottom: vec4, mixed: vec3) -> vec4 {
      over(vec4(mix(top.rgb, mixed, bottom.a), top.a), bottom)
    }

    // Colour spaces

    func srgbToLinear(c: vec3) -> vec3 {
      mix(c / 12.92, pow((c + 0.055) / 1.055, 2.4), step(0.04045, c))
    }

    func linearToSrgb(c: vec3) -> vec3 {
      mix(c * 12.92, 1.055 * pow(c, 1 / 2.4) - 0.055, step(0.0031308, c))
    }

    func hueOf(c: vec3, high: float, chroma: float) -> float {
      let d = max(chroma, 1e-9)
      let h = high == c.r ? (c.g - c.b) / d
        : high == c.g ? 2 + (c.b - c.r) / d : 4 + (c.r - c.g) / d
      return chroma > 0 ? fract(h / 6) : 0
    }

    func colorOfHue(h: float) -> vec3 {
      saturate(abs(fract(h + vec3(0, 2 / 3, 1 / 3)) * 6 - 3) - 1)
    }

    func rgbToHsv(c: vec3) -> vec3 {
      let high = max(c.r, max(c.g, c.b))
      let chroma = high - min(c.r, min(c.g, c.b))
      return vec3(hueOf(c, high, chroma), chroma / max(high, 1e-9), high)
    }

    func hsvToRgb(c: vec3) -> vec3 { c.z * mix(vec3(1), colorOfHue(c.x), c.y) }

    func rgbToHsl(c: vec3) -> vec3 {
      let high = max(c.r, max(c.g, c.b))
      let low = min(c.r, min(c.g, c.b))
      let l = (high + low) / 2
      return vec3(hueOf(c, high, high - low), (high - low) / max(1 - abs(2 * l - 1), 1e-9), l)
    }

    func hslToRgb(c: vec3) -> vec3 {
      c.z + (colorOfHue(c.x) - 0.5) * c.y * (1 - abs(2 * c.z - 1))
    }

    func labCurve(t: vec3) -> vec3 {
      mix(t * 7.787037 + 0.13793103, pow(t, 1 / 3), step(0.008856452, t))
    }

    func labCurveInverse(t: vec3) -> vec3 {
      mix((t - 0.13793103) / 7.787037, t * t * t, step(0.20689655, t))
    }

    func rgbToLab(c: vec3) -> vec3 {
      let l = srgbToLinear(c)
      let f = labCurve(
        vec3(
          dot(l, vec3(0.43394994, 0.37620977, 0.18984029)),
          dot(l, vec3(0.21267288, 0.71515213, 0.07217499)),
          dot(l, vec3(0.01775658, 0.10946796, 0.87277546))))
      return vec3(116 * f.y - 16, 500 * (f.x - f.y), 200 * (f.y - f.z))
    }

    func labToRgb(c: vec3) -> vec3 {
      let y = (c.x + 16) / 116
      let t = labCurveInverse(vec3(y + c.y / 500, y, y - c.z / 200))
      return linearToSrgb(
        vec3(
          dot(t, vec3(3.0799551, -1.5371390, -0.5428161)),
          dot(t, vec3(-0.9212586, 1.8760111, 0.0452475)),
          dot(t, vec3(0.0528874, -0.2040259, 1.1511385))))
    }

    // Blend modes

    func blendScreen(b: vec3, s: vec3) -> vec3 { b + s - b * s }

    func blendHardLight(b: vec3, s: vec3) -> vec3 {
      mix(2 * b * s, blendScreen(b, 2 * s - 1), step(0.5, s))
    }

    func blendOverlay(b: vec3, s: vec3) -> vec3 { blendHardLight(s, b) }

    func blendSoftLight(b: vec3, s: vec3) -> vec3 {
      let d = mix(((16 * b - 12) * b + 4) * b, sqrt(b), step(0.25, b))
      let dark = b - (1 - 2 * s) * b * (1 - b)
      return mix(dark, b + (2 * s - 1) * (d - b), step(0.5, s))
    }

    func dodge(b: float, s: float) -> float {
      b <= 0 ? 0 : s >= 1 ? 1 : min(1, b / (1 - s))
    }

    func blendColorDodge(b: vec3, s: vec3) -> vec3 {
      vec3(dodge(b.r, s.r), dodge(b.g, s.g), dodge(b.b, s.b))
    }

    func blendColorBurn(b: vec3, s: vec3) -> vec3 { 1 - blendColorDodge(1 - b, 1 - s) }

    func blendLuma(c: vec3) -> float { dot(c, vec3(0.3, 0.59, 0.11)) }

    func withLuma(c: vec3, l: float) -> vec3 {
      let moved = c + (l - blendLuma(c))
      let low = min(moved.r, min(moved.g, moved.b))
      let high = max(moved.r, max(moved.g, moved.b))
      let raised = low < 0 ? l + (moved - l) * (l / max(l - low, 1e-9)) : moved
      return high > 1 ? l + (raised - l) * ((1 - l) / max(high - l, 1e-9)) : raised
    }

    func withSaturation(c: vec3, s: float) -> vec3 {
      let low = min(c.r, min(c.g, c.b))
      let range = max(c.r, max(c.g, c.b)) - low
      return range > 0 ? (c - low) * (s / range) : vec3(0)
    }

    func saturationOf(c: vec3) -> float { max(c.r, max(c.g, c.b)) - min(c.r, min(c.g, c.b)) }

    func blendHue(b: vec3, s: vec3) -> vec3 {
      withLuma(withSaturation(s, saturationOf(b)), blendLuma(b))
    }

    func blendSaturation(b: vec3, s: vec3) -> vec3 {
      withLuma(withSaturation(b, saturationOf(s)), blendLuma(b))
    }

    func blendColor(b: vec3, s: vec3) -> vec3 { withLuma(s, blendLuma(b)) }

    func blendLuminosity(b: vec3, s: vec3) -> vec3 { withLuma(b, blendLuma(s)) }
    """
}
