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
}

/// Draws a ``FaceCoverage`` on frames. Without one it covers the whole frame, as after steps that
/// may have moved faces out of their regions. Regions grow by the distance to which earlier steps
/// may have spread them.
struct FaceCoverPass: OperationPass {
  let setting: PassSetting
  private let style: FacePrivacyFilter.Style
  private let strength: Double
  private let index: Int
  private let shapes: [PlaneShape]
  private let isStraight: Bool

  init(setting: PassSetting, style: FacePrivacyFilter.Style, strength: Double, index: Int) {
    self.setting = setting
    self.style = style
    self.strength = strength
    self.index = index
    self.shapes = PlaneShape.planes(setting.geometry.format, setting.geometry.size)
    self.isStraight = setting.geometry.alpha == .straight
  }

  /// All means are computed before the first sample is written.
  var worksInPlace: Bool { true }

  func run(_ context: PassContext) async {
    guard let spread = self.setting.spread,
      case .regions(let regions)? = context.scene?.drawing(
        of: self.index, as: FaceCoverage.self),
      let map = context.scene?.frameMap.inverse,
      [map.tx, map.ty].allSatisfy(\.isFinite), regions.allSatisfy(RegionGrid.accepts)
    else { return await self.coverFrame(context) }
    let distance = spread * (map.a * map.a + map.b * map.b).squareRoot()
    await self.cover(regions.map { $0.grown(by: distance) }, map, context)
  }

  private func cover(
    _ regions: [CoveredRegion], _ map: AffineMap, _ context: PassContext
  ) async {
    let (input, output) = (context.inputs[0], context.output)
    // Where regions overlap the coarser one is drawn, in any order.
    let covers = regions.sorted(by: CoveredRegion.isFiner(_:than:)).flatMap { region in
      self.shapes.compactMap { shape in
        RegionGrid(region, map, on: shape).map { RegionCover($0, isStraight: self.isStraight) }
      }
    }
    var drawings: [(cover: RegionCover, colors: CellColors)] = []
    for cover in covers {
      drawings.append((cover, await cover.colors(of: input, context.bands)))
    }
    if output.relation(to: input) != .same {
      for shape in self.shapes { await PlaneCopy(shape: shape).run(context) }
    }
    for (cover, colors) in drawings {
      await cover.draw(colors, self.style, on: output, context.bands)
    }
  }

  private func coverFrame(_ context: PassContext) async {
    let size = self.setting.geometry.size
    let sigma = FaceCoverage.wholeFrameSigma(
      height: self.displayedHeight(context.scene), strength: self.strength)
    for shape in self.shapes {
      await FrameCover(shape, of: size, sigma: sigma, isStraight: self.isStraight)
        .run(from: context.inputs[0], to: context.output, context)
    }
  }

  /// The height of the frame as displayed; without a scene, which knows it, the longer side.
  private func displayedHeight(_ scene: FrameScene?) -> Double {
    let size = self.setting.geometry.size
    guard let map = scene?.frameMap, map.inverse != nil else {
      return Double(max(size.width, size.height))
    }
    return Double(abs(map.b) > abs(map.a) ? size.width : size.height)
  }
}

extension CoveredRegion {
  /// The region with a margin.
  fileprivate func grown(by distance: Double) -> CoveredRegion {
    var region = self
    region.radiusX += distance
    region.radiusY += distance
    return region
  }

  /// Whether a region is drawn before another: that with the smaller cells first. An order of all
  /// regions that differ.
  static func isFiner(_ one: CoveredRegion, than other: CoveredRegion) -> Bool {
    let (left, right) = (one.order, other.order)
    return left.lexicographicallyPrecedes(right)
  }

  private var order: [Double] {
    [
      self.cell, self.radiusX * self.radiusY, self.center.x, self.center.y, self.radiusX, self.roll,
      self.shape == .ellipse ? 0 : 1,
    ]
  }
}
