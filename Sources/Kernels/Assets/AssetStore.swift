import Synchronization

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
