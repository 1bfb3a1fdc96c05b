/// The learning of a plate: the mean of the pictures of a room without motion and faces for 2
/// seconds and 30 frames.
///
/// A picture moves if a cell of 8x8 pixels differs from the first picture of the still time by more
/// than 6 levels on average. Without a finder of faces, a person who sits still for that time is
/// part of the plate.
struct PlateLearner: Sendable {
  /// The time without motion.
  static let stillTime = Duration.seconds(2)
  /// The minimum number of pictures.
  static let pictureCount = 30
  /// The side of a cell in pixels, and the mean change that counts as motion, in levels.
  private static let cell = 8
  private static let motion = 6.0
  /// The minimum change of the progress that is reported.
  private static let progressStep = 0.1

  private var first: (picture: ColorPicture, frame: SceneTime)?
  private var sums: [UInt32] = []
  private var count = 0
  private var progress = 0.0
  private var reported: Double?

  /// Forgets the pictures.
  mutating func restart() {
    self.first = nil
    self.count = 0
    self.progress = 0
  }

  /// Returns the progress if it has changed since the last call, 0 ... 1.
  mutating func takeProgress() -> Double? {
    let isNew =
      self.reported.map {
        abs(self.progress - $0) >= Self.progressStep || self.progress < $0 || self.progress == 1
      } ?? true
    guard isNew, self.progress != self.reported else { return nil }
    self.reported = self.progress
    return self.progress
  }

  /// Adds a picture.
  ///
  /// - Returns: The plate, once it is complete.
  mutating func add(_ view: SceneView) -> ColorPicture? {
    let picture = view.picture.color
    if let first, Self.isEmpty(view.faces), !Self.moves(first.picture, picture) {
      self.count += 1
      for index in self.sums.indices { self.sums[index] += UInt32(picture.samples[index]) }
      let time = (view.time.time - first.frame.time) / Self.stillTime
      let pictures = Double(self.count) / Double(Self.pictureCount)
      self.progress = min(time, pictures, 1)
      guard self.progress == 1 else { return nil }
      guard Self.isSearched(view.faces, since: first.frame) else {
        self.progress = 1 - Self.progressStep
        return nil
      }
      let count = UInt32(self.count)
      return ColorPicture(
        width: picture.width, height: picture.height,
        samples: self.sums.map { UInt8(($0 + count / 2) / count) })
    }
    self.restart()
    guard Self.isEmpty(view.faces) else { return nil }
    self.first = (picture, view.time)
    self.count = 1
    self.sums = picture.samples.map { UInt32($0) }
    return nil
  }

  /// Whether a report is without faces and candidates.
  private static func isEmpty(_ faces: FaceReport?) -> Bool {
    faces.map { $0.faces.isEmpty && $0.candidates.isEmpty } ?? true
  }

  /// Whether searches at every angle have found no face since a frame.
  private static func isSearched(_ faces: FaceReport?, since frame: SceneTime) -> Bool {
    faces.map { report in
      report.search.emptySince.allSatisfy { $0.map { $0.index >= frame.index } ?? false }
    } ?? true
  }

  private static func moves(_ first: ColorPicture, _ picture: ColorPicture) -> Bool {
    guard first.width == picture.width, first.height == picture.height else { return true }
    let (width, height) = (picture.width, picture.height)
    return unsafe first.samples.withUnsafeBufferPointer { before in
      unsafe picture.samples.withUnsafeBufferPointer { now in
        for top in stride(from: 0, to: height, by: Self.cell) {
          for left in stride(from: 0, to: width, by: Self.cell) {
            let (bottom, right) = (min(top + Self.cell, height), min(left + Self.cell, width))
            var sum = 0
            for y in top ..< bottom {
              for index in 3 * (y * width + left) ..< 3 * (y * width + right) {
                unsafe sum += abs(Int(before[index]) - Int(now[index]))
              }
            }
            let samples = 3 * (bottom - top) * (right - left)
            if Double(sum) > Self.motion * Double(samples) { return true }
          }
        }
        return false
      }
    }
  }
}
