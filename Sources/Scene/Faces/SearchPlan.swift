import SidelightKernels

/// The searches of one frame, as planned by ``FaceTracker``.
package struct SearchPlan: Sendable, Hashable {
  /// The due search of the whole picture; `nil` if no search is due.
  package var fullSearch: FullSearch?
  /// The searches for known faces, which run on this frame.
  package var looks: [LocalLook] = []

  package init() {}
}

/// A search of the whole picture for upright faces, after turning it.
package struct FullSearch: Sendable, Hashable {
  /// The frame of the searched picture.
  package var frame: UInt64
  /// The roll in radians of the faces that the search finds, one of
  /// ``FaceTracker/searchAngles``.
  package var angle: Double
  /// The minimum side of the canonical box in pixels.
  package var minimumSize: Double

  package init(frame: UInt64, angle: Double, minimumSize: Double) {
    self.frame = frame
    self.angle = angle
    self.minimumSize = minimumSize
  }

  /// Returns the request to a finder.
  func search(in picture: LumaPicture, effort: FaceSearch.Effort = .thorough) -> FaceSearch {
    let largest = Double(max(picture.width, picture.height))
    return FaceSearch(
      angle: self.angle, sizes: self.minimumSize ... max(self.minimumSize, largest),
      effort: effort)
  }
}

/// A search for one known face, in a window around its position.
package struct LocalLook: Sendable, Hashable {
  package var face: FaceID
  /// The position. The window is centred on it and turned by its roll, which makes the face
  /// upright.
  package var box: FaceBox

  package init(face: FaceID, box: FaceBox) {
    self.face = face
    self.box = box
  }

  /// The side of the window in sizes of the box.
  package static let windowShare = 2.2
  /// The sizes of faces that are searched, in sizes of the box.
  package static let sizeShares = 0.6 ... 1.5

  /// The side of the window in pixels.
  package var windowSide: Double { Self.windowShare * self.box.size }
  /// The sizes of faces that are searched, in pixels.
  package var sizes: ClosedRange<Double> {
    Self.sizeShares.lowerBound * self.box.size ... Self.sizeShares.upperBound * self.box.size
  }

  /// The request to a finder.
  var search: FaceSearch {
    FaceSearch(
      window: FaceSearch.Window(center: self.box.center, side: self.windowSide),
      angle: self.box.roll, sizes: self.sizes)
  }
}

/// The result of a search.
package enum SearchOutcome: Sendable, Hashable {
  /// The faces, in the pixels of the reduced picture.
  case found([DetectedFace])
  /// The search threw an error, or was abandoned.
  case failed
}

extension FaceTracker {
  /// The result of a search for one face.
  package struct LocalSearchResult: Sendable, Hashable {
    package var look: LocalLook
    package var outcome: SearchOutcome

    package init(_ look: LocalLook, _ outcome: SearchOutcome) {
      self.look = look
      self.outcome = outcome
    }
  }

  /// The result of a search of the whole picture.
  package struct SearchResult: Sendable, Hashable {
    package var search: FullSearch
    package var outcome: SearchOutcome

    package init(_ search: FullSearch, _ outcome: SearchOutcome) {
      self.search = search
      self.outcome = outcome
    }
  }
}

/// A face to follow into the next frame by using optical flow.
package struct FollowTarget: Sendable, Hashable {
  package var face: FaceID
  /// The place in the picture of ``frame``.
  package var box: FaceBox
  /// The frame in which the position is known. It is earlier than the previous frame if the search
  /// that found the face took longer than a frame.
  package var frame: UInt64
}

/// When full searches run, and at which angle: one at a time, at the angles of
/// ``FaceTracker/searchAngles`` in turn.
struct FullSearchSchedule: Sendable {
  private var angleIndex = 0
  /// The number of the tracker's step in which the last search was planned.
  private var lastStep: Int?
  private var pending: (search: FullSearch, requested: Duration)?
  private var isRequested = false

  init() {}

  /// Makes a search due in the next step.
  mutating func request() {
    self.isRequested = true
  }

  /// Takes back a search that was planned and cannot run now. It is due again in the next step.
  mutating func postpone(_ search: FullSearch) {
    guard self.pending?.search == search else { return }
    self.pending = nil
    self.isRequested = true
  }

  /// Forgets the search that is under way, and starts again with the first angle.
  mutating func reset() {
    self.lastStep = nil
    self.pending = nil
    self.angleIndex = 0
  }

  /// Ends the search of a frame, if it is the one under way.
  mutating func finish(searchOf frame: UInt64) {
    if self.pending?.search.frame == frame { self.pending = nil }
  }

  /// Gives up a search that is under way for longer than ``FaceTracker/searchTimeout``.
  ///
  /// - Returns: Whether there was one.
  mutating func expire(at time: Duration) -> Bool {
    guard let pending = self.pending, time - pending.requested > FaceTracker.searchTimeout else {
      return false
    }
    self.pending = nil
    return true
  }

  /// Returns the search of a frame that is due; `nil` if a search is running or isn't due.
  ///
  /// - Parameters:
  ///   - frame: The frame.
  ///   - step: The number of the tracker's step.
  ///   - interval: The number of steps between searches.
  ///   - minimumSize: The minimum side of faces in pixels.
  mutating func next(
    in frame: SceneTime, step: Int, interval: Int, minimumSize: Double
  ) -> FullSearch? {
    guard self.pending == nil else { return nil }
    let since = self.lastStep.map { step - $0 } ?? .max
    guard self.isRequested || since >= interval else { return nil }
    let search = FullSearch(
      frame: frame.index, angle: FaceTracker.searchAngles[self.angleIndex],
      minimumSize: minimumSize)
    self.angleIndex = (self.angleIndex + 1) % FaceTracker.searchAngles.count
    self.isRequested = false
    self.lastStep = step
    self.pending = (search, frame.time)
    return search
  }
}
