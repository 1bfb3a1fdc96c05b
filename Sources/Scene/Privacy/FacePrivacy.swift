import SidelightKernels

/// The rules of a privacy filter for covering faces: a state machine that errs towards covering.
///
/// ``coverage(of:picture:faces:)`` decides for every frame, and every doubt covers the whole frame:
///
/// 1. A missing picture, missing or old faces, and time that does not advance are faults.
/// 2. After the start, a fault, a cut, a change of size and a gap in time all content is unknown,
///    until a face is confirmed and verified, or ``Configuration/release`` ends it.
/// 3. A full search that failed, or is overdue, covers the whole frame until one succeeds.
/// 4. A confirmed face that the tracker drops, or finds at a place to which optical flow did not
///    lead, is lost. Its place is held and grows by 4 % per frame, until the tracker has found the
///    same face, or another appears there that was located after the lost one was last detected,
///    and that face is verified, or until ``Configuration/release`` ends it.
/// 5. A face is unsure if looks have missed it ``missedLookLimit`` times, if optical flow failed
///    without a later detection, or if its last detection is too many frames ago.
/// 6. Lost and unsure faces cover the whole frame, or with ``WhenUnsure/hold`` grow, unless their
///    places have kept their content since the last detection, and move only with the camera, or
///    optical flow follows the face and looks do not miss it: then they are covered where they are.
///    So are candidates that optical flow follows, growing while unsure: a single search has found
///    them, without a look that confirmed them.
/// 7. Otherwise every face, confirmed or candidate, is covered by an ellipse, and content that
///    changed since the last searches at every angle by rectangles (``UnsearchedContent``). Too
///    many of them, or an unsearched part of ``unseenLimit`` of the picture, cover the whole frame.
///
/// A face is verified when full searches of the picture at every angle, since it was located, have
/// found only known faces. Before, the finder may have mistaken another object for the face, which
/// is then not covered.
///
/// The half axes of an ellipse are `(1/2 + grow/2) s` and `(1/2 + grow) s` for the face width `s`,
/// 10 % more per missed look up to 60 %, plus the face's movement in this frame.
package struct FacePrivacy: Sendable {
  /// The behaviour for a face with an uncertain position.
  package enum WhenUnsure: String, Sendable, Hashable, CaseIterable {
    /// Covers the whole frame.
    case frame
    /// Covers the last place of the face, growing by 4 % per frame. The start, cuts, faults and
    /// failed searches still cover the whole frame.
    case hold
  }

  /// Settings of a privacy filter.
  package struct Configuration: Sendable, Hashable {
    /// The margin around a face in face widths, 0.1 to 1.
    package var grow: Double
    /// The coarseness of the mosaic, 1 to 4: a cell is `strength / 6` face widths wide.
    package var strength: Double
    package var whenUnsure: WhenUnsure
    /// The time without faces and motion after which a frame is shown again; `nil` disables this.
    package var release: Duration?
    /// The number of frames between looks at a face, ``FaceTracker/lookInterval``.
    package var lookInterval: Int

    /// Values beyond their ranges are clamped to them; a release of 0 or less is `nil`.
    package init(
      grow: Double = 0.24, strength: Double = 1, whenUnsure: WhenUnsure = .frame,
      release: Duration? = nil, lookInterval: Int = 3
    ) {
      self.grow = grow.isNaN ? 1 : min(max(grow, 0.1), 1)
      self.strength = strength.isNaN ? 4 : min(max(strength, 1), 4)
      self.whenUnsure = whenUnsure
      self.release = release.flatMap { $0 > .zero ? $0 : nil }
      self.lookInterval = max(1, lookInterval)
    }
  }

  /// The number of missed looks that makes a face unsure.
  package static let missedLookLimit = 4
  /// The number of look intervals without a detection that makes a face unsure.
  package static let staleIntervals = 5
  /// The age at which the last successful full search is overdue.
  package static let searchLimit = Duration.seconds(1)
  /// The longest time between frames over which knowledge is kept.
  package static let maximumGap = Duration.seconds(1)
  /// The unsearched area, as a share of the picture's, above which the whole frame is covered: a
  /// face that rushes through would be visible in the gaps.
  package static let unseenLimit = 0.35
  /// The maximum number of its rectangles.
  package static let rectangleLimit = 48
  /// The movement of the camera since the last searched picture, in pixels, above which it is the
  /// reason that the whole frame is covered.
  private static let cameraDistance: Float = 2
  /// The growth of a held place per frame.
  package static let heldGrowth = 1.04
  /// The maximum number of held places.
  package static let heldLimit = 16

  /// A state in which the whole frame is covered until a face is found.
  private struct Unknown {
    let reason: FaceCoverage.WholeFrameReason
    /// The first frame that provides evidence.
    var since: SceneTime
    /// The time since which the content has been at rest.
    var quietSince: Duration
  }

  /// The settings. A change keeps the known, held and unsure faces.
  package var configuration: Configuration
  private var unknown: Unknown?
  private var held = HeldFaces()
  private var confirmed: [TrackedFace] = []
  /// The growth of unsure faces, by their tracks.
  private var growth: [Int: Double] = [:]
  private var content = UnsearchedContent()
  /// Whether the last frame showed unsearched content.
  private var hasUnsearchedContent = false
  private var last: SceneTime?
  private var lastPicture: LumaPicture?

  package init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// Whether a full search should run as soon as possible. ``FaceTracker/requestSearch()``
  /// schedules it.
  package var needsSearch: Bool {
    self.unknown != nil || self.last == nil || !self.held.isAtRest || self.hasUnsearchedContent
  }

  /// Decides which part of a frame is covered.
  ///
  /// - Parameters:
  ///   - frame: The frame. Frames that are not filtered may be left out.
  ///   - picture: The reduced picture of the frame; `nil` if it could not be computed.
  ///   - faces: The tracker's report of the same frame; `nil` if tracking failed.
  package mutating func coverage(
    of frame: SceneTime, picture: LumaPicture?, faces report: FaceReport?
  ) -> FaceCoverage {
    guard let picture, let report, report.frame == frame, self.follows(frame) else {
      self.forget(.fault, at: frame)
      return .whole(.fault)
    }
    self.enter(frame, picture)
    self.hasUnsearchedContent = false
    self.content.add(picture, at: frame, motion: report.motion, search: report.search)
    self.holdLostFaces(report)
    self.held.follow(
      self.content, at: frame.time, growingBy: Self.heldGrowth, ellipse: self.cover(of:growth:))
    self.releaseFoundFaces(report)
    self.releaseEmptyPlaces(report)
    self.learnUnknown(report)
    self.confirmed = report.faces

    let known = report.faces + report.candidates
    let unsure = known.filter { self.isUnsure($0) && !self.isUnchanged($0) }
    self.growth = self.growth.filter { entry in unsure.contains { $0.track == entry.key } }
    for face in unsure { self.growth[face.track, default: 1] *= Self.heldGrowth }

    let ellipses = known.map { self.ellipse($0, growth: self.growth[$0.track] ?? 1) }
    if let unknown = self.unknown { return .whole(unknown.reason) }
    if report.search.isFailing || report.hasFailedLook { return .whole(.searchFailed) }
    guard let searched = report.search.lastSuccess, searched.index <= frame.index,
      frame.time - searched.time <= Self.searchLimit
    else { return .whole(.searchLate) }
    if report.isFull { return .whole(.tooManyFaces) }
    if self.configuration.whenUnsure == .frame {
      if !self.held.isAtRest { return .whole(.faceLost) }
      let isLosing = unsure.contains { face in
        !face.isFollowed || report.faces.contains { $0.track == face.track }
      }
      if isLosing { return .whole(.faceUncertain) }
    }
    let held = self.held.faces.flatMap { face in
      face.places.map { self.cover(of: $0, growth: face.growth) }
    }
    let places = ellipses + held
    let (unsearched, unseen) = self.content.regions { point in
      places.contains { $0.contains(point) }
    }
    self.hasUnsearchedContent = !unsearched.isEmpty
    guard unsearched.count <= Self.rectangleLimit,
      Double(unseen) <= Self.unseenLimit * Double(picture.width * picture.height)
    else {
      let isCamera = self.content.cameraDistance > Self.cameraDistance
      return .whole(isCamera ? .cameraMoves : .regionsMove)
    }
    let regions = places + unsearched.map { self.rectangle($0, picture) }
    return regions.allSatisfy(\.isValid) ? .regions(regions) : .whole(.fault)
  }

  // MARK: - State

  /// Whether a frame is later than the last.
  private func follows(_ frame: SceneTime) -> Bool {
    guard let last = self.last else { return true }
    return frame.index > last.index && frame.time > last.time
  }

  /// Compares a frame with the last one, and forgets outdated knowledge.
  private mutating func enter(_ frame: SceneTime, _ picture: LumaPicture) {
    if let last = self.last, let lastPicture = self.lastPicture {
      let change = picture.meanChange(from: lastPicture)
      let isCut = change.map { $0 > LumaPicture.cutChange } ?? true
      if isCut || frame.time - last.time > Self.maximumGap {
        // Another scene: the last scene's places are meaningless.
        self.forget(.searching, at: frame)
        self.held = HeldFaces()
        self.confirmed = []
        self.growth = [:]
        self.content.reset()
      }
    } else if self.unknown == nil {
      self.forget(.searching, at: frame)
    }
    self.last = frame
    self.lastPicture = picture
  }

  private mutating func forget(_ reason: FaceCoverage.WholeFrameReason, at frame: SceneTime) {
    // Evidence is newer than every frame so far, even if this one is out of order.
    let since = self.last.map { $0.index > frame.index ? $0 : frame } ?? frame
    self.unknown = Unknown(reason: reason, since: since, quietSince: since.time)
  }

  /// Holds the places of confirmed faces that the tracker has dropped, or found at another place.
  private mutating func holdLostFaces(_ report: FaceReport) {
    for face in self.confirmed where !report.faces.contains(where: face.isSame(as:)) {
      self.held.lose(face, growth: self.growth[face.track] ?? 1, at: report.frame)
    }
    if self.held.limit(to: Self.heldLimit) { self.forget(.searching, at: report.frame) }
  }

  /// Ends holding the places of faces that were found and verified.
  private mutating func releaseFoundFaces(_ report: FaceReport) {
    for face in report.faces where !self.confirmed.contains(where: face.isSame(as:)) {
      self.held.find(face, ellipse: self.cover(of:growth:))
    }
    self.held.releaseFound(report)
  }

  /// Ends holding a place without motion, and without a new face in any search at every angle, for
  /// the time of release.
  private mutating func releaseEmptyPlaces(_ report: FaceReport) {
    let now = report.frame.time
    guard let release = self.configuration.release else { return }
    let isEmpty = { (since: SceneTime) in
      report.candidates.isEmpty && report.search.foundNothingNew(since: since)
    }
    self.held.removeAll { held in
      now - held.since.time >= release && now - held.quietSince >= release
        && isEmpty(held.since)
    }
    if self.content.hasMotion(in: nil) { self.unknown?.quietSince = now }
    if let unknown = self.unknown, report.faces.isEmpty, now - unknown.since.time >= release,
      now - unknown.quietSince >= release, isEmpty(unknown.since)
    {
      self.unknown = nil
    }
  }

  /// Ends the state in which all content is unknown when a face is found and verified.
  private mutating func learnUnknown(_ report: FaceReport) {
    guard let unknown = self.unknown else { return }
    let isFound = report.faces.contains {
      $0.lastDetection.index >= unknown.since.index && report.search.verifies($0)
    }
    if isFound, report.search.foundNothingNew(since: unknown.since) { self.unknown = nil }
  }

  private func isUnsure(_ face: TrackedFace) -> Bool {
    face.missedLooks >= Self.missedLookLimit || !face.isFollowed
      || face.age > Self.staleIntervals * self.configuration.lookInterval
  }

  /// Whether the content of a face's place, which optical flow follows, is unchanged since the face
  /// was last detected.
  private func isUnchanged(_ face: TrackedFace) -> Bool {
    self.content.isUnchanged(
      self.ellipse(face, growth: 1), since: face.lastDetection,
      mayMove: face.isFollowed && face.missedLooks < Self.missedLookLimit)
  }

  // MARK: - Regions

  private func cover(of place: HeldFaces.Place, growth: Double) -> CoveredRegion {
    var region = self.ellipse(place.face, growth: growth)
    region.center = place.center
    return region
  }

  private func ellipse(_ face: TrackedFace, growth: Double) -> CoveredRegion {
    let missed = 1 + min(0.1 * Double(face.missedLooks), 0.6)
    let scale = missed * growth * face.rawBox.size
    let speed = face.displacement.length
    let grow = self.configuration.grow
    return CoveredRegion(
      shape: .ellipse, center: face.rawBox.center,
      radiusX: (0.5 + grow / 2) * scale + speed, radiusY: (0.5 + grow) * scale + speed,
      roll: face.rawBox.roll, cell: self.cell(face.rawBox.size))
  }

  /// A region in which a part of a face may be: its mosaic has the cells of a face as high as the
  /// picture.
  private func rectangle(_ region: UnsearchedContent.Region, _ picture: LumaPicture)
    -> CoveredRegion
  {
    let (width, height) = (
      region.x.upperBound - region.x.lowerBound, region.y.upperBound - region.y.lowerBound
    )
    return CoveredRegion(
      shape: .rectangle,
      center: PicturePoint(
        x: region.x.lowerBound + width / 2, y: region.y.lowerBound + height / 2),
      radiusX: width / 2, radiusY: height / 2, roll: 0,
      cell: self.cell(Double(picture.height)))
  }

  private func cell(_ size: Double) -> Double {
    self.configuration.strength * size / FaceCoverage.maximumCells
  }
}
