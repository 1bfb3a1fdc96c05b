import SidelightKernels

/// The assets by owner: a caller, or one of its participants. A pure state machine; callers pass
/// the time in.
///
/// The assets of participants count in the totals of their callers.
///
/// An owner's entry begins with the first asset or session. It ends when the owner has neither
/// assets nor sessions, or after the lifetime without sessions. Methods return the assets that they
/// remove, which callers free outside of locks.
struct AssetTable: Sendable {
  private struct OwnerEntry {
    var assets: [String: StoredAsset] = [:]
    var sessions = 0
    /// The time of the last upload or use of an asset, or of the last end of a session.
    var lastUse: Duration
  }

  private let maxPerCaller: Int
  private let maxTotal: Int
  private let lifetime: Duration
  private var owners: [CallerIdentity: OwnerEntry] = [:]
  /// The number of assets of a caller and its participants, by caller.
  private var callerCounts: [String: Int] = [:]
  private(set) var count = 0

  init(_ configuration: AssetConfiguration) {
    self.maxPerCaller = configuration.maxAssetsPerCaller
    self.maxTotal = configuration.maxAssets
    self.lifetime = configuration.lifetime
  }

  /// All assets, unordered.
  var all: [StoredAsset] { self.owners.values.flatMap(\.assets.values) }

  /// Returns the assets of an owner, sorted by name.
  func assets(of owner: CallerIdentity) -> [StoredAsset] {
    (self.owners[owner]?.assets.values).map { $0.sorted { $0.name < $1.name } } ?? []
  }

  /// Returns an asset of an owner, and records its use.
  mutating func use(_ name: String, of owner: CallerIdentity, at now: Duration) -> StoredAsset? {
    guard let asset = self.owners[owner]?.assets[name] else { return nil }
    self.owners[owner]?.lastUse = now
    return asset
  }

  /// Checks that an asset of that name can be stored.
  ///
  /// - Throws: ``AssetError`` if a limit is reached.
  func checkCapacity(for name: String, of owner: CallerIdentity) throws(AssetError) {
    guard self.owners[owner]?.assets[name] == nil else { return }
    let count = self.callerCounts[owner.caller] ?? 0
    guard count < self.maxPerCaller else {
      throw .quota(
        of: owner.caller, "max_assets_per_caller", value: count + 1, limit: self.maxPerCaller)
    }
    guard self.count < self.maxTotal else {
      throw .quota(of: "server", "max_assets", value: self.count + 1, limit: self.maxTotal)
    }
  }

  /// Stores an asset.
  ///
  /// - Returns: The asset that it replaced.
  /// - Throws: ``AssetError`` if a limit is reached.
  mutating func put(
    _ asset: StoredAsset, of owner: CallerIdentity, at now: Duration
  ) throws(AssetError) -> StoredAsset? {
    try self.checkCapacity(for: asset.name, of: owner)
    let old = self.owners[owner, default: OwnerEntry(lastUse: now)].assets.updateValue(
      asset, forKey: asset.name)
    self.owners[owner]?.lastUse = now
    if old == nil { self.countAssets(of: owner, 1) }
    return old
  }

  mutating func remove(_ name: String, of owner: CallerIdentity) -> StoredAsset? {
    guard let asset = self.owners[owner]?.assets.removeValue(forKey: name) else { return nil }
    self.countAssets(of: owner, -1)
    self.clear(owner)
    return asset
  }

  /// Records that a session of the owner is open.
  mutating func enter(_ owner: CallerIdentity, at now: Duration) {
    self.owners[owner, default: OwnerEntry(lastUse: now)].sessions += 1
  }

  /// Records that a session of the owner is closed.
  mutating func leave(_ owner: CallerIdentity, at now: Duration) {
    self.owners[owner]?.sessions -= 1
    self.owners[owner]?.lastUse = now
    self.clear(owner)
  }

  /// Removes the assets of owners whose lifetime is over.
  mutating func expire(at now: Duration) -> [StoredAsset] {
    var expired: [StoredAsset] = []
    for (owner, entry) in self.owners
    where entry.sessions == 0 && now - entry.lastUse >= self.lifetime {
      expired += entry.assets.values
      self.owners[owner] = nil
      self.countAssets(of: owner, -entry.assets.count)
    }
    return expired
  }

  private mutating func countAssets(of owner: CallerIdentity, _ difference: Int) {
    self.count += difference
    let count = (self.callerCounts[owner.caller] ?? 0) + difference
    self.callerCounts[owner.caller] = count > 0 ? count : nil
  }

  private mutating func clear(_ owner: CallerIdentity) {
    guard let entry = self.owners[owner], entry.assets.isEmpty, entry.sessions == 0 else { return }
    self.owners[owner] = nil
  }
}

/// An asset uploaded by a caller, for itself or for a participant.
struct StoredAsset: Sendable {
  let name: String
  let asset: Asset
  /// The length of the file.
  let fileByteCount: Int
  /// The bytes that count as memory.
  let memoryByteCount: Int
  /// The file's SHA-256.
  let digest: [UInt8]
  /// The time at which it was stored, on the sessions' clock.
  let stored: Duration
}
