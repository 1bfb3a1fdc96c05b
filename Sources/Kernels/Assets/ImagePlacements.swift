import Synchronization

/// Where an image was brought into frames lately, so that a change of another parameter (the
/// opacity of a sticker, say) does not resample it anew.
///
/// Knows a few, the latest, and holds none: the plans that use them do. So images that are kept cost
/// no more than their own pixels, however large the frames are that they were laid over.
final class ImagePlacements: Sendable {
  /// All that a placed image depends on.
  struct Key: Sendable, Hashable {
    let x, y, width, height: Double
    let fit: PictureFit
    let size: FrameSize
    let space: WorkingSpace
  }

  /// The most that are known.
  static let capacity = 4

  private struct Entry {
    let key: Key
    weak var image: PlacedImage?
  }

  private struct State {
    var latest: [Entry] = []
    var made = 0
  }

  private let state = Mutex(State())

  /// How often the image was resampled, or taken over as it is.
  var made: Int { self.state.withLock(\.made) }

  /// The image at a place: the one that is there, or else a new one.
  ///
  /// - Parameter make: Called outside the lock; `nil` if nothing of the image is in the frame.
  func image(_ key: Key, make: () -> PlacedImage?) -> PlacedImage? {
    let found = self.state.withLock { state -> PlacedImage? in
      state.latest.removeAll { $0.image == nil }
      guard let index = state.latest.firstIndex(where: { $0.key == key }) else { return nil }
      let entry = state.latest.remove(at: index)
      state.latest.append(entry)
      return entry.image
    }
    if let found { return found }
    guard let image = make() else { return nil }
    self.state.withLock { state in
      if state.latest.count == Self.capacity { state.latest.removeFirst() }
      state.latest.append(Entry(key: key, image: image))
      state.made += 1
    }
    return image
  }
}

extension ImageAsset {
  /// How often the image was brought into frames: plans that differ in other parameters share it.
  package var placementsMade: Int { self.placements.made }

  /// The image brought into a rectangle of frames of a size, in a working space.
  ///
  /// - Returns: `nil` if nothing of it is in the frame.
  func placed(
    x: Double, y: Double, width: Double, height: Double, fit: PictureFit, in size: FrameSize,
    _ space: WorkingSpace
  ) -> PlacedImage? {
    let key = ImagePlacements.Key(
      x: x, y: y, width: width, height: height, fit: fit, size: size, space: space)
    return self.placements.image(key) {
      PlacedImage(self, x: x, y: y, width: width, height: height, fit: fit, in: size, space)
    }
  }
}
