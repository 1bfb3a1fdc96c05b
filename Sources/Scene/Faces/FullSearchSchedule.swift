import SidelightKernels

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
