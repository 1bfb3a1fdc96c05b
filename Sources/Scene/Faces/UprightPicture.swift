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
