/// The faces in the pictures of one stream: runs the searches and the optical flow that a
/// ``FaceTracker`` plans.
///
/// A full search runs at once, in the step that asks for it, so a step may take as long as a search
/// of the whole picture.
package struct FaceScene: Sendable {
  /// The number of pictures that are kept, from which faces can be followed.
  package static let pictureLimit = 8

  /// The error of the latest search of the whole picture; `nil` if it succeeded.
  package private(set) var searchError: (any Error)?
  private let configuration: FaceTracker.Configuration
  private var finder: any FaceFinder
  private var points: any PointTracker
  private var tracker: FaceTracker?
  private var pictures: [(frame: SceneTime, picture: LumaPicture)] = []
  private var report = FaceReport(frame: SceneTime(index: 0, time: .zero))

  /// - Parameters:
  ///   - finder: The finder of faces. The scene is its only user.
  ///   - points: The optical flow.
  ///   - configuration: The settings of the tracker.
  package init(
    finder: any FaceFinder, points: any PointTracker,
    configuration: FaceTracker.Configuration = FaceTracker.Configuration()
  ) {
    self.finder = finder
    self.points = points
    self.configuration = configuration
  }

  /// Finds and follows the faces of the next picture.
  ///
  /// After a cut, and in a picture of another size, all faces have new ids.
  ///
  /// - Parameters:
  ///   - picture: The reduced frame, as displayed.
  ///   - color: The same frame in colour, if the finder needs it.
  ///   - frame: The frame. One that is not later than the last is ignored.
  /// - Returns: The faces, in the picture's pixels; those of the last frame if this one is ignored.
  package mutating func step(
    _ picture: LumaPicture, color: ColorPicture? = nil, at frame: SceneTime
  ) -> FaceReport {
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
    }
    // The tracker ignores optical flow over such a gap, so that only searches find moving faces.
    if let last, frame.time - last.frame.time > FaceTracker.maximumGap { tracker.requestSearch() }
    let plan = tracker.advance(to: frame, flow: self.flow(of: tracker.followTargets, to: picture))
    for look in plan.looks {
      tracker.record(FaceTracker.LookResult(look, self.search(look.search, picture, color).outcome))
    }
    if let full = plan.fullSearch {
      let (outcome, error) = self.search(full.search(in: picture), picture, color)
      self.searchError = error
      tracker.record(FaceTracker.SearchResult(full, outcome))
    }
    self.report = tracker.finish()
    self.tracker = tracker
    self.pictures.append((frame, picture))
    if self.pictures.count > Self.pictureLimit { self.pictures.removeFirst() }
    return self.report
  }

  /// Whether two pictures show the same scene.
  private static func continues(_ before: LumaPicture, _ picture: LumaPicture) -> Bool {
    picture.meanChange(from: before).map { $0 <= FacePrivacy.cutChange } ?? false
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
      // Together, because optical flow prepares both pictures for each call.
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

  private mutating func search(
    _ search: FaceSearch, _ picture: LumaPicture, _ color: ColorPicture?
  ) -> (outcome: SearchOutcome, error: (any Error)?) {
    do {
      return (.found(try self.finder.faces(in: picture, color: color, search: search)), nil)
    } catch {
      return (.failed, error)
    }
  }
}
