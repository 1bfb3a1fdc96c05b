import CKernels
public import SidelightKernels

/// A matte of the people before a known background: the frame is compared with a plate, a picture
/// of the empty scene from the same camera.
///
/// 1. The plate is moved by up to 4 pixels to where its detail matches the frame's
///    (`PlateAlignment`).
/// 2. Red, green and blue of the plate are multiplied by the median ratio of the frame's channels
///    to the plate's where the frame was background, which follows drifting exposure and white
///    balance. Levels stay within 255, as in the camera.
/// 3. A pixel's brightness relative to the plate's and its difference in colour at that brightness
///    are measured (Horprasert, Harwood and Davis 1999). A pixel that is dimmer (ratio .45 ...
///    1.02) and has only the plate's own detail is a shadow: its brightness has a weight of 5 %.
/// 4. The difference is compared with a tolerance of 10 levels and .6 of the plate's gradient.
/// 5. Foreground of less than 1.2 % of the picture is dropped, and holes of less than 2 % are
///    filled (`MatteRegions`).
///
/// Requires a fixed camera, and light that changes as a whole. The plate must not show the people.
public struct PlateMatte: MatteSource {
  /// The parts of the comparison, to measure their effects.
  package struct Parts: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static let alignment = Parts(rawValue: 1)
    package static let exposure = Parts(rawValue: 2)
    package static let shadow = Parts(rawValue: 4)
    package static let regions = Parts(rawValue: 8)
    package static let all: Parts = [.alignment, .exposure, .shadow, .regions]
  }

  /// The plate has another size than a picture.
  public struct SizeMismatch: Error, Sendable, Hashable, CustomStringConvertible {
    /// The sides of the picture and of the plate.
    public let picture, plate: FrameSize

    /// Both sizes.
    public var description: String {
      "the picture is \(self.picture), the plate \(self.plate); both must have the same size"
    }
  }

  private let plate: Plate
  private let parts: Parts
  private let pool = BufferPool(maxIdleBytes: 4 << 20)
  private var alignment = PlateAlignment()
  /// The last matte, 0 ... 1; empty before the first picture.
  private var last: [Float] = []

  /// The remaining background, as a share of the picture, below which the matte is uncertain.
  static let minBackground = 0.05

  /// Creates a matte.
  ///
  /// - Parameter plate: A picture of the empty scene, reduced like the frames.
  public init(plate: ColorPicture) {
    self.init(plate: plate, parts: .all)
  }

  package init(plate: ColorPicture, parts: Parts) {
    self.plate = Plate(plate)
    self.parts = parts
  }

  /// Returns the matte of a picture.
  ///
  /// - Throws: ``SizeMismatch`` if the picture and the plate have different sizes.
  public mutating func matte(
    of picture: ColorPicture, faces: [DetectedFace] = []
  ) throws -> MatteEstimate {
    let size = FrameSize(width: picture.width, height: picture.height)
    guard size == self.plate.size else {
      throw SizeMismatch(picture: size, plate: self.plate.size)
    }
    let guide = GuidePlanes.guide(size, pool: self.pool)
    guide.load(picture)
    return self.matte(of: guide)
  }

  /// Returns the matte of a picture of the plate's size.
  mutating func matte(of guide: GuidePlanes) -> MatteEstimate {
    let (width, height) = (guide.width, guide.height)
    let rows = unsafe sl_rows_current().pointee
    // Luma, its Laplacian, the mask of background, texture, its mean, and the matte.
    let planes = FloatPlanes(width: width, height: height, planes: 6, pool: self.pool)
    for y in 0 ..< height {
      unsafe rows.guide_luma(guide.row(y), guide.stride, width, planes.row(y, plane: 0))
    }
    for y in 0 ..< height {
      unsafe rows.laplacian(
        planes.row(max(y - 1, 0)), planes.row(y), planes.row(min(y + 1, height - 1)), width,
        planes.row(y, plane: 1))
    }
    self.loadMask(planes)
    if self.parts.contains(.alignment) {
      self.alignment.follow(planes, detail: 1, mask: 2, plate: self.plate)
    }
    let shift = self.alignment.shift
    let gains = self.parts.contains(.exposure) ? self.gains(guide, planes) : [1, 1, 1]
    for y in 0 ..< height {
      unsafe rows.plate_texture(
        guide.row(y), guide.stride, self.plate.row(y, shift), self.plate.stride, gains,
        planes.row(y, plane: 1), self.plate.row(y, shift, plane: Plate.detail), width,
        planes.row(y, plane: 3))
    }
    var parameters = sl_plate(
      gains: (gains[0], gains[1], gains[2]), darkest: 0.45, lightest: 1.02,
      texture: self.parts.contains(.shadow) ? self.shadowTexture(planes) : -1, shadow: 0.05,
      tolerance: 10, slope: 0.6, softness: 1)
    var values = [Float](repeating: 0, count: width * height)
    unsafe values.withUnsafeMutableBufferPointer { values in
      let out = unsafe values.baseAddress.unsafelyUnwrapped
      for y in 0 ..< height {
        unsafe Self.mean(planes, from: 3, y, to: 4, radius: 1, rows)
        unsafe rows.plate_distance(
          guide.row(y), guide.stride, self.plate.row(y, shift), self.plate.stride,
          planes.row(y, plane: 4), self.plate.row(y, shift, plane: Plate.gradient), &parameters,
          width, out + y * width)
      }
    }
    if self.parts.contains(.regions) {
      MatteRegions.clean(
        &values, width: width, height: height, minRegion: 0.012, minHole: 0.02)
    }
    self.last = values
    let background = values.count { $0 < 0.5 }
    return MatteEstimate(
      width: width, height: height, values: values,
      isSure: Double(background) >= Self.minBackground * Double(values.count))
  }

  /// The mean of a plane over boxes, for one row.
  private static func mean(
    _ planes: FloatPlanes, from source: Int, _ y: Int, to destination: Int, radius: Int,
    _ rows: sl_rows
  ) {
    let window = max(y - radius, 0) ... min(y + radius, planes.height - 1)
    unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<Float>.self, capacity: window.count) {
      pointers in
      for (index, row) in window.enumerated() {
        unsafe pointers.initializeElement(
          at: index, to: UnsafePointer(planes.row(row, plane: source)))
      }
      unsafe rows.box_mean(
        pointers.baseAddress.unsafelyUnwrapped, window.count, planes.width, radius,
        planes.row(y, plane: destination))
    }
  }

  /// Sets the mask to 1 where the last picture was background; to 1 everywhere if the background
  /// was too small.
  private func loadMask(_ planes: FloatPlanes) {
    let (width, height) = (planes.width, planes.height)
    let clear = self.last.count { $0 < 0.1 }
    let isKnown = Double(clear) >= Self.minBackground * Double(width * height)
    for y in 0 ..< height {
      let row = unsafe planes.row(y, plane: 2)
      for x in 0 ..< width {
        unsafe row[x] = !isKnown || self.last[y * width + x] < 0.1 ? 1 : 0
      }
    }
  }

  /// The median ratio of the picture's channels to the plate's, over every fourth pixel of the
  /// background.
  private func gains(_ guide: GuidePlanes, _ planes: FloatPlanes) -> [Float] {
    let shift = self.alignment.shift
    return (0 ..< 3).map { channel in
      // In 1/128, up to 4.
      var counts = [Int](repeating: 0, count: 513)
      var total = 0
      for y in stride(from: 0, to: guide.height, by: 2) {
        let (own, mask) = unsafe (guide.row(y, plane: channel), planes.row(y, plane: 2))
        let other = unsafe self.plate.row(y, shift, plane: channel)
        for x in stride(from: 0, to: guide.width, by: 2) {
          let (level, plate) = unsafe (own[x] + 128, other[x] + 128)
          // Dark levels have coarse ratios, and clipped levels don't have meaningful ones.
          guard unsafe mask[x] > 0, plate >= 24, level < 250, plate < 250 else { continue }
          counts[min(Int(level / plate * 128 + 0.5), 512)] += 1
          total += 1
        }
      }
      guard total >= 16 else { return 1 }
      var sum = 0
      for (ratio, count) in counts.enumerated() {
        guard 2 * (sum + count) >= total else {
          sum += count
          continue
        }
        // Within the step, by the share of the step that the median needs.
        let part = (Float(total) / 2 - Float(sum)) / Float(max(count, 1))
        return (Float(ratio) - 0.5 + part) / 128
      }
      return 1
    }
  }

  /// The texture up to which a pixel may be in shadow: twice the background's texture, which noise
  /// causes, and 5 levels.
  private func shadowTexture(_ planes: FloatPlanes) -> Float {
    var counts = [Int](repeating: 0, count: 256)
    var total = 0
    for y in stride(from: 0, to: planes.height, by: 4) {
      let (texture, mask) = unsafe (planes.row(y, plane: 3), planes.row(y, plane: 2))
      for x in stride(from: 0, to: planes.width, by: 4) where unsafe mask[x] > 0 {
        counts[min(Int(unsafe texture[x]), 255)] += 1
        total += 1
      }
    }
    var sum = 0
    for (level, count) in counts.enumerated() {
      sum += count
      if 2 * sum >= total { return 2 * (Float(level) + 0.5) + 5 }
    }
    return 5
  }
}

/// A picture of the empty scene with its detail and its gradient. The pixels at the edges are
/// repeated beyond them, to allow moving it.
struct Plate: Sendable {
  /// The planes after red, green and blue: the Laplacian of luma, and the maximum difference of
  /// luma from a neighbour.
  static let detail = 3
  static let gradient = 4
  /// The pixels beyond every edge.
  static let margin = PlateAlignment.reach

  let size: FrameSize
  private let planes: FloatPlanes
  /// Floats from one plane of a row to the next.
  var stride: Int { self.planes.stride }

  init(_ picture: ColorPicture) {
    self.size = FrameSize(width: picture.width, height: picture.height)
    let margin = Self.margin
    let planes = FloatPlanes(
      width: picture.width + 2 * margin, height: picture.height + 2 * margin, planes: 6,
      pool: BufferPool(maxIdleBytes: 0))
    let rows = unsafe sl_rows_current().pointee
    for y in 0 ..< planes.height {
      let row = min(max(y - margin, 0), picture.height - 1)
      for x in 0 ..< planes.width {
        let place = row * picture.width + min(max(x - margin, 0), picture.width - 1)
        for plane in 0 ..< 3 {
          unsafe planes.row(y, plane: plane)[x] = Float(picture.samples[3 * place + plane]) - 128
        }
      }
      unsafe rows.guide_luma(planes.row(y), planes.stride, planes.width, planes.row(y, plane: 5))
    }
    for y in 0 ..< planes.height {
      let (above, below) = (max(y - 1, 0), min(y + 1, planes.height - 1))
      let (up, own, down) = unsafe (
        planes.row(above, plane: 5), planes.row(y, plane: 5), planes.row(below, plane: 5)
      )
      unsafe rows.laplacian(up, own, down, planes.width, planes.row(y, plane: Self.detail))
      for x in 0 ..< planes.width {
        let (left, right) = (max(x - 1, 0), min(x + 1, planes.width - 1))
        unsafe planes.row(y, plane: Self.gradient)[x] = max(
          abs(own[x] - own[left]), abs(own[x] - own[right]), abs(own[x] - up[x]),
          abs(own[x] - down[x]))
      }
    }
    self.planes = planes
  }

  /// The plate's row at a row of the picture, from the picture's first column on.
  func row(
    _ y: Int, _ shift: PlateAlignment.Shift, plane: Int = 0
  ) -> UnsafeMutablePointer<Float> {
    unsafe self.planes.row(y + Self.margin + shift.y, plane: plane) + Self.margin + shift.x
  }
}

/// The displacement of the camera since the plate was taken, in whole pixels of the small picture.
///
/// The shift is the one of 9x9 with the minimum sum of absolute differences of the Laplacians of
/// picture and plate, outside the people, with every difference limited to 40 levels. It changes
/// only to a shift with a sum of 3 % less than the present shift's, to keep a plain wall from
/// making it jump.
struct PlateAlignment: Sendable {
  /// A displacement: the picture's pixel (x, y) shows the plate's (x, y) + this.
  struct Shift: Sendable, Hashable {
    var x = 0
    var y = 0
  }

  /// The maximum displacement along an axis.
  static let reach = 4

  private(set) var shift = Shift()

  mutating func follow(_ planes: FloatPlanes, detail: Int, mask: Int, plate: Plate) {
    let rows = unsafe sl_rows_current().pointee
    func difference(_ shift: Shift) -> Float {
      var sum: Float = 0
      for y in stride(from: 1, to: planes.height - 1, by: 2) {
        unsafe sum += rows.masked_difference(
          planes.row(y, plane: detail), plate.row(y, shift, plane: Plate.detail),
          planes.row(y, plane: mask), 40, planes.width)
      }
      return sum
    }
    let present = difference(self.shift)
    var best = (shift: self.shift, difference: present * 0.97)
    for y in -Self.reach ... Self.reach {
      for x in -Self.reach ... Self.reach {
        let shift = Shift(x: x, y: y)
        guard shift != self.shift else { continue }
        let found = difference(shift)
        if found < best.difference { best = (shift, found) }
      }
    }
    self.shift = best.shift
  }
}
