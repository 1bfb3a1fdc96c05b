import SidelightKernels

/// The faces in the pictures of one stream: runs the searches and the optical flow that a
/// ``FaceTracker`` plans.
///
/// Looks at known faces run in the step of their picture. Searches of the whole picture take
/// longer: they run in the step too, or off the frame's path (``Searching``).
package struct FaceScene: Sendable {
  /// The timing of searches of the whole picture.
  package enum Searching: Sendable, Hashable {
    /// In the step that requests them, which then takes as long as a search.
    case immediate
    /// In jobs, which the caller takes from ``takeSearch()``. The result of a job applies to the
    /// picture that was searched, and is carried forward by using optical flow.
    case background
  }

  /// The number of pictures that are kept, from which faces can be followed.
  package static let pictureLimit = 8

  /// The error of the latest search of the whole picture; `nil` if it succeeded.
  package private(set) var searchError: (any Error)?
  private let searching: Searching
  private let tools: FaceTools?
  private var configuration: FaceTracker.Configuration
  private var finder: any FaceFinder
  /// The finder of background searches; `nil` while one runs.
  private var searchFinder: (any FaceFinder)?
  private var points: any PointTracker
  private var tracker: FaceTracker?
  private var pictures: [(frame: SceneTime, picture: LumaPicture)] = []
  /// The last picture with a search.
  private var searched: (frame: UInt64, picture: LumaPicture)?
  private var report = FaceReport(frame: SceneTime(index: 0, time: .zero))
  /// The search that is due.
  private var due: SceneJob?
  /// The time at which the running search was planned.
  private var runningSince: Duration?
  /// The results of searches of earlier pictures.
  private var results: [FaceTracker.SearchResult] = []

  /// - Parameters:
  ///   - tools: The finder of faces and the optical flow.
  ///   - configuration: The settings of the tracker.
  ///   - searching: Where searches of the whole picture run.
  package init(
    tools: FaceTools, configuration: FaceTracker.Configuration = FaceTracker.Configuration(),
    searching: Searching
  ) {
    self.tools = tools
    self.finder = tools.finder(protects: configuration.protects)
    self.searchFinder =
      searching == .background ? tools.finder(protects: configuration.protects) : nil
    self.points = tools.makePointTracker()
    self.configuration = configuration
    self.searching = searching
  }

  /// Creates a scene that searches in its steps.
  ///
  /// - Parameters:
  ///   - finder: The finder of faces. The scene is its only user.
  ///   - points: The optical flow.
  ///   - configuration: The settings of the tracker.
  package init(
    finder: any FaceFinder, points: any PointTracker,
    configuration: FaceTracker.Configuration = FaceTracker.Configuration()
  ) {
    self.tools = nil
    self.finder = finder
    self.searchFinder = nil
    self.points = points
    self.configuration = configuration
    self.searching = .immediate
  }

  /// Changes the settings. Known faces remain known, also with the finder of stages that protect.
  package mutating func configure(_ configuration: FaceTracker.Configuration) {
    if configuration.protects != self.configuration.protects, let tools {
      self.finder = tools.finder(protects: configuration.protects)
      // A finder that is searching is replaced when it returns.
      if self.searchFinder != nil {
        self.searchFinder = tools.finder(protects: configuration.protects)
      }
    }
    self.configuration = configuration
    self.tracker?.configuration = configuration
  }

  /// Makes a search of the whole picture due in the next step.
  package mutating func requestSearch() {
    self.tracker?.requestSearch()
  }

  /// Finds and follows the faces of the next picture.
  ///
  /// After a cut, and in a picture of another size, all faces have new ids.
  ///
  /// - Parameters:
  ///   - picture: The reduced frame, as displayed.
  ///   - color: The same frame in colour, if the finder needs it.
  ///   - frame: The frame. One that is not later than the last is ignored.
  ///   - effort: The time that a search of the whole picture may spend.
  /// - Returns: The faces, in the picture's pixels; the last frame's faces if this frame is
  ///   ignored.
  package mutating func step(
    _ picture: LumaPicture, color: ColorPicture? = nil, at frame: SceneTime,
    effort: FaceSearch.Effort = .thorough
  ) async -> FaceReport {
    let last = self.pictures.last
    if let last {
      guard frame.index > last.frame.index, frame.time > last.frame.time else {
        return self.report
      }
    }
    var tracker =
      self.tracker
      ?? FaceTracker(self.configuration, width: picture.width, height: picture.height)
    if let last, !Self.continues(last.picture, picture) {
      tracker.reset(width: picture.width, height: picture.height)
      self.pictures = []
      self.searched = nil
    }
    for result in self.results { tracker.record(result) }
    self.results = []
    // The tracker ignores optical flow over such a gap, and relies on searches to find moving
    // faces.
    if let last, frame.time - last.frame.time > FaceTracker.maximumGap { tracker.requestSearch() }
    let plan = tracker.advance(to: frame, flow: self.flow(of: tracker.followTargets, to: picture))
    for look in plan.looks {
      let outcome = await Self.search(look.search, with: &self.finder, picture, color).outcome
      tracker.record(FaceTracker.LocalSearchResult(look, outcome))
    }
    self.due = nil
    if let full = plan.fullSearch {
      await self.run(
        full, full.search(in: picture, effort: effort), picture, color, at: frame, &tracker)
    }
    self.report = tracker.finish()
    self.report.motion = self.motion(to: picture)
    if self.report.search.isStarted { self.searched = (frame.index, picture) }
    self.tracker = tracker
    self.pictures.append((frame, picture))
    if self.pictures.count > Self.pictureLimit { self.pictures.removeFirst() }
    return self.report
  }

  // MARK: - Searches of the whole picture

  /// The result of a background search.
  private struct SearchReturn: Sendable {
    let search: FullSearch
    let outcome: SearchOutcome
    let error: (any Error)?
    let finder: any FaceFinder
    let protects: Bool
  }

  private mutating func run(
    _ full: FullSearch, _ search: FaceSearch, _ picture: LumaPicture, _ color: ColorPicture?,
    at frame: SceneTime, _ tracker: inout FaceTracker
  ) async {
    guard self.searching == .background else {
      let (outcome, error) = await Self.search(search, with: &self.finder, picture, color)
      self.searchError = error
      return tracker.record(FaceTracker.SearchResult(full, outcome))
    }
    if let finder = self.searchFinder {
      let protects = self.configuration.protects
      self.due = SceneJob(
        "faceSearch", isCustom: self.tools?.isCustom ?? false, protects: protects
      ) {
        var finder = finder
        let (outcome, error) = await Self.search(search, with: &finder, picture, color)
        return SearchReturn(
          search: full, outcome: outcome, error: error, finder: finder, protects: protects)
      }
      self.runningSince = frame.time
    } else if let since = self.runningSince, frame.time - since > FaceTracker.searchTimeout {
      // The finder has not returned. A second search would only occupy another thread.
      tracker.record(FaceTracker.SearchResult(full, .failed))
    } else {
      tracker.postpone(full)
    }
  }

  /// Returns the search of the whole picture that the last step has planned; `nil` if no search is
  /// due. Its result goes to ``finishSearch(_:)``.
  package mutating func takeSearch() -> SceneJob? {
    guard let due = self.due.take() else { return nil }
    self.searchFinder = nil
    return due
  }

  /// Receives the result of a background search. It applies from the next step on.
  package mutating func finishSearch(_ result: Result<any Sendable, any Error>) {
    guard case .success(let value) = result, let found = value as? SearchReturn else {
      // The search never ran, and its finder is lost.
      self.searchFinder = self.finder
      return
    }
    if found.protects == self.configuration.protects {
      self.searchFinder = found.finder
    } else {
      self.searchFinder = self.tools?.finder(protects: self.configuration.protects)
    }
    self.searchError = found.error
    self.results.append(FaceTracker.SearchResult(found.search, found.outcome))
  }

  /// Whether two pictures show the same scene.
  private static func continues(_ before: LumaPicture, _ picture: LumaPicture) -> Bool {
    picture.meanChange(from: before).map { $0 <= LumaPicture.cutChange } ?? false
  }

  /// Returns the movements of faces from the picture of their frame to another one. Faces that
  /// cannot be followed are left out.
  private mutating func flow(
    of targets: [FollowTarget], to picture: LumaPicture
  ) -> [FaceID: SimilarityTransform] {
    var movements: [FaceID: SimilarityTransform] = [:]
    for (frame, group) in Dictionary(grouping: targets, by: \.frame) {
      guard let start = self.pictures.first(where: { $0.frame.index == frame })?.picture else {
        continue
      }
      let points = group.map { (try? self.points.points(of: $0.box, in: start)) ?? [] }
      // Together, because every call of optical flow prepares both pictures.
      guard
        let moved = try? self.points.follow(points.flatMap(\.self), from: start, to: picture)
      else { continue }
      var rest = moved[...]
      for (target, points) in zip(group, points) {
        let pairs = zip(points, rest).compactMap { before, after in
          after.map { SimilarityFit.Pair(before: before, after: $0) }
        }
        rest = rest.dropFirst(points.count)
        movements[target.face] = try? SimilarityFit(pairs).transform
      }
    }
    return movements
  }

  /// The motion since the last searched picture, which only stages that protect need.
  private func motion(to picture: LumaPicture) -> ContentMotion? {
    guard self.configuration.protects, let searched,
      var motion = try? self.points.motion(from: searched.picture, to: picture)
    else { return nil }
    motion.frame = searched.frame
    return motion
  }

  private static func search(
    _ search: FaceSearch, with finder: inout any FaceFinder, _ picture: LumaPicture,
    _ color: ColorPicture?
  ) async -> (outcome: SearchOutcome, error: (any Error)?) {
    do {
      return (.found(try await finder.faces(in: picture, color: color, search: search)), nil)
    } catch {
      return (.failed, error)
    }
  }
}
