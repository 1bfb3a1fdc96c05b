import SidelightKernels
import Synchronization

/// The assets that callers have put, each seen by its owner alone.
final class AssetLibrary: Sendable {
  let configuration: AssetConfiguration
  private let shelves: Mutex<AssetShelves>
  private let ledger: AssetLedger
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
    self.shelves = Mutex(AssetShelves(configuration))
    self.ledger = AssetLedger(configuration)
    self.clock = clock
    self.plans = plans
    self.costs = costs
  }

  /// How many assets there are, and what they take: those that only sessions still use too.
  var contents: (count: Int, bytes: Int, uploadBytes: Int) {
    (
      self.withShelves { shelves, _ in shelves.count }, self.ledger.total(.memory),
      self.ledger.total(.upload)
    )
  }

  /// Grows whenever memory is taken or given back.
  var activity: UInt64 { self.ledger.activity }

  // MARK: For pipelines

  /// An owner's asset of that name; `nil` if there is none.
  func asset(named name: String, of owner: String) -> Asset? {
    self.withShelves { shelves, now in shelves.use(name, of: owner, at: now)?.asset }
  }

  /// An owner's assets, by name.
  func assets(of owner: String) -> [StoredAsset] {
    self.withShelves { shelves, _ in shelves.assets(of: owner) }
  }

  /// Keeps an owner's assets for as long as `body` runs.
  func withSession<Result>(
    of owner: String, _ body: () async throws -> Result
  ) async rethrows -> Result {
    self.withShelves { shelves, now in shelves.enter(owner, at: now) }
    defer { self.withShelves { shelves, now in shelves.leave(owner, at: now) } }
    return try await body()
  }

  // MARK: For owners

  /// Takes memory for a file that is to come.
  ///
  /// - Throws: ``AssetFault`` if the owner has too many assets, or there is no room on the way.
  func takeUpload(_ upload: AssetUpload, of owner: String) throws(AssetFault) -> AssetLedger.Lease {
    let fault = self.withShelves { shelves, _ -> AssetFault? in
      do throws(AssetFault) {
        try shelves.checkRoom(for: upload.name, of: owner)
        return nil
      } catch {
        return error
      }
    }
    if let fault { throw fault }
    return try self.ledger.take(upload.byteCount, .upload, for: owner)
  }

  /// Takes memory for an asset that is to be decoded.
  ///
  /// - Throws: ``AssetFault`` if there is no room.
  func takeMemory(_ byteCount: Int, of owner: String) throws(AssetFault) -> AssetLedger.Lease {
    do {
      return try self.ledger.take(byteCount, .memory, for: owner)
    } catch {
      // A session's plan may have gone back into the cache after its asset was deleted.
      let current = self.withShelves { shelves, _ in Set(shelves.all.map(\.asset)) }
      self.forget { $0.isLeased && !current.contains($0) }
      return try self.ledger.take(byteCount, .memory, for: owner)
    }
  }

  /// Puts an asset.
  ///
  /// - Returns: Whether it took the place of another.
  /// - Throws: ``AssetFault`` if the owner has too many.
  func put(_ asset: StoredAsset, of owner: String) throws(AssetFault) -> Bool {
    let result = self.withShelves { shelves, now in
      Result { () throws(AssetFault) in try shelves.put(asset, of: owner, at: now) }
    }
    guard let old = try result.get() else { return false }
    self.forget([old])
    return true
  }

  /// Deletes an asset.
  ///
  /// - Returns: Whether there was one.
  func remove(_ name: String, of owner: String) -> Bool {
    let removed = self.withShelves { shelves, _ in shelves.remove(name, of: owner) }
    guard let removed else { return false }
    self.forget([removed])
    return true
  }

  /// - Parameter body: Gets the time, and shelves on which nothing has outlived it.
  private func withShelves<Result: Sendable>(
    _ body: (inout AssetShelves, _ now: Duration) -> Result
  ) -> Result {
    let now = self.clock.now()
    let (expired, result) = self.shelves.withLock { shelves in
      (shelves.expire(at: now), body(&shelves, now))
    }
    if !expired.isEmpty { self.forget(expired) }
    return result
  }

  private func forget(_ assets: [StoredAsset]) {
    let assets = Set(assets.map(\.asset))
    self.forget { assets.contains($0) }
  }

  private func forget(where condition: (Asset) -> Bool) {
    self.plans.removePlans(usingAssetWhere: condition)
    self.costs.removeEstimates(usingAssetWhere: condition)
  }
}
