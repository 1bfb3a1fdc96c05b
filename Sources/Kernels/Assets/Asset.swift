import Synchronization

/// Decoded data that a filter uses in addition to the frame.
///
/// Two assets are equal if they are the same object. An asset that replaces another under the same
/// name is a different one, and does not reuse plans that use the old one.
public enum Asset: Sendable, Hashable {
  /// A picture: a sticker, a background, a mask.
  case image(ImageAsset)
  /// A colour lookup table.
  case cube(CubeAsset)
  /// A font.
  case font(FontAsset)
  /// A filter from text.
  case kernel(KernelAsset)

  /// The reserved name of the frame as it was before the first stage, for parameters of filters
  /// that composite with another picture:
  /// `randomGenerator, multiplyCompositing(backgroundImage: source)`. Providers are never asked for
  /// this name.
  public static let sourceName = "source"

  /// The kinds of asset.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A picture.
    case image
    /// A colour lookup table.
    case cube
    /// A font.
    case font
    /// A filter from text.
    case kernel
  }

  /// Whether the asset's memory is counted by an ``AssetLease``.
  package var isLeased: Bool {
    switch self {
    case .image(let image): image.isLeased
    case .cube(let cube): cube.isLeased
    case .font(let font): font.isLeased
    case .kernel(let kernel): kernel.isLeased
    }
  }

  /// The kind of this asset.
  public var kind: Kind {
    switch self {
    case .image: .image
    case .cube: .cube
    case .font: .font
    case .kernel: .kernel
    }
  }
}

/// A source of the assets that pipelines name.
///
/// A catalogue calls it while it resolves a pipeline, never while a frame is filtered. It is called
/// concurrently from any thread, and must return without waiting: fetch and decode assets before.
public protocol AssetProvider: Sendable {
  /// The asset of that name; `nil` if the name is unknown.
  func asset(named name: String) -> Asset?

  /// The names of all assets, for suggestions in errors. May be empty.
  var names: [String] { get }
}

/// Assets in memory, by name.
public final class AssetStore: AssetProvider {
  private let assets: Mutex<[String: Asset]>

  /// Creates a store with the given assets.
  public init(_ assets: [String: Asset] = [:]) {
    self.assets = Mutex(assets)
  }

  /// The asset of that name; `nil` if the name is unknown.
  public func asset(named name: String) -> Asset? {
    self.assets.withLock { $0[name] }
  }

  /// The names of all assets, sorted.
  public var names: [String] { self.assets.withLock { $0.keys.sorted() } }

  /// Stores an asset under a name. Pipelines that were resolved before keep the asset they resolved
  /// to.
  public func put(_ asset: Asset, named name: String) {
    self.assets.withLock { $0[name] = asset }
  }

  /// Removes the asset of that name.
  ///
  /// - Returns: The removed asset; `nil` if the name was unknown.
  @discardableResult
  public func remove(named name: String) -> Asset? {
    self.assets.withLock { $0.removeValue(forKey: name) }
  }
}

/// An object that an asset retains. Its `deinit` reports that all names, sessions and plans have
/// released the asset, to return its memory to a quota.
package protocol AssetLease: AnyObject, Sendable {}

/// A kernel that pipelines name: `kernel(asset: "glow.kernel")`.
///
/// Two kernels are equal if they are the same object.
public final class KernelAsset: Sendable {
  /// The language's form of the kernel.
  package let handle: any KernelHandle
  /// Retained for the kernel's lifetime.
  private let lease: (any AssetLease)?

  /// Creates a kernel.
  ///
  /// - Parameters:
  ///   - handle: The form of the kernel that its language reads.
  ///   - lease: An object that the asset retains.
  package init(handle: any KernelHandle, lease: (any AssetLease)?) {
    self.handle = handle
    self.lease = lease
  }

  /// Whether the asset's memory is counted by a lease.
  var isLeased: Bool { self.lease != nil }
}

/// A language's form of a kernel.
package protocol KernelHandle: Sendable {}

extension KernelAsset: Hashable {
  /// Whether both are the same object.
  public static func == (left: KernelAsset, right: KernelAsset) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}
