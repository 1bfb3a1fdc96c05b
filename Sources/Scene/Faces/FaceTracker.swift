import SidelightKernels

/// The faces of a session: a state machine that joins optical flow, searches for known faces and
/// searches of the whole picture, and that plans which search comes next.
///
/// It doesn't read pixels or clocks. For every frame the caller
///
/// 1. passes the results of full searches of earlier frames to ``record(_:)-(SearchResult)``,
/// 2. follows all of ``followTargets`` into the frame by using optical flow,
/// 3. calls ``advance(to:flow:)``, and runs the searches of the plan that it returns,
/// 4. passes the results of the looks to ``record(_:)-(LocalSearchResult)``, and the result of a
///    full search that ran at once,
/// 5. calls ``finish()``.
///
/// A new session, and a picture of another size, need a new tracker or ``reset(width:height:)``.
///
/// - A detection that doesn't match a known face starts a candidate. A second one in a later frame,
///   within ``confirmationTime``, confirms it.
/// - A detection moves a face that flow follows by 35 % of the difference, and a face that flow has
///   lost all the way.
/// - A face is dropped after ``missedLookLimit`` looks without a detection, and when its centre
///   leaves the picture.
/// - A face that was dropped inside the picture is lost: if it is confirmed again in the same place
///   within ``returnTime``, it has its id again, on a new track (`LostFaces`). A tracker that
///   protects searches no more for lost faces than for others.
/// - Detections match faces by using overlap or distance (`FaceMatching`), also at the place of the
///   last detection if looks have missed: flow may have followed a hand that covered the face.
/// - Positions are filtered once per frame (``FaceBoxFilter``).
package struct FaceTracker: Sendable {
  /// Settings of a tracker.
  package struct Configuration: Sendable, Hashable {
    /// Whether a stage of the pipeline protects faces: searches then run more often.
    package var protects: Bool
    /// The maximum number of faces, including candidates.
    package var maxFaces: Int
    /// The minimum size of faces that full searches look for, as a share of the picture's height.
    package var minSize: Double

    package init(protects: Bool = false, maxFaces: Int = 8, minSize: Double = 0.125) {
      self.protects = protects
      self.maxFaces = maxFaces
      self.minSize = minSize
    }
  }

  /// The angles of full searches, in turn: 0, -25 and 25 degrees, in radians.
  package static let searchAngles = [0, -25 * Double.pi / 180, 25 * Double.pi / 180]
  /// The time within which a second detection confirms a candidate, unless frames are farther
  /// apart.
  package static let confirmationTime = Duration.seconds(1)
  /// The number of looks without a detection after which a face is dropped.
  package static let missedLookLimit = 9
  /// The time since its last report within which a lost face keeps its id.
  package static let returnTime = Duration.seconds(2)
  /// The longest time between frames over which faces are followed.
  package static let maximumGap = Duration.milliseconds(500)
  /// The time after which a full search without a result counts as failed.
  package static let searchTimeout = Duration.seconds(2)
  /// The number of frames between looks at a candidate.
  private static let candidateInterval = 3
  /// The number of frames with kept times, for results of full searches.
  private static let frameLimit = 128

  /// The settings. A change applies from the next frame on.
  package var configuration: Configuration
  private var width: Int
  private var height: Int
  private var tracks: [FaceTrack] = []
  private var lost = LostFaces()
  private var frames: [SceneTime] = []
  private var step = 0
  private var lastNumber = 0
  private var schedule = FullSearchSchedule()
  private var elapsed = Duration.zero
  private var report = FaceReport(frame: SceneTime(index: 0, time: .zero))

  /// - Parameters:
  ///   - configuration: The settings.
  ///   - width: The width of the reduced picture.
  ///   - height: Its height.
  package init(_ configuration: Configuration = Configuration(), width: Int, height: Int) {
    precondition(width > 0 && height > 0)
    self.configuration = configuration
    self.width = width
    self.height = height
  }

  /// The number of frames between looks at a face that flow follows.
  package var lookInterval: Int { self.configuration.protects ? 3 : 6 }

  /// Forgets all faces, frames and searches, for example after a cut. Numbers continue.
  package mutating func reset(width: Int, height: Int) {
    precondition(width > 0 && height > 0)
    self.width = width
    self.height = height
    self.tracks = []
    self.lost = LostFaces()
    self.frames = []
    self.schedule.reset()
    self.elapsed = .zero
    self.report.search = FaceReport.SearchStatus()
    self.report.isFull = false
  }

  /// Makes a full search due in the next frame.
  package mutating func requestSearch() {
    self.schedule.request()
  }

  /// Takes back a full search that was planned and cannot run now. It is due again in the next
  /// frame.
  package mutating func postpone(_ search: FullSearch) {
    self.schedule.postpone(search)
    self.report.search.isStarted = false
  }

  /// The faces to follow into the next frame.
  package var followTargets: [FollowTarget] {
    self.tracks.map { FollowTarget(face: $0.id, box: $0.box, frame: $0.located) }
  }

  /// Moves all faces into the next frame.
  ///
  /// - Parameters:
  ///   - frame: The frame. One that is not later than the last is ignored.
  ///   - flow: The movements of ``followTargets``; a missing entry says that optical flow failed.
  /// - Returns: The searches that are due.
  package mutating func advance(
    to frame: SceneTime, flow: [FaceID: SimilarityTransform]
  ) -> SearchPlan {
    if let last = self.frames.last {
      guard frame.index > last.index, frame.time > last.time else { return SearchPlan() }
      self.elapsed = frame.time - last.time
    }
    self.frames.append(frame)
    if self.frames.count > Self.frameLimit { self.frames.removeFirst() }
    self.step += 1
    self.report.frame = frame
    let isContinuous = self.elapsed <= Self.maximumGap
    for index in self.tracks.indices {
      let transform = isContinuous ? flow[self.tracks[index].id] : nil
      self.tracks[index].follow(transform, to: frame)
    }
    self.tracks = self.tracks.filter { self.contains($0.box.center) }
    if self.schedule.expire(at: frame.time) { self.report.search.isFailing = true }
    var plan = SearchPlan()
    plan.looks = self.tracks.compactMap { self.look(for: $0) }
    self.lost.expire(at: frame.time)
    if !self.configuration.protects {
      self.lost.nextLook(step: self.step, at: frame.time).map { plan.looks.append($0) }
    }
    plan.fullSearch = self.schedule.next(
      in: frame, step: self.step, interval: self.searchInterval,
      minimumSize: self.configuration.minSize * Double(self.height))
    self.report.search.isStarted = plan.fullSearch != nil
    return plan
  }

  /// Applies the result of a search for one face in the current frame.
  package mutating func record(_ result: LocalSearchResult) {
    guard let frame = self.frames.last else { return }
    guard let index = self.tracks.firstIndex(where: { $0.id == result.look.face }) else {
      // A look at a lost face may find another one.
      if self.lost.contains(result.look.face), case .found(let faces) = result.outcome {
        let detections = faces.plausible(width: self.width, height: self.height)
        _ = self.addCandidates(detections, at: frame)
      }
      return
    }
    self.tracks[index].lastLookStep = self.step
    guard case .found(let faces) = result.outcome else {
      self.report.hasFailedLook = true
      self.tracks[index].miss(in: frame.index)
      return
    }
    var detections = faces.plausible(width: self.width, height: self.height)
    if let best = self.best(of: detections, for: index, look: result.look) {
      self.tracks[index].detect(
        detections.remove(at: best), at: frame, confirmedWithin: self.confirmationWindow)
    } else {
      self.tracks[index].miss(in: frame.index)
    }
    _ = self.addCandidates(detections, at: frame)
  }

  /// Applies the result of a full search of the current or an earlier frame.
  ///
  /// The search of a frame before the last reset, or too old to be related to the current one, is
  /// ignored.
  package mutating func record(_ result: SearchResult) {
    self.schedule.finish(searchOf: result.search.frame)
    guard let frame = self.frames.first(where: { $0.index == result.search.frame }) else { return }
    guard case .found(let faces) = result.outcome else {
      self.report.search.isFailing = true
      return
    }
    let detections = faces.plausible(width: self.width, height: self.height)
    let boxes = detections.map(FaceBox.init)
    var (known, matched) = (Set<Int>(), Set<Int>())
    // The position in the searched frame, then the last detection's, then the surroundings of a
    // face that flow has lost.
    let rules: [(place: (FaceTrack) -> FaceBox?, distance: Double)] = [
      ({ $0.box(in: frame.index) }, FaceMatching.maximumDistance),
      ({ $0.missedLooks > 0 ? $0.detectedBox : nil }, FaceMatching.maximumDistance),
      ({ $0.isFollowed ? nil : $0.box }, LocalLook.windowShare / 2),
    ]
    for rule in rules {
      let places = self.tracks.indices.map {
        known.contains($0) ? nil : rule.place(self.tracks[$0])
      }
      let rest = boxes.indices.filter { !matched.contains($0) }
      let pairs = FaceMatching.pairs(
        known: places, detections: rest.map { boxes[$0] }, maximumDistance: rule.distance)
      for (track, detection) in pairs {
        self.tracks[track].detect(
          detections[rest[detection]], at: frame, confirmedWithin: self.confirmationWindow)
        known.insert(track)
        matched.insert(rest[detection])
      }
    }
    let unmatched = detections.indices.filter { !matched.contains($0) }.map { detections[$0] }
    let (added, ignored) = self.addCandidates(unmatched, at: frame)
    self.report.isFull = ignored > 0
    self.report.search.isFailing = false
    self.report.search.completed.append(result.search)
    if frame.index >= self.report.search.lastSuccess?.index ?? 0 {
      self.report.search.lastSuccess = frame
    }
    if added + ignored > 0 {
      self.report.search.emptySince = Self.searchAngles.map { _ in nil }
    } else if let angle = Self.searchAngles.firstIndex(of: result.search.angle) {
      self.report.search.emptySince[angle] = frame
    }
  }

  /// Ends the frame: drops, merges and filters faces.
  package mutating func finish() -> FaceReport {
    defer {
      self.report.search.completed = []
      self.report.hasFailedLook = false
    }
    guard let frame = self.frames.last else { return self.report }
    let known = self.tracks
    // Candidates too: a time limit would drop those that no look had the time to confirm.
    self.tracks = self.tracks.filter {
      $0.missedLooks < Self.missedLookLimit && self.contains($0.box.center)
    }
    self.tracks = self.tracks.merged()
    self.lose(known, at: frame)
    self.nameConfirmed(at: frame)
    let ages = self.tracks.map { track in
      self.frames.reduce(0) { $0 + ($1.index > track.lastDetection.index ? 1 : 0) }
    }
    let faces = self.tracks.indices.map { index in
      self.tracks[index].finish(elapsed: self.elapsed, age: ages[index])
    }
    self.report.faces = faces.filter(\.isConfirmed)
    self.report.candidates = faces.filter { !$0.isConfirmed }
    return self.report
  }

  /// Remembers the reported faces that this frame drops, unless they have left the picture.
  private mutating func lose(_ known: [FaceTrack], at frame: SceneTime) {
    for track in known
    where track.isNamed && self.contains(track.box.center)
      && !self.tracks.contains(where: { $0.number == track.number })
    {
      self.lost.add(
        track, reported: frame.time - self.elapsed, step: self.step,
        limit: self.configuration.maxFaces)
    }
  }

  /// Decides the ids of the faces that this frame confirms.
  private mutating func nameConfirmed(at frame: SceneTime) {
    let new = self.tracks.indices.filter {
      self.tracks[$0].isConfirmed && !self.tracks[$0].isNamed
    }
    guard !new.isEmpty else { return }
    let ids = self.lost.ids(
      of: new.map { self.tracks[$0].box },
      candidates: self.tracks.filter { !$0.isConfirmed }.map(\.box),
      hidden: self.tracks.filter { $0.isNamed && $0.missedLooks > 0 }.map(LostFaces.Hidden.init),
      at: frame.time)
    for (index, id) in zip(new, ids) { self.tracks[index].name(id) }
    self.tracks.sort { $0.id < $1.id }
  }

  /// The time within which a second detection confirms a candidate: long enough for two looks, so
  /// faces are also reported in a session with a frame every few seconds.
  private var confirmationWindow: Duration {
    max(Self.confirmationTime, self.elapsed * (2 * Self.candidateInterval))
  }

  // MARK: - Planning

  /// The look that is due for a face; `nil` if no look is due.
  private func look(for track: FaceTrack) -> LocalLook? {
    let interval =
      !track.isFollowed
      ? 1 : min(self.lookInterval, track.isConfirmed ? .max : Self.candidateInterval)
    guard self.step - track.lastLookStep >= interval else { return nil }
    // Flow may have followed a hand: every second look is where the face was last seen.
    let moved = (track.box.center - track.detectedBox.center).length
    let looksBack = track.missedLooks % 2 == 1 && moved > track.detectedBox.size / 2
    return LocalLook(face: track.id, box: looksBack ? track.detectedBox : track.box)
  }

  /// The number of frames between full searches.
  private var searchInterval: Int {
    let confirmed = self.tracks.filter(\.isConfirmed)
    guard self.configuration.protects else { return confirmed.isEmpty ? 6 : 15 }
    let isUnsure =
      confirmed.isEmpty || confirmed.contains { !$0.isFollowed || $0.missedLooks >= 4 }
    return isUnsure ? 1 : 6
  }

  // MARK: - Detections

  /// Returns the index of the detection that a look was for.
  private func best(of detections: [DetectedFace], for index: Int, look: LocalLook) -> Int? {
    let boxes = detections.map(FaceBox.init)
    let places = self.tracks.enumerated().map { $0 == index ? look.box : $1.box as FaceBox? }
    let pairs = FaceMatching.pairs(known: places, detections: boxes)
    if let pair = pairs.first(where: { $0.known == index }) { return pair.detection }
    // Without flow the face may be anywhere in the window: the nearest that isn't another face.
    guard !self.tracks[index].isFollowed else { return nil }
    let others = self.tracks.indices.filter { $0 != index }.map { self.tracks[$0].box }
    return boxes.indices
      .filter { detection in
        !others.contains { FaceMatching.score($0, boxes[detection]) != nil }
          && (boxes[detection].center - look.box.center).length <= look.windowSide / 2
          && LocalLook.sizeShares.contains(boxes[detection].size / look.box.size)
      }
      .min {
        (boxes[$0].center - look.box.center).length < (boxes[$1].center - look.box.center).length
      }
  }

  /// Starts candidates for detections that aren't known faces, the largest first.
  ///
  /// - Returns: The numbers of candidates, and of faces that are too many.
  private mutating func addCandidates(
    _ detections: [DetectedFace], at frame: SceneTime
  ) -> (added: Int, ignored: Int) {
    var (added, ignored) = (0, 0)
    for detection in detections.sorted(by: { $0.size > $1.size }) {
      let box = FaceBox(detection)
      let isKnown = self.tracks.contains {
        FaceMatching.isDuplicate(box, of: $0.box(in: frame.index))
          || FaceMatching.isDuplicate(box, of: $0.box)
      }
      if isKnown { continue }
      guard self.tracks.count < self.configuration.maxFaces else {
        ignored += 1
        continue
      }
      self.lastNumber += 1
      self.tracks.append(FaceTrack(self.lastNumber, detection, at: frame, step: self.step))
      added += 1
    }
    return (added, ignored)
  }

  private func contains(_ point: PicturePoint) -> Bool {
    (0 ... Double(self.width)).contains(point.x) && (0 ... Double(self.height)).contains(point.y)
  }
}
