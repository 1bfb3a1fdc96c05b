import CKernels
package import SidelightKernels

/// The matte of a key colour: 0 where the picture has the colour, 1 where it does not.
///
/// The distance is measured between Cb and Cr of BT.601 (both -0.5 ... 0.5) and the nearest point
/// of a ray: shadow and light move the chroma of a wall along the line from grey through the key
/// colour. The ray leads away from grey and begins `far` from it, which excludes greys. A key
/// colour that is no further from grey than that is a point and not a ray. Up to `near` the matte
/// is 0, from `far` on 1, and linear between them.
package struct KeyMatte: Sendable, Hashable {
  /// The key colour.
  package var color: RGBAColor
  /// The distance up to which colours are keyed.
  package var near: Double
  /// The distance from which colours are kept. The effective value is at least 1/1000 more than
  /// `near`.
  package var far: Double

  package init(color: RGBAColor, near: Double = 0.1, far: Double = 0.22) {
    self.color = color
    self.near = near
    self.far = far
  }

  /// The weights of red, green and blue in Cb and Cr.
  static let cbWeights = [-0.299 / 1.772, -0.587 / 1.772, 0.5]
  static let crWeights = [0.5, -0.587 / 1.402, -0.114 / 1.402]

  /// The direction of the ray from grey, and the part of the ray that matches the key colour.
  private var ray: (direction: SIMD2<Double>, start: Double, end: Double) {
    let key = Self.chroma([self.color.red, self.color.green, self.color.blue])
    let length = (key * key).sum().squareRoot()
    let direction = length > 1e-6 ? key / length : .zero
    return length > self.far ? (direction, self.far, 1e3) : (direction, length, length)
  }

  private var slope: Double { 1 / max(self.far - self.near, 0.001) }

  private static func chroma(_ pixel: SIMD3<Double>) -> SIMD2<Double> {
    [
      (0 ..< 3).reduce(0) { $0 + Self.cbWeights[$1] * pixel[$1] },
      (0 ..< 3).reduce(0) { $0 + Self.crWeights[$1] * pixel[$1] },
    ]
  }

  /// The definition of the matte for a colour in 0 ... 1.
  package func callAsFunction(_ pixel: SIMD3<Double>) -> Double {
    let (direction, start, end) = self.ray
    let chroma = Self.chroma(pixel)
    let along = min(max((chroma * direction).sum(), start), end)
    let difference = chroma - along * direction
    let distance = (difference * difference).sum().squareRoot()
    return min(max((distance - self.near) * self.slope, 0), 1)
  }

  /// Computes rows of the matte of a picture, in 1/255.
  func run(_ band: Range<Int>, _ guide: GuidePlanes) {
    let rows = unsafe sl_rows_current().pointee
    var key = self.row
    for y in band {
      unsafe rows.key_distance(
        guide.row(y), guide.stride, guide.width, &key, guide.row(y, plane: GuidePlanes.mattePlane))
    }
  }

  private var row: sl_key {
    let (direction, start, end) = self.ray
    func floats(_ weights: [Double]) -> (Float, Float, Float) {
      (Float(weights[0]), Float(weights[1]), Float(weights[2]))
    }
    return sl_key(
      cb: floats(Self.cbWeights), cr: floats(Self.crWeights),
      direction: (Float(direction.x), Float(direction.y)), start: Float(start * 255),
      end: Float(end * 255), near: Float(self.near * 255), scale: Float(self.slope))
  }
}

/// Mattes of a key colour.
///
/// A matte is uncertain if less than a twentieth of the picture has the key colour: then the wall
/// is not in the picture, or its light differs from the key's.
struct KeyMatteSource: MatteSource {
  let key: KeyMatte
  private let pool = BufferPool(maxIdleBytes: 4 << 20)

  init(_ key: KeyMatte) {
    self.key = key
  }

  mutating func matte(of picture: ColorPicture, faces: [DetectedFace]) -> MatteEstimate {
    let size = FrameSize(width: picture.width, height: picture.height)
    let guide = GuidePlanes.guide(size, pool: self.pool)
    guide.load(picture)
    self.key.run(0 ..< size.height, guide)
    var sum: Float = 0
    let values = unsafe [Float](unsafeUninitializedCapacity: size.pixelCount) { values, count in
      for y in 0 ..< size.height {
        let row = unsafe guide.row(y, plane: GuidePlanes.mattePlane)
        for x in 0 ..< size.width {
          let value = unsafe row[x] * (1 / 255)
          sum += value
          unsafe values[y * size.width + x] = value
        }
      }
      count = size.pixelCount
    }
    return MatteEstimate(
      width: size.width, height: size.height, values: values,
      isSure: Double(sum) <= (1 - PlateMatte.minBackground) * Double(size.pixelCount))
  }
}

/// The removal of a key colour from the foreground.
package struct KeySpill: Sendable, Hashable {
  /// The key's maximum channel: 0 is red, 1 green, 2 blue. It is limited to the greater of the
  /// others; `nil` for a key without a single maximum.
  package let channel: Int?
  /// The share of the excess that is removed.
  package let amount: Double
  /// The key colour after the removal, 0 ... 1: the part of the wall that remains in pixels at the
  /// edge.
  package let residue: SIMD3<Double>
  /// Whether to blend without a key: pixels keep their colours, times alpha.
  package let isPlain: Bool

  package init(color: RGBAColor, amount: Double) {
    var residue = SIMD3(color.red, color.green, color.blue)
    let channels = (0 ..< 3).sorted { residue[$0] > residue[$1] }
    let excess = residue[channels[0]] - residue[channels[1]]
    self.channel = excess > 0 ? channels[0] : nil
    self.isPlain = false
    self.amount = amount
    residue[channels[0]] -= amount * excess
    self.residue = residue
  }

  /// No removal: the frame's own colours, times alpha.
  init() {
    self.channel = nil
    self.amount = 0
    self.residue = .zero
    self.isPlain = true
  }
}

extension MatteCoding {
  /// The removal of spill in YUV.
  package struct Removal {
    /// The differences of the key's channel from the other channels, per Cb and Cr above grey.
    package let differences: [SIMD2<Double>]
    /// The changes of luma, Cb and Cr that remove an excess of 1.
    package let gains: SIMD3<Double>
    /// Luma above black, Cb and Cr above grey.
    package let residue: SIMD3<Double>
  }

  package func removal(of spill: KeySpill) -> Removal {
    func levels(_ u: Double, _ v: Double) -> SIMD4<Double> {
      255 * (self.coding.decode(0, 128 + u, 128 + v) - self.coding.decode(0, 128, 128))
    }
    let (cb, cr) = (levels(1, 0), levels(0, 1))
    let residue = SIMD4(spill.residue, 1)
    let chroma = self.coding.chroma(residue)
    let rest = SIMD3(
      self.coding.luma(residue) - self.lumaOffset, chroma[0] - 128, chroma[1] - 128)
    guard let channel = spill.channel else {
      return Removal(differences: [.zero, .zero], gains: .zero, residue: rest)
    }
    let others = (0 ..< 3).filter { $0 != channel }
    var unit = SIMD4<Double>(0, 0, 0, 1)
    unit[channel] = spill.amount / 255
    let change = self.coding.chroma(unit)
    return Removal(
      differences: others.map { [cb[channel] - cb[$0], cr[channel] - cr[$0]] },
      gains: [self.coding.luma(unit) - self.lumaOffset, change[0] - 128, change[1] - 128],
      residue: rest)
  }
}
