import SidelightKernels

/// Who has put what. A pure state machine; time is handed in.
///
/// An owner's shelf begins with the first asset or session, and ends when the last asset is deleted and
/// no session stands; or, without sessions, when its time is over. Whatever leaves a shelf is handed
/// back, so that it is freed outside of locks.
struct AssetTable: Sendable {
  private struct OwnerEntry {
    var assets: [String: StoredAsset] = [:]
    var sessions = 0
    /// When one of the assets was last put or used, or a session ended.
    var lastUse: Duration
  }

  private let maxPerOwner: Int
  private let maxTotal: Int
  private let lifetime: Duration
  private var owners: [String: OwnerEntry] = [:]
  /// How many assets there are.
  private(set) var count = 0

  init(_ configuration: AssetConfiguration) {
    self.maxPerOwner = configuration.maxAssetsPerCaller
    self.maxTotal = configuration.maxAssets
    self.lifetime = configuration.lifetime
  }

  /// All assets, in no order.
  var all: [StoredAsset] { self.owners.values.flatMap(\.assets.values) }

  /// An owner's assets, by name.
  func assets(of owner: String) -> [StoredAsset] {
    (self.owners[owner]?.assets.values).map { $0.sorted { $0.name < $1.name } } ?? []
  }

  /// An owner's asset of that name, which counts as used.
  mutating func use(_ name: String, of owner: String, at now: Duration) -> StoredAsset? {
    guard let asset = self.owners[owner]?.assets[name] else { return nil }
    self.owners[owner]?.lastUse = now
    return asset
  }

  /// Whether an asset of that name could be put.
  ///
  /// - Throws: ``AssetError`` if there are too many already.
  func checkCapacity(for name: String, of owner: String) throws(AssetError) {
    let own = self.owners[owner]?.assets ?? [:]
    guard own[name] == nil else { return }
    guard own.count < self.maxPerOwner else {
      throw .quota(
        of: owner, "max_assets_per_caller", value: own.count + 1, limit: self.maxPerOwner)
    }
    guard self.count < self.maxTotal else {
      throw .quota(of: "server", "max_assets", value: self.count + 1, limit: self.maxTotal)
    }
  }

  /// Puts an asset.
  ///
  /// - Returns: The one whose place it took.
  /// - Throws: ``AssetError`` if there are too many already.
  mutating func put(
    _ asset: StoredAsset, of owner: String, at now: Duration
  ) throws(AssetError) -> StoredAsset? {
    try self.checkCapacity(for: asset.name, of: owner)
    let old = self.owners[owner, default: OwnerEntry(lastUse: now)].assets.updateValue(
      asset, forKey: asset.name)
    self.owners[owner]?.lastUse = now
    if old == nil { self.count += 1 }
    return old
  }

  /// Takes an asset away.
  mutating func remove(_ name: String, of owner: String) -> StoredAsset? {
    guard let asset = self.owners[owner]?.assets.removeValue(forKey: name) else { return nil }
    self.count -= 1
    self.clear(owner)
    return asset
  }

  /// A session of the owner stands.
  mutating func enter(_ owner: String, at now: Duration) {
    self.owners[owner, default: OwnerEntry(lastUse: now)].sessions += 1
  }

  /// A session of the owner is over.
  mutating func leave(_ owner: String, at now: Duration) {
    self.owners[owner]?.sessions -= 1
    self.owners[owner]?.lastUse = now
    self.clear(owner)
  }

  /// Takes away what nobody has used for too long.
  mutating func expire(at now: Duration) -> [StoredAsset] {
    var expired: [StoredAsset] = []
    for (owner, entry) in self.owners
    where entry.sessions == 0 && now - entry.lastUse >= self.lifetime {
      expired += entry.assets.values
      self.owners[owner] = nil
    }
    self.count -= expired.count
    return expired
  }

  private mutating func clear(_ owner: String) {
    guard let entry = self.owners[owner], entry.assets.isEmpty, entry.sessions == 0 else { return }
    self.owners[owner] = nil
  }
}

/// An asset that a caller has put.
struct StoredAsset: Sendable {
  let name: String
  let asset: Asset
  /// The length of the file.
  let fileByteCount: Int
  /// What it counts in memory.
  let memoryByteCount: Int
  /// The file's SHA-256.
  let digest: [UInt8]
  /// When it was put, on the sessions' clock.
  let stored: Duration
}
