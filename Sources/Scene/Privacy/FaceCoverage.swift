package import SidelightKernels

/// The part of a frame that a privacy filter covers.
package enum FaceCoverage: Sendable, Hashable {
  /// The reason for which a whole frame is covered. Clients receive the raw values.
  package enum WholeFrameReason: String, Sendable, Hashable, CaseIterable {
    /// The frame's picture, its faces, or the state of the tracker is missing, of another frame, or
    /// the result of an error.
    case fault
    /// No face was found since the start, a cut, a change of size or a fault.
    case searching
    /// A search threw an error or timed out.
    case searchFailed
    /// The last successful search of the whole picture is too long ago.
    case searchLate
    /// There are more faces than are followed.
    case tooManyFaces
    /// A large part of the picture is unsearched, and moves.
    case regionsMove
    /// The same, and the camera moves.
    case cameraMoves
    /// The position of a face is uncertain.
    case faceUncertain
    /// A face was lost and not found again.
    case faceLost
  }

  /// The whole frame is blurred, with the sigma of ``wholeFrameSigma(height:strength:)``.
  case whole(WholeFrameReason)
  /// These regions are covered, and the rest of the frame is visible. Regions overlap.
  case regions([CoveredRegion])

  /// Whether the whole frame is covered.
  package var isWhole: Bool {
    if case .whole = self { true } else { false }
  }

  /// The maximum number of mosaic cells across a face.
  package static let maximumCells = 6.0

  /// Returns the sigma of the blur of a whole frame: `strength height / 18`.
  package static func wholeFrameSigma(height: Double, strength: Double = 1) -> Double {
    max(1, strength) * height / 18
  }
}

/// A region that is covered with a mosaic, in the pixels of the reduced picture.
package struct CoveredRegion: Sendable, Hashable {
  package enum Shape: Sendable, Hashable {
    case ellipse
    case rectangle
  }

  package var shape: Shape
  /// The centre. It is a corner of the mosaic's cells, which moves the grid with the face: a face
  /// that moves behind a resting grid can be reconstructed from many frames.
  package var center: PicturePoint
  /// Half the extent across, in pixels.
  package var radiusX: Double
  /// Half the extent up and down.
  package var radiusY: Double
  /// The angle of the axes and of the grid in radians, positive clockwise.
  package var roll: Double
  /// The side of a mosaic cell in pixels.
  package var cell: Double

  package init(
    shape: Shape, center: PicturePoint, radiusX: Double, radiusY: Double, roll: Double, cell: Double
  ) {
    self.shape = shape
    self.center = center
    self.radiusX = radiusX
    self.radiusY = radiusY
    self.roll = roll
    self.cell = cell
  }

  /// Whether the region covers a point.
  package func contains(_ point: PicturePoint) -> Bool {
    let place = (point - self.center).turned(by: -self.roll)
    let (x, y) = (abs(place.x) / self.radiusX, abs(place.y) / self.radiusY)
    return switch self.shape {
    case .ellipse: x * x + y * y <= 1
    case .rectangle: max(x, y) <= 1
    }
  }

  /// Whether the region can be drawn.
  package var isValid: Bool {
    self.center.isFinite && self.roll.isFinite && self.radiusX.isFinite && self.radiusX > 0
      && self.radiusY.isFinite && self.radiusY > 0 && self.cell.isFinite && self.cell > 0
  }

  /// Returns the region in another scale of the picture, for example the frame's.
  package func scaled(by factor: Double) -> CoveredRegion {
    CoveredRegion(
      shape: self.shape, center: factor * self.center, radiusX: factor * self.radiusX,
      radiusY: factor * self.radiusY, roll: self.roll, cell: factor * self.cell)
  }
}
