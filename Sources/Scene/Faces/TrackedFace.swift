package import SidelightKernels

/// The number of a face in a session, from 1. A face that is lost for less than
/// ``FaceTracker/returnTime`` keeps it, if another face cannot have taken its position. Otherwise a
/// number is never used again, even if the same person returns.
package struct FaceID: Sendable, Hashable, Comparable {
  package let value: Int

  package init(_ value: Int) {
    self.value = value
  }

  package static func < (left: FaceID, right: FaceID) -> Bool {
    left.value < right.value
  }
}

/// The position of a frame in its session.
package struct SceneTime: Sendable, Hashable {
  /// The frame's number, ``FrameTime/index``.
  package var index: UInt64
  /// The frame's time since the start of the session.
  package var time: Duration
  /// The capture time in nanoseconds, ``FrameDetails/captureNanoseconds``; 0 if it is not known.
  package var captureNanoseconds: Int64

  package init(index: UInt64, time: Duration, captureNanoseconds: Int64 = 0) {
    self.index = index
    self.time = time
    self.captureNanoseconds = captureNanoseconds
  }
}

/// A tracked face in one frame, in the pixels of the reduced picture.
package struct TrackedFace: Sendable, Hashable {
  package let id: FaceID
  /// The number of the track, which is never used again: a lost face that returns with its id has
  /// another one. Privacy filters use it.
  package let track: Int
  /// The position after the one-euro filter: steady, and up to a frame late. Stickers use it.
  package let box: FaceBox
  /// The position before the filter. Privacy filters use it.
  package let rawBox: FaceBox
  /// How sure the finder was, averaged over detections and reduced by missed looks, 0 to 1.
  package let confidence: Double
  /// Whether the face was detected often enough to be reported.
  package let isConfirmed: Bool
  /// Whether the position is known: optical flow has succeeded in every frame since the last
  /// detection.
  package let isFollowed: Bool
  /// The frame in which the face was first detected.
  package let firstDetection: SceneTime
  /// The frame since which the position is known without a gap: the frame of the first detection,
  /// or of the detection that found the face again after optical flow had lost it.
  package let locatedSince: SceneTime
  /// The frame in which the face was last detected.
  package let lastDetection: SceneTime
  /// The number of tracked frames since the last detection; 0 if detected in this frame.
  package let age: Int
  /// The number of searches for this face, since the last detection, that did not find it.
  package let missedLooks: Int
  /// The movement of ``rawBox`` since the previous frame, in pixels.
  package let displacement: PicturePoint
  /// The filtered speed in face widths per second.
  package let speed: Double

  package init(
    id: FaceID, track: Int, box: FaceBox, rawBox: FaceBox, confidence: Double, isConfirmed: Bool,
    isFollowed: Bool, firstDetection: SceneTime, locatedSince: SceneTime,
    lastDetection: SceneTime, age: Int, missedLooks: Int, displacement: PicturePoint, speed: Double
  ) {
    self.id = id
    self.track = track
    self.box = box
    self.rawBox = rawBox
    self.confidence = confidence
    self.isConfirmed = isConfirmed
    self.isFollowed = isFollowed
    self.firstDetection = firstDetection
    self.locatedSince = locatedSince
    self.lastDetection = lastDetection
    self.age = age
    self.missedLooks = missedLooks
    self.displacement = displacement
    self.speed = speed
  }
}

/// The result of ``FaceTracker`` for one frame.
package struct FaceReport: Sendable, Hashable {
  /// The state of full searches.
  package struct SearchStatus: Sendable, Hashable {
    /// The full searches that have succeeded since the previous report.
    package var completed: [FullSearch] = []
    /// Whether a full search of this frame was started.
    package var isStarted = false
    /// The latest frame with a successful full search.
    package var lastSuccess: SceneTime?
    /// Whether the latest full search failed, or took longer than the tracker waits.
    package var isFailing = false
    /// Per search angle, the latest frame with a search that found only known faces, without a new
    /// face since; `nil` before such a search.
    package var emptySince: [SceneTime?] = FaceTracker.searchAngles.map { _ in nil }

    package init() {}

    /// Whether searches at every angle, of this frame or later ones, found only known faces,
    /// without a new face since.
    package func foundNothingNew(since frame: SceneTime) -> Bool {
      self.emptySince.allSatisfy { $0.map { $0.index >= frame.index } ?? false }
    }

    /// Whether a face is unlikely to be another object: the picture was searched since the face was
    /// located, and would have shown the face elsewhere.
    package func verifies(_ face: TrackedFace) -> Bool {
      self.foundNothingNew(since: face.locatedSince)
    }
  }

  package var frame: SceneTime
  /// The confirmed faces, by id.
  package var faces: [TrackedFace] = []
  /// The faces that were detected once, by id. They are not reported to clients.
  package var candidates: [TrackedFace] = []
  /// The state of full searches.
  package var search = SearchStatus()
  /// Whether a search for a known face failed in this frame.
  package var hasFailedLook = false
  /// Whether the last full search found more faces than the tracker follows.
  package var isFull = false
  /// The motion of the picture since the last frame in which a full search was started; `nil` if it
  /// is unknown, or without protecting stages.
  package var motion: ContentMotion?

  package init(frame: SceneTime) {
    self.frame = frame
  }
}
