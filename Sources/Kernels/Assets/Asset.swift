/// Something that a filter uses beside the frame, decoded and ready.
///
/// Two assets are equal if they are the same object: an asset that was put again under the same name
/// is another one, and plans that were made with the old one are not taken for it.
public enum Asset: Sendable, Hashable {
  /// A picture: a sticker, a background, a mask.
  case image(ImageAsset)
  /// A colour lookup table.
  case cube(CubeAsset)

  /// The name that, where a filter composites with another picture, stands for the frame as it came
  /// in, before the first stage: `randomGenerator, multiplyCompositing(backgroundImage: source)`.
  /// Reserved: an asset of this name is never found.
  public static let sourceName = "source"

  /// What kinds of asset there are.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A picture.
    case image
    /// A colour lookup table.
    case cube
  }

  /// Whether somebody counts its memory.
  package var isLeased: Bool {
    switch self {
    case .image(let image): image.isLeased
    case .cube(let cube): cube.isLeased
    }
  }

  /// What kind this one is.
  public var kind: Kind {
    switch self {
    case .image: .image
    case .cube: .cube
    }
  }
}
