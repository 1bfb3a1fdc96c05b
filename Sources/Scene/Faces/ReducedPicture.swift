import CKernels
public import SidelightKernels

/// A small grey copy of a frame, in which faces are detected and followed.
///
/// Samples are full-range luma, of one byte, in rows from top to bottom without padding.
public struct LumaPicture: Sendable, Equatable {
  /// The number of columns.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// `width * height` samples.
  public let samples: [UInt8]

  /// Creates a picture.
  ///
  /// - Precondition: `samples.count == width * height`, and both sides are at least 1.
  public init(width: Int, height: Int, samples: [UInt8]) {
    precondition(width > 0 && height > 0 && samples.count == width * height)
    self.width = width
    self.height = height
    self.samples = samples
  }
}

/// A small colour copy of a frame, from which mattes are computed.
///
/// Pixels are R'G'B' as displayed, of three bytes, in rows from top to bottom without padding.
public struct ColorPicture: Sendable, Equatable {
  /// The number of columns.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// `3 * width * height` samples: red, green, blue of the first pixel, and so on.
  public let samples: [UInt8]

  /// Creates a picture.
  ///
  /// - Precondition: `samples.count == 3 * width * height`, and both sides are at least 1.
  public init(width: Int, height: Int, samples: [UInt8]) {
    precondition(width > 0 && height > 0 && samples.count == 3 * width * height)
    self.width = width
    self.height = height
    self.samples = samples
  }
}

extension ColorPicture {
  /// A small copy of a frame, of at most 320x180 pixels, or 180x320 for an upright frame.
  public init(reducing frame: Frame) {
    let reduction = FrameReduction(frame.geometry)
    let guide = GuidePlanes.guide(reduction.size, pool: BufferPool(maxIdleBytes: 0))
    let raster = Raster(frame)
    reduction.run(0 ..< reduction.size.height, from: raster.view, to: guide)
    withExtendedLifetime(raster) {}
    self = guide.colorPicture
  }
}

extension LumaPicture {
  /// The luma of a picture: .299 R + .587 G + .114 B, rounded.
  public init(_ picture: ColorPicture) {
    self.init(
      width: picture.width, height: picture.height,
      samples: (0 ..< picture.width * picture.height).map { pixel in
        let (red, green, blue) = (
          Int(picture.samples[3 * pixel]), Int(picture.samples[3 * pixel + 1]),
          Int(picture.samples[3 * pixel + 2])
        )
        return UInt8((red * 9798 + green * 19235 + blue * 3735 + 16384) >> 15)
      })
  }

  /// A small grey copy of a frame, of the size of ``ColorPicture/init(reducing:)``.
  public init(reducing frame: Frame) {
    self.init(ColorPicture(reducing: frame))
  }
}

extension GuidePlanes {
  /// Copies a picture.
  package func load(_ picture: ColorPicture) {
    precondition(picture.width == self.width && picture.height == self.height)
    unsafe picture.samples.withUnsafeBufferPointer { samples in
      for y in 0 ..< self.height {
        let (red, green, blue) = unsafe (
          self.row(y, plane: 0), self.row(y, plane: 1), self.row(y, plane: 2)
        )
        let start = 3 * y * self.width
        for x in 0 ..< self.width {
          unsafe red[x] = Float(Int32(samples[start + 3 * x]) - 128)
          unsafe green[x] = Float(Int32(samples[start + 3 * x + 1]) - 128)
          unsafe blue[x] = Float(Int32(samples[start + 3 * x + 2]) - 128)
        }
      }
    }
  }

  /// The picture as bytes.
  package var colorPicture: ColorPicture {
    var samples = [UInt8](repeating: 0, count: 3 * self.width * self.height)
    for y in 0 ..< self.height {
      for plane in 0 ..< 3 {
        let row = unsafe self.row(y, plane: plane)
        for x in 0 ..< self.width {
          samples[3 * (y * self.width + x) + plane] = UInt8(Int(unsafe row[x]) + 128)
        }
      }
    }
    return ColorPicture(width: self.width, height: self.height, samples: samples)
  }
}

/// A small copy of a frame as displayed, and the way back from its pixels to the frame's.
package struct UprightPicture: Sendable {
  package let color: ColorPicture
  package let luma: LumaPicture
  /// The pixels of the frame along every side of a pixel.
  private let factor: Double
  private let orientation: Orientation
  /// The size of the picture as stored.
  private let stored: FrameSize

  /// Reduces a frame to at most 320x180 pixels, or 180x320, and turns it upright.
  package init(reducing frame: Frame) {
    let picture = ColorPicture(reducing: frame)
    self.factor = Double(FrameReduction(frame.geometry).factor)
    self.orientation = frame.orientation
    self.stored = FrameSize(width: picture.width, height: picture.height)
    self.color = picture.displayed(frame.orientation)
    self.luma = LumaPicture(self.color)
  }

  /// The map from the pixels of the picture to the pixels of the frame as stored.
  package var frameMap: AffineMap {
    func frame(_ x: Double, _ y: Double) -> PicturePoint {
      self.factor * self.orientation.storedPoint(PicturePoint(x: x, y: y), in: self.stored)
    }
    let (origin, right, down) = (frame(0, 0), frame(1, 0), frame(0, 1))
    return AffineMap(
      a: right.x - origin.x, b: right.y - origin.y, c: down.x - origin.x, d: down.y - origin.y,
      tx: origin.x, ty: origin.y)
  }

  /// Returns the upright square in the frame that contains a face, in the pixels of the frame as
  /// stored. It may reach beyond the frame.
  package func frameRegion(of box: FaceBox) -> Region {
    let center = self.orientation.storedPoint(box.center, in: self.stored)
    let side = self.factor * box.size
    return Region(
      origin: FramePoint(
        x: Length(self.factor * center.x - side / 2), y: Length(self.factor * center.y - side / 2)),
      width: Length(side), height: Length(side))
  }
}

extension Orientation {
  /// Returns where a point of the displayed picture is in the stored one.
  func storedPoint(_ point: PicturePoint, in stored: FrameSize) -> PicturePoint {
    var (x, y) = (point.x, point.y)
    for turn in stride(from: self.quarterTurns, to: 0, by: -1) {
      // Before this turn the picture was as wide as it is high now.
      let height = Double(turn.isMultiple(of: 2) ? stored.width : stored.height)
      (x, y) = (y, height - x)
    }
    return PicturePoint(x: self.isMirrored ? Double(stored.width) - x : x, y: y)
  }
}

extension ColorPicture {
  /// The picture in the orientation in which it is displayed.
  func displayed(_ orientation: Orientation) -> ColorPicture {
    guard orientation != .upright else { return self }
    let stored = FrameSize(width: self.width, height: self.height)
    let isTurned = !orientation.quarterTurns.isMultiple(of: 2)
    let (width, height) = isTurned ? (self.height, self.width) : (self.width, self.height)
    var samples: [UInt8] = []
    samples.reserveCapacity(self.samples.count)
    for y in 0 ..< height {
      for x in 0 ..< width {
        let center = PicturePoint(x: Double(x) + 0.5, y: Double(y) + 0.5)
        let place = orientation.storedPoint(center, in: stored)
        let start = 3 * (Int(place.y) * self.width + Int(place.x))
        samples += self.samples[start ..< start + 3]
      }
    }
    return ColorPicture(width: width, height: height, samples: samples)
  }
}

extension LumaPicture {
  /// The mean change of the picture's samples between frames that counts as a cut, in levels.
  package static let cutChange = 30.0

  /// Returns the mean of the absolute differences of two pictures, in levels; `nil` if their sizes
  /// differ.
  package func meanChange(from before: LumaPicture) -> Double? {
    guard self.width == before.width, self.height == before.height else { return nil }
    let sum = unsafe self.samples.withUnsafeBufferPointer { left in
      unsafe before.samples.withUnsafeBufferPointer { right in
        unsafe sl_rows_current().pointee.absolute_difference_u8(
          left.baseAddress.unsafelyUnwrapped, right.baseAddress.unsafelyUnwrapped, left.count)
      }
    }
    return Double(sum) / Double(self.samples.count)
  }
}
