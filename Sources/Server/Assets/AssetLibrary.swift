import SidelightKernels
import Synchronization

/// The assets that callers have put, each seen by its owner alone.
final class AssetLibrary: Sendable {
  let configuration: AssetConfiguration
  private let table: Mutex<AssetTable>
  private let quotas: AssetQuotaTracker
  private let clock: SessionClock
  private let plans: PlanCache
  private let costs: CostTable

  /// - Parameters:
  ///   - configuration: What may be put.
  ///   - plans: Is told to let assets go that are no more.
  ///   - costs: As `plans`.
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

  /// How many assets there are, and what they take: those that only sessions still use too.
  var contents: (count: Int, bytes: Int, uploadBytes: Int) {
    (
      self.withTable { table, _ in table.count }, self.quotas.total(.memory),
      self.quotas.total(.upload)
    )
  }

  /// Grows whenever memory is taken or given back.
  var activity: UInt64 { self.quotas.activity }

  // MARK: For pipelines

  /// An owner's asset of that name; `nil` if there is none.
  func asset(named name: String, of owner: String) -> Asset? {
    self.withTable { table, now in table.use(name, of: owner, at: now)?.asset }
  }

  /// An owner's assets, by name.
  func assets(of owner: String) -> [StoredAsset] {
    self.withTable { table, _ in table.assets(of: owner) }
  }

  /// Keeps an owner's assets for as long as `body` runs.
  func withSession<Result>(
    of owner: String, _ body: () async throws -> Result
  ) async rethrows -> Result {
    self.withTable { table, now in table.enter(owner, at: now) }
    defer { self.withTable { table, now in table.leave(owner, at: now) } }
    return try await body()
  }

  // MARK: For owners

  /// Takes memory for a file that is to come.
  ///
  /// - Throws: ``AssetError`` if the owner has too many assets, or there is no room on the way.
  func reserveUpload(_ upload: AssetUpload, of owner: String) throws(AssetError) -> AssetQuotaTracker.Lease {
    let fault = self.withTable { table, _ -> AssetError? in
      do throws(AssetError) {
        try table.checkCapacity(for: upload.name, of: owner)
        return nil
      } catch {
        return error
      }
    }
    if let fault { throw fault }
    return try self.quotas.reserve(upload.byteCount, .upload, for: owner)
  }

  /// Takes memory for an asset that is to be decoded.
  ///
  /// - Throws: ``AssetError`` if there is no room.
  func reserveMemory(_ byteCount: Int, of owner: String) throws(AssetError) -> AssetQuotaTracker.Lease {
    do {
      return try self.quotas.reserve(byteCount, .memory, for: owner)
    } catch {
      // A session's plan may have gone back into the cache after its asset was deleted.
      let current = self.withTable { table, _ in Set(table.all.map(\.asset)) }
      self.invalidatePlans { $0.isLeased && !current.contains($0) }
      return try self.quotas.reserve(byteCount, .memory, for: owner)
    }
  }

  /// Puts an asset.
  ///
  /// - Returns: Whether it took the place of another.
  /// - Throws: ``AssetError`` if the owner has too many.
  func put(_ asset: StoredAsset, of owner: String) throws(AssetError) -> Bool {
    let result = self.withTable { table, now in
      Result { () throws(AssetError) in try table.put(asset, of: owner, at: now) }
    }
    guard let old = try result.get() else { return false }
    self.invalidatePlans([old])
    return true
  }

  /// Deletes an asset.
  ///
  /// - Returns: Whether there was one.
  func remove(_ name: String, of owner: String) -> Bool {
    let removed = self.withTable { table, _ in table.remove(name, of: owner) }
    guard let removed else { return false }
    self.invalidatePlans([removed])
    return true
  }

  /// - Parameter body: Gets the time, and shelves on which nothing has outlived it.
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

/// The assets that one caller's pipelines may name: what the server provides, and what the caller has
/// put.
struct CallerAssets: AssetProvider {
  let provided: any AssetProvider
  let library: AssetLibrary
  let owner: String

  /// The asset of that name. The server's own stands first: a name means the same to all who know it,
  /// and nobody slips another picture under it.
  func asset(named name: String) -> Asset? {
    self.provided.asset(named: name) ?? self.library.asset(named: name, of: self.owner)
  }

  /// All names, sorted.
  var names: [String] {
    Set(self.provided.names).union(self.library.assets(of: self.owner).map(\.name)).sorted()
  }
}
