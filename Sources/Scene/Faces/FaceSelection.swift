import SidelightKernels

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
