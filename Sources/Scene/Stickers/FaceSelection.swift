/// The faces that a stage applies to.
package enum FaceChoice: Sendable, Hashable {
  /// The largest face.
  case largest
  /// Every face.
  case all
  /// The face with this id.
  case id(FaceID)
}

/// Selects faces frame by frame.
///
/// The largest face remains selected until another is ``advantage`` times as large, to keep the
/// selection from alternating between two faces of about the same size.
package struct FaceSelection: Sendable, Hashable {
  /// The ratio of sizes at which a larger face takes over.
  package static let advantage = 1.15

  package let choice: FaceChoice
  private var current: FaceID?

  package init(_ choice: FaceChoice) {
    self.choice = choice
  }

  /// Returns the selected faces of a frame, in the given order.
  package mutating func select(_ faces: [TrackedFace]) -> [TrackedFace] {
    switch self.choice {
    case .all: return faces
    case .id(let id): return faces.filter { $0.id == id }
    case .largest:
      guard let largest = faces.max(by: { $0.box.size < $1.box.size }) else {
        self.current = nil
        return []
      }
      let current = faces.first { $0.id == self.current }
      let selected =
        current.flatMap { largest.box.size < Self.advantage * $0.box.size ? $0 : nil } ?? largest
      self.current = selected.id
      return [selected]
    }
  }
}

/// The opacity of a stage's drawing on a face: it rises while the face is selected, and falls
/// afterwards, at the face's last position.
///
/// Opacity changes by `elapsed / fade` per frame, between 0 and 1. With a fade of 0 it is 0 or 1.
package struct FaceFade: Sendable {
  /// A face to draw on.
  package struct Item: Sendable, Hashable {
    package let id: FaceID
    /// The face's position, or its last one.
    package fileprivate(set) var box: FaceBox
    /// More than 0, at most 1.
    package fileprivate(set) var opacity: Double
  }

  /// The time from invisible to opaque. A change applies from the next frame on.
  package var fade: Duration
  private var items: [Item] = []
  private var last: Duration?

  /// - Parameter fade: The time from invisible to opaque; 0 draws and removes at once.
  package init(fade: Duration) {
    self.fade = fade
  }

  /// Adds a frame.
  ///
  /// - Parameters:
  ///   - faces: The selected faces.
  ///   - time: The frame's time since the start of the session.
  /// - Returns: The faces to draw on, by id; an empty result leaves the frame unchanged.
  package mutating func add(_ faces: [TrackedFace], at time: Duration) -> [Item] {
    let elapsed = self.last.map { max(.zero, time - $0) } ?? .zero
    self.last = time
    let change = self.fade > .zero ? elapsed / self.fade : 1
    for index in self.items.indices where !faces.contains(where: { $0.id == self.items[index].id })
    {
      self.items[index].opacity -= change
    }
    for face in faces {
      if let index = self.items.firstIndex(where: { $0.id == face.id }) {
        self.items[index].box = face.box
        self.items[index].opacity = min(1, max(0, self.items[index].opacity) + change)
      } else {
        self.items.append(Item(id: face.id, box: face.box, opacity: self.fade > .zero ? 0 : 1))
      }
    }
    let present = Set(faces.map(\.id))
    self.items.removeAll { $0.opacity <= 0 && !present.contains($0.id) }
    self.items.sort { $0.id < $1.id }
    return self.items.filter { $0.opacity > 0 }
  }
}
