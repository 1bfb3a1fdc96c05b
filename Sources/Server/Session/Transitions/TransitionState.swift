package import SidelightKernels
package import SidelightWire

/// A gradual change of the pipeline, frame by frame. A pure state machine; callers pass the times
/// of frames in.
///
/// The first frame is the origin of its time: by its capture time, else by its arrival. The
/// progress of later frames is the curve at the elapsed share of the duration. It never decreases.
package struct TransitionState: Sendable {
  /// The work of frames before the end.
  package enum Kind: Sendable, Hashable {
    /// The mix of both results.
    case mix(PipelineTransition.Style)
    /// The pipeline with parameters in between.
    case glide
    /// The earlier result: it hides parts of the frame that the later one shows.
    case hold
    /// The later result, for a known reason.
    case cut(TransitionEnd)
  }

  /// The position of a frame in the transition.
  package enum Position: Sendable, Hashable {
    /// The progress, less than 1.
    case at(Double)
    /// The transition is over with this frame.
    case ended(TransitionEnd)
  }

  /// The number of consecutive frames whose capture time may stay the same.
  private static let maxStandingFrames = 100

  package let earlier: ResolvedPipeline
  package let kind: Kind
  /// The later revision.
  package private(set) var revision: Revision
  package let duration: Duration
  private let curve: TransitionCurve
  /// The progress of the latest frame.
  package private(set) var progress = 0.0
  /// The time of the first frame, in nanoseconds.
  private var origin: Int64?
  private var usesCaptureTime = false
  private var latest: Int64 = 0
  private var standingFrames = 0

  /// Creates the transition of a change.
  package init(
    from earlier: ResolvedPipeline, to later: ResolvedPipeline,
    _ transition: RequestedTransition, revision: Revision
  ) {
    self.earlier = earlier
    self.revision = revision
    switch transition {
    case .mix(let transition):
      (self.duration, self.curve) = (transition.duration, transition.curve)
    case .glide(let glide): (self.duration, self.curve) = (glide.duration, glide.curve)
    }
    if earlier == later {
      self.kind = .cut(.completed)
    } else if later.protects {
      self.kind = .cut(.protection)
    } else if earlier.protects {
      self.kind = .hold
    } else {
      switch transition {
      case .mix(let transition): self.kind = .mix(transition.style)
      case .glide: self.kind = .glide
      }
    }
  }

  /// Leads to another revision, at the same time.
  package mutating func lead(to revision: Revision) {
    self.revision = revision
  }

  /// Records a frame, and returns its position.
  ///
  /// - Parameters:
  ///   - captureTime: The capture time, in nanoseconds, or 0 if it is not known.
  ///   - arrival: The time of arrival, on the session's clock.
  package mutating func advance(captureTime: Int64, arrival: Duration) -> Position {
    if case .cut(let end) = self.kind { return .ended(end) }
    let end = self.kind == .hold ? TransitionEnd.protection : .completed
    if self.origin == nil { self.usesCaptureTime = captureTime != 0 }
    // A frame without a capture time has the previous frame's time.
    let time =
      self.usesCaptureTime
      ? (captureTime == 0 ? self.latest : captureTime) : Int64(arrival / .nanoseconds(1))
    guard let origin else {
      (self.origin, self.latest) = (time, time)
      return .at(0)
    }
    let (elapsed, isOverflow) = time.subtractingReportingOverflow(origin)
    guard time >= self.latest, !isOverflow else { return .ended(.captureTime) }
    self.standingFrames = time > self.latest ? 0 : self.standingFrames + 1
    guard !self.usesCaptureTime || self.standingFrames < Self.maxStandingFrames else {
      return .ended(.captureTime)
    }
    self.latest = time
    let duration = self.duration / .nanoseconds(1)
    guard Double(elapsed) < duration else { return .ended(end) }
    self.progress = self.curve(Double(elapsed) / duration)
    // A curve may round to 1 before the end.
    return .at(min(self.progress, 1.0.nextDown))
  }
}

/// The position of a frame in a transition.
package struct TransitionMoment: Sendable {
  /// The transition's earlier pipeline.
  package var earlier: ResolvedPipeline
  package var kind: TransitionState.Kind
  /// 0 ..< 1.
  package var progress: Double
  /// The pipeline with parameters in between, or `nil` for other transitions than glides, and if
  /// the pipelines differ in more than numbers.
  package var between: ResolvedPipeline?
}
