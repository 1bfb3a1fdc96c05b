import Synchronization

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

/// Where a catalogue finds the assets that pipelines name.
///
/// Asked while a pipeline is resolved, never while a frame is computed. May be asked on any thread,
/// several at a time, and must answer at once: what is to be fetched or decoded is fetched and
/// decoded before.
public protocol AssetProvider: Sendable {
  /// The asset of that name; `nil` if there is none.
  func asset(named name: String) -> Asset?

  /// The names that there are, for messages that suggest the nearest one. May be empty.
  var names: [String] { get }
}

/// Assets in memory, by name.
public final class AssetStore: AssetProvider {
  private let assets: Mutex<[String: Asset]>

  /// A store with the given assets.
  public init(_ assets: [String: Asset] = [:]) {
    self.assets = Mutex(assets)
  }

  /// The asset of that name; `nil` if there is none.
  public func asset(named name: String) -> Asset? {
    self.assets.withLock { $0[name] }
  }

  /// The names that there are, sorted.
  public var names: [String] { self.assets.withLock { $0.keys.sorted() } }

  /// Puts an asset under a name; pipelines that were resolved before keep the one that they found.
  public func put(_ asset: Asset, named name: String) {
    self.assets.withLock { $0[name] = asset }
  }

  /// Removes what has the name.
  ///
  /// - Returns: What was removed; `nil` if there was nothing.
  @discardableResult
  public func remove(named name: String) -> Asset? {
    self.assets.withLock { $0.removeValue(forKey: name) }
  }
}

/// Something that an asset keeps for as long as it lives, so that whoever counts its memory learns from
/// `deinit` that nothing holds it any more: no name, no session and no plan.
package protocol AssetLease: AnyObject, Sendable {}
