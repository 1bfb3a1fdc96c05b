import SidelightKernels
import SidelightWire
import Synchronization

/// The assets that callers have uploaded. An asset is visible to its owner, and to the participants
/// of a caller that owns it.
final class AssetLibrary: Sendable {
  let configuration: AssetConfiguration
  private let table: Mutex<AssetTable>
  private let quotas: AssetQuotaTracker
  private let clock: SessionClock
  private let plans: PlanCache
  private let costs: CostTable

  /// - Parameters:
  ///   - configuration: The limits.
  ///   - plans: The cache of plans, which removes plans of deleted assets.
  ///   - costs: The cost estimates. The library removes the estimates of deleted assets.
  init(
    _ configuration: AssetConfiguration, plans: PlanCache, costs: CostTable, clock: SessionClock
  ) {
    self.configuration = configuration
    self.table = Mutex(AssetTable(configuration))
    self.quotas = AssetQuotaTracker(configuration)
    self.clock = clock
    self.plans = plans
    self.costs = costs
  }

  /// The number of assets, and the memory of assets and uploads, including deleted assets in use.
  var contents: (count: Int, bytes: Int, uploadBytes: Int) {
    (
      self.withTable { table, _ in table.count }, self.quotas.total(.memory),
      self.quotas.total(.upload)
    )
  }

  /// A count that grows with every reservation and release of memory.
  var activity: UInt64 { self.quotas.activity }

  // MARK: For pipelines

  /// Returns an owner's asset with a name, if any.
  func asset(named name: String, of owner: CallerIdentity) -> Asset? {
    self.withTable { table, now in table.use(name, of: owner, at: now)?.asset }
  }

  /// Returns the assets of an owner, sorted by name.
  func assets(of owner: CallerIdentity) -> [StoredAsset] {
    self.withTable { table, _ in table.assets(of: owner) }
  }

  /// Keeps an owner's assets, and the assets of a participant's caller, while `body` runs.
  func withSession<Result>(
    of owner: CallerIdentity, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let owners = [owner] + (owner.parent.map { [$0] } ?? [])
    self.withTable { table, now in for owner in owners { table.enter(owner, at: now) } }
    defer { self.withTable { table, now in for owner in owners { table.leave(owner, at: now) } } }
    return try await body()
  }

  // MARK: For owners

  /// Reserves memory for an upload.
  ///
  /// - Throws: ``AssetError`` if the owner has too many assets, or a limit on uploads is reached.
  func reserveUpload(_ upload: AssetUpload, of owner: CallerIdentity) throws(AssetError)
    -> AssetQuotaTracker.Lease
  {
    let error = self.withTable { table, _ -> AssetError? in
      do throws(AssetError) {
        try table.checkCapacity(for: upload.name, of: owner)
        return nil
      } catch {
        return error
      }
    }
    if let error { throw error }
    return try self.quotas.reserve(upload.byteCount, .upload, for: owner.caller)
  }

  /// Reserves memory for an asset before it is decoded.
  ///
  /// - Throws: ``AssetError`` if a limit on memory is reached.
  func reserveMemory(_ byteCount: Int, of owner: CallerIdentity) throws(AssetError)
    -> AssetQuotaTracker.Lease
  {
    do {
      return try self.quotas.reserve(byteCount, .memory, for: owner.caller)
    } catch {
      // The cache may still have plans with deleted assets: sessions return plans to it later.
      let current = self.withTable { table, _ in Set(table.all.map(\.asset)) }
      self.invalidatePlans { $0.isLeased && !current.contains($0) }
      return try self.quotas.reserve(byteCount, .memory, for: owner.caller)
    }
  }

  /// Stores an asset.
  ///
  /// - Returns: Whether it replaced another.
  /// - Throws: ``AssetError`` if the owner has too many assets.
  func put(_ asset: StoredAsset, of owner: CallerIdentity) throws(AssetError) -> Bool {
    let result = self.withTable { table, now in
      Result { () throws(AssetError) in try table.put(asset, of: owner, at: now) }
    }
    guard let old = try result.get() else { return false }
    self.invalidatePlans([old])
    return true
  }

  /// Deletes an asset.
  ///
  /// - Returns: Whether it existed.
  func remove(_ name: String, of owner: CallerIdentity) -> Bool {
    let removed = self.withTable { table, _ in table.remove(name, of: owner) }
    guard let removed else { return false }
    self.invalidatePlans([removed])
    return true
  }

  /// Calls `body` with the table, without expired assets, and the time.
  private func withTable<Result: Sendable>(
    _ body: (inout AssetTable, _ now: Duration) -> Result
  ) -> Result {
    let now = self.clock.now()
    let (expired, result) = self.table.withLock { table in
      (table.expire(at: now), body(&table, now))
    }
    if !expired.isEmpty { self.invalidatePlans(expired) }
    return result
  }

  private func invalidatePlans(_ assets: [StoredAsset]) {
    let assets = Set(assets.map(\.asset))
    self.invalidatePlans { assets.contains($0) }
  }

  private func invalidatePlans(where condition: (Asset) -> Bool) {
    self.plans.removePlans(usingAssetWhere: condition)
    self.costs.removeEstimates(usingAssetWhere: condition)
  }
}

/// The assets that pipelines of one caller or participant may name: the server's own assets, the
/// owner's, and for a participant also its caller's.
struct CallerAssets: AssetProvider {
  let provided: any AssetProvider
  let library: AssetLibrary
  let owner: CallerIdentity

  /// Returns the asset with a name. The server's own assets take precedence to prevent callers from
  /// replacing them; a participant's assets take precedence over its caller's.
  func asset(named name: String) -> Asset? {
    self.provided.asset(named: name) ?? self.library.asset(named: name, of: self.owner)
      ?? self.owner.parent.flatMap { self.library.asset(named: name, of: $0) }
  }

  /// All names, sorted.
  var names: [String] {
    let owners = [self.owner] + (self.owner.parent.map { [$0] } ?? [])
    let uploaded = owners.flatMap { self.library.assets(of: $0).map(\.name) }
    return Set(self.provided.names).union(uploaded).sorted()
  }
}
