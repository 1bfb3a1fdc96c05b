/// The presence of faces over time.
///
/// A face is present after it was tracked for ``arrivalTime``, and has left after it was not
/// tracked for ``departureTime``. Times count from the first and to the last frame that shows it. A
/// person who leaves and returns has a new id. If the tracker returns an id after the face has
/// left, which happens when few frames are added, the same presence continues.
package struct FaceAttendance: Sendable {
  /// A change of presence.
  package enum Event: Sendable, Hashable {
    /// A face is present.
    case present(FaceID)
    /// A face has left, after it was present for a time.
    case left(FaceID, present: Duration)
  }

  /// A face that is, or was, present.
  package struct Presence: Sendable, Hashable {
    package let id: FaceID
    /// The time of its first frame, since the start of the session.
    package let first: Duration
    /// The time of its last frame.
    package fileprivate(set) var last: Duration
    package fileprivate(set) var hasLeft = false

    /// The time between its first and its last frame.
    package var duration: Duration { self.last - self.first }
  }

  /// The time after which a face is present.
  package static let arrivalTime = Duration.seconds(1)
  /// The time without a face after which it has left.
  package static let departureTime = Duration.seconds(2)
  /// The maximum number of faces that have left and are still listed; the earliest are removed.
  package static let departedLimit = 64

  /// The number of faces in the last frame.
  package private(set) var faces = 0
  /// The number of faces that have been present since the start.
  package private(set) var facesSeen = 0
  /// The faces that are or were present, in order of arrival.
  package private(set) var presences: [Presence] = []
  /// The faces that are not present yet.
  private var arriving: [Presence] = []

  package init() {}

  /// Adds a frame.
  ///
  /// - Parameters:
  ///   - faces: The confirmed faces of the frame.
  ///   - time: The frame's time since the start of the session. A time before an earlier frame's
  ///     time counts as the earlier frame's time.
  /// - Returns: The changes, departures first.
  package mutating func add(_ faces: [TrackedFace], at time: Duration) -> [Event] {
    self.faces = faces.count
    var (events, returned): ([Event], [Event]) = ([], [])
    let ids = Set(faces.map(\.id))
    for index in self.presences.indices {
      let presence = self.presences[index]
      if ids.contains(presence.id) {
        self.presences[index].last = max(presence.last, time)
        if presence.hasLeft {
          self.presences[index].hasLeft = false
          returned.append(.present(presence.id))
        }
      } else if !presence.hasLeft, time - presence.last >= Self.departureTime {
        self.presences[index].hasLeft = true
        events.append(.left(presence.id, present: presence.duration))
      }
    }
    events += returned
    self.arriving.removeAll {
      !ids.contains($0.id) && time - $0.last >= Self.departureTime
    }
    let listed = Set(self.presences.lazy.filter { !$0.hasLeft }.map(\.id))
    for id in ids.subtracting(listed).sorted() {
      let index =
        self.arriving.firstIndex { $0.id == id }
        ?? {
          self.arriving.append(Presence(id: id, first: time, last: time))
          return self.arriving.endIndex - 1
        }()
      self.arriving[index].last = max(self.arriving[index].last, time)
      guard self.arriving[index].duration >= Self.arrivalTime else { continue }
      self.presences.append(self.arriving.remove(at: index))
      self.facesSeen += 1
      events.append(.present(id))
    }
    let departed = self.presences.count { $0.hasLeft }
    if departed > Self.departedLimit {
      var surplus = departed - Self.departedLimit
      self.presences.removeAll { presence in
        guard surplus > 0, presence.hasLeft else { return false }
        surplus -= 1
        return true
      }
    }
    return events
  }
}
