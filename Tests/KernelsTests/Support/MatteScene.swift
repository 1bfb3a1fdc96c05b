import SidelightKernels
import SidelightScene

/// A drawn person with a known matte before a wall or a room.
///
/// Head, hair with ragged edges, neck, shoulders and a striped tie; edges are soft over about a
/// pixel. Numbers refer to a picture of height 1.
struct MatteScene {
  /// The light of a picture.
  struct Light {
    /// The depth of the soft shadow that the person casts; 0 disables it.
    var shadow = 0.0
    /// The factors of red, green and blue.
    var gains = SIMD3<Double>(1, 1, 1)
    /// The standard deviation of noise in levels.
    var noise = 0.0
    /// The displacement of the camera in pixels.
    var shake = SIMD2<Double>(0, 0)
    /// The share of the wall's green that lights the person's edges.
    var spill = 0.0
    /// The unevenness of the wall's light: 0 is even.
    var unevenness = 0.0
  }

  enum Background {
    /// A plain wall of a colour.
    case wall(SIMD3<Double>)
    /// A wall with books and a window: hard edges and many colours.
    case room
    /// A picture, stretched.
    case picture(ColorPicture)
  }

  var background: Background
  var light = Light()
  /// The person's place, as a share of the width.
  var place = 0.5
  /// Whether the person is there.
  var hasPerson = true
  var seed: UInt64 = 1

  /// The wall of a studio: chroma key green.
  static let green = SIMD3(0.07, 0.62, 0.25)

  /// Returns the picture's colour, 0 ... 1, without noise, and the person's share of it.
  func pixel(_ x: Int, _ y: Int, _ size: FrameSize) -> (color: SIMD3<Double>, alpha: Double) {
    let high = Double(size.height)
    let aspect = Double(size.width) / high
    let u = (Double(x) + 0.5) / high - aspect * self.place
    let v = (Double(y) + 0.5) / high
    let (front, alpha) = self.hasPerson ? self.person(u, v, high) : (.zero, 0)
    let wide = (Double(x) + 0.5 + self.light.shake.x) / high / aspect
    let down = (Double(y) + 0.5 + self.light.shake.y) / high
    var back = self.back(wide, down)
    if self.hasPerson, self.light.shadow > 0 {
      // A soft copy of the person, to the right and below.
      let distance = min(
        Self.ellipse(u - 0.1, v - 0.43, 0.15, 0.2), Self.ellipse(u - 0.1, v - 1.05, 0.4, 0.4))
      back *= 1 - self.light.shadow * Self.smooth(0.5 - distance / 0.12)
    }
    if self.light.unevenness > 0 {
      back *= 1 - self.light.unevenness * (0.6 * wide + 0.4 * down * down)
    }
    var own = front
    if self.light.spill > 0, alpha > 0 {
      let edge = self.person(u, v, high, softness: high * 0.05).alpha
      own += self.light.spill * (1 - edge) * SIMD3(0.02, 0.5, 0.15)
    }
    let color = (own * alpha + back * (1 - alpha)) * self.light.gains
    return (color, alpha)
  }

  /// The picture as bytes: red, green and blue.
  func samples(_ size: FrameSize) -> [UInt8] {
    var random = Noise(state: self.seed)
    var samples: [UInt8] = []
    samples.reserveCapacity(3 * size.pixelCount)
    for y in 0 ..< size.height {
      for x in 0 ..< size.width {
        let color = self.pixel(x, y, size).color
        for channel in 0 ..< 3 {
          let noise = self.light.noise > 0 ? self.light.noise * random.next() : 0
          samples.append(UInt8(min(max(color[channel] * 255 + noise, 0), 255).rounded()))
        }
      }
    }
    return samples
  }

  /// The person's share of every pixel.
  func truth(_ size: FrameSize) -> [Double] {
    (0 ..< size.pixelCount).map {
      self.pixel($0 % size.width, $0 / size.width, size).alpha
    }
  }

  func picture(_ size: FrameSize) -> ColorPicture {
    ColorPicture(width: size.width, height: size.height, samples: self.samples(size))
  }

  /// The intersection of two mattes, cut at one half, over their union.
  static func overlap(_ one: [Double], _ other: [Double]) -> Double {
    var (both, any) = (0, 0)
    for (left, right) in zip(one, other) {
      if left >= 0.5, right >= 0.5 { both += 1 }
      if left >= 0.5 || right >= 0.5 { any += 1 }
    }
    return any == 0 ? 1 : Double(both) / Double(any)
  }

  // MARK: The person

  private func person(
    _ u: Double, _ v: Double, _ high: Double, softness: Double = 1.2
  ) -> (color: SIMD3<Double>, alpha: Double) {
    /// The coverage by a shape whose edge is at distance 0.
    func cover(_ distance: Double) -> Double { min(max(0.5 - distance * high / softness, 0), 1) }
    var color = SIMD3<Double>.zero
    var alpha = 0.0
    func paint(_ distance: Double, _ paint: SIMD3<Double>) {
      let share = cover(distance)
      guard share > 0 else { return }
      let whole = share + alpha * (1 - share)
      color = (paint * share + color * alpha * (1 - share)) / whole
      alpha = whole
    }
    // Strands: the radius varies with the direction.
    let strands = 0.012 * Self.wave(u * 90, v * 60) + 0.006 * Self.wave(u * 240, v * 190)
    paint(
      max(Self.ellipse(u, v - 0.35, 0.15, 0.2) + strands, v - 0.5),
      SIMD3(0.2, 0.12, 0.08) * (0.8 + 0.4 * Self.wave(u * 200, v * 8)))
    let shirt = SIMD3(0.16, 0.2, 0.34) * (0.9 + 0.2 * Self.wave(u * 40, v * 40))
    paint(Self.ellipse(u, v - 1.05, 0.4, 0.42), shirt)
    paint(max(abs(u) - 0.055, abs(v - 0.62) - 0.1), SIMD3(0.72, 0.52, 0.43))
    paint(
      max(abs(u) - 0.02, 0.7 - v),
      Int((v + u) * 60) % 2 == 0 ? SIMD3(0.6, 0.1, 0.12) : SIMD3(0.85, 0.8, 0.75))
    let skin = SIMD3(0.85, 0.64, 0.54) * (1 - 0.5 * max(0, u)) + 0.02 * Self.wave(u * 150, v * 150)
    paint(Self.ellipse(u, v - 0.4, 0.115, 0.155), skin)
    paint(Self.ellipse(abs(u) - 0.045, v - 0.38, 0.018, 0.01), [0.15, 0.1, 0.08])
    paint(Self.ellipse(u, v - 0.48, 0.035, 0.01), [0.6, 0.25, 0.25])
    return (color, alpha)
  }

  private func back(_ x: Double, _ y: Double) -> SIMD3<Double> {
    switch self.background {
    case .wall(let color): return color * (1 + 0.02 * Self.wave(x * 9, y * 7))
    case .room: return Self.room(x, y)
    case .picture(let picture):
      let column = min(max(x * Double(picture.width) - 0.5, 0), Double(picture.width) - 1.001)
      let row = min(max(y * Double(picture.height) - 0.5, 0), Double(picture.height) - 1.001)
      func sample(_ x: Int, _ y: Int) -> SIMD3<Double> {
        let place = 3 * (y * picture.width + x)
        return SIMD3(
          Double(picture.samples[place]), Double(picture.samples[place + 1]),
          Double(picture.samples[place + 2])) / 255
      }
      let (left, top) = (Int(column), Int(row))
      let (right, down) = (column - Double(left), row - Double(top))
      let upper = sample(left, top) * (1 - right) + sample(left + 1, top) * right
      let lower = sample(left, top + 1) * (1 - right) + sample(left + 1, top + 1) * right
      return upper * (1 - down) + lower * down
    }
  }

  private static func room(_ x: Double, _ y: Double) -> SIMD3<Double> {
    if (0.08 ..< 0.3).contains(x), (0.1 ..< 0.45).contains(y) {
      let isFrame = abs(x - 0.19) < 0.006 || abs(y - 0.27) < 0.008
      return isFrame ? [0.9, 0.9, 0.88] : [0.55 + 0.2 * y, 0.7 + 0.1 * y, 0.85]
    }
    if x > 0.62, (0.12 ..< 0.8).contains(y) {
      let shelf = y * 7
      if shelf - shelf.rounded(.down) > 0.9 { return [0.35, 0.24, 0.15] }
      let book = Noise.hash(UInt64(x * 70), UInt64(shelf))
      return SIMD3(
        0.2 + 0.6 * book, 0.25 + 0.5 * Noise.hash(UInt64(x * 70), UInt64(shelf) + 77),
        0.2 + 0.5 * Noise.hash(UInt64(x * 70), UInt64(shelf) + 991))
    }
    if y > 0.82 { return SIMD3(0.45, 0.33, 0.22) * (0.9 + 0.2 * Self.wave(x * 60, y * 3)) }
    return SIMD3(0.74, 0.72, 0.66) * (1 - 0.15 * x)
  }

  // MARK: Shapes

  /// About the distance from an ellipse: below 0 inside.
  private static func ellipse(_ x: Double, _ y: Double, _ a: Double, _ b: Double) -> Double {
    (((x / a) * (x / a) + (y / b) * (y / b)).squareRoot() - 1) * min(a, b)
  }

  private static func smooth(_ value: Double) -> Double {
    let t = min(max(value, 0), 1)
    return t * t * (3 - 2 * t)
  }

  /// Smooth noise, -1 ... 1, that varies over about 1.
  private static func wave(_ x: Double, _ y: Double) -> Double {
    let (left, top) = (x.rounded(.down), y.rounded(.down))
    func corner(_ dx: Double, _ dy: Double) -> Double {
      2 * Noise.hash(UInt64(bitPattern: Int64(left + dx)), UInt64(bitPattern: Int64(top + dy))) - 1
    }
    let (right, down) = (Self.smooth(x - left), Self.smooth(y - top))
    let upper = corner(0, 0) * (1 - right) + corner(1, 0) * right
    let lower = corner(0, 1) * (1 - right) + corner(1, 1) * right
    return upper * (1 - down) + lower * down
  }

  private struct Noise {
    var state: UInt64

    /// About normal, of standard deviation 1.
    mutating func next() -> Double {
      var sum = -2.0
      for _ in 0 ..< 4 {
        self.state &+= 1
        sum += Self.hash(self.state, 7)
      }
      return sum * 3.0.squareRoot()
    }

    /// 0 ..< 1.
    static func hash(_ x: UInt64, _ y: UInt64) -> Double {
      var bits = x &* 0x9e37_79b9_7f4a_7c15 &+ y &* 0xbf58_476d_1ce4_e5b9
      bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
      bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
      return Double((bits ^ bits >> 31) >> 11) / 9_007_199_254_740_992
    }
  }
}
