import SidelightKernels

/// The places, relative to the camera, at which content has moved or appeared since a frame.
///
/// Other places show what they showed, moved by at most a distance: a face that was elsewhere in that
/// frame is not there.
struct DisturbedPlaces: Sendable {
  /// The largest movement of the camera in cells, beyond which all places count as disturbed.
  private static let movementLimit = 1000.0

  private let cells: PictureCells
  private let driftLimit: Float
  /// The disturbed cells, at their places in the first frame.
  private var isDisturbed: [Bool]
  /// The sums of slow movements in pixels.
  private var drift: [SIMD2<Float>]
  /// The movement of the camera since the first frame, in cells.
  private var movement = SIMD2<Double>.zero

  /// - Parameters:
  ///   - content: The content of the first frame.
  ///   - frame: The frame, which may be earlier, since which content may have appeared.
  ///   - driftLimit: The sum of slow movements, in pixels, above which content has moved.
  init(_ content: UnsearchedContent, since frame: SceneTime, driftLimit: Double) {
    self.cells = content.cells
    self.driftLimit = Float(driftLimit)
    self.isDisturbed = content.disturbed(since: frame)
    self.drift = Array(repeating: .zero, count: content.cells.count)
  }

  /// Adds the next frame.
  mutating func add(_ content: UnsearchedContent) {
    let step = content.cameraStep
    self.movement += SIMD2(step.x, step.y) / Double(ContentMotion.cellSide)
    guard abs(self.movement.x) < Self.movementLimit, abs(self.movement.y) < Self.movementLimit
    else {
      self.movement = .zero
      self.isDisturbed = Array(repeating: true, count: self.cells.count)
      return
    }
    let nearest = self.movement.rounded(.toNearestOrEven)
    for (index, isDisturbed) in content.disturbed().enumerated() {
      if isDisturbed {
        for place in self.places(of: index) { place.map { self.isDisturbed[$0] = true } }
      } else if let place = self.place(of: index, after: nearest) {
        let drift = self.drift[place] + content.drift[index]
        if (drift * drift).sum() > self.driftLimit * self.driftLimit {
          self.isDisturbed[place] = true
        }
        if content.isSearchStarted { self.drift[place] = drift }
      }
    }
  }

  /// Per cell of the last frame, whether it shows a disturbed place, or a place that the first frame
  /// did not show.
  var visible: [Bool] {
    (0 ..< self.cells.count).map { index in
      self.places(of: index).contains { $0.map { self.isDisturbed[$0] } ?? true }
    }
  }

  /// The cells of the first frame that overlap with a cell of the last; `nil` beyond the picture.
  private func places(of index: Int) -> [Int?] {
    let (low, high) = (self.movement.rounded(.down), self.movement.rounded(.up))
    var places = [self.place(of: index, after: low)]
    if low.x != high.x { places.append(self.place(of: index, after: SIMD2(high.x, low.y))) }
    if low.y != high.y { places.append(self.place(of: index, after: SIMD2(low.x, high.y))) }
    if low.x != high.x, low.y != high.y { places.append(self.place(of: index, after: high)) }
    return places
  }

  private func place(of index: Int, after movement: SIMD2<Double>) -> Int? {
    let column = index % self.cells.columns - Int(movement.x)
    let row = index / self.cells.columns - Int(movement.y)
    guard (0 ..< self.cells.columns).contains(column), (0 ..< self.cells.rows).contains(row) else {
      return nil
    }
    return row * self.cells.columns + column
  }
}
