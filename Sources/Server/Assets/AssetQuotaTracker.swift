import SidelightKernels
import Synchronization

/// Counts the memory of assets and of uploads, per owner and in total.
///
/// Memory is released when its ``Lease`` ends. An asset keeps its lease as long as it lives: a
/// deleted asset counts while the plan of a session still uses it.
final class AssetQuotaTracker: Sendable {
  /// The kind of memory.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Decoded assets.
    case memory = "max_memory_bytes"
    /// Files during upload.
    case upload = "max_upload_bytes"
  }

  /// Reserved bytes, released by `deinit`.
  final class Lease: AssetLease {
    /// The number of bytes.
    let byteCount: Int
    private let kind: Kind
    private let owner: String
    private let tracker: AssetQuotaTracker

    fileprivate init(_ byteCount: Int, _ kind: Kind, _ owner: String, _ tracker: AssetQuotaTracker)
    {
      self.byteCount = byteCount
      self.kind = kind
      self.owner = owner
      self.tracker = tracker
    }

    deinit {
      self.tracker.release(self.byteCount, self.kind, self.owner)
    }
  }

  private struct Account {
    var total = 0
    var owners: [String: Int] = [:]
  }

  private let configuration: AssetConfiguration
  private let accounts = Mutex<[Kind: Account]>([:])
  private let changes = Atomic<UInt64>(0)

  init(_ configuration: AssetConfiguration) {
    self.configuration = configuration
  }

  /// Returns the reserved bytes of all owners.
  func total(_ kind: Kind) -> Int { self.accounts.withLock { $0[kind]?.total ?? 0 } }

  /// A count that grows with every reservation and release.
  var activity: UInt64 { self.changes.load(ordering: .relaxed) }

  /// Reserves bytes for an owner.
  ///
  /// - Throws: ``AssetError`` with reason ``AssetError/Reason/quota`` if the owner, or all owners
  ///   together, would exceed a limit.
  func reserve(_ byteCount: Int, _ kind: Kind, for owner: String) throws(AssetError) -> Lease {
    let (perOwner, limit) = self.limits(kind)
    let error = self.accounts.withLock { accounts -> AssetError? in
      var account = accounts[kind] ?? Account()
      let bytes = (account.owners[owner] ?? 0) + byteCount
      guard bytes <= perOwner else {
        return .quota(of: owner, "\(kind.rawValue)_per_caller", value: bytes, limit: perOwner)
      }
      account.total += byteCount
      guard account.total <= limit else {
        return .quota(of: "server", kind.rawValue, value: account.total, limit: limit)
      }
      account.owners[owner] = bytes
      accounts[kind] = account
      return nil
    }
    if let error { throw error }
    self.changes.add(1, ordering: .relaxed)
    return Lease(byteCount, kind, owner, self)
  }

  private func limits(_ kind: Kind) -> (perOwner: Int, total: Int) {
    switch kind {
    case .memory:
      (self.configuration.maxMemoryBytesPerCaller, self.configuration.maxMemoryBytes)
    case .upload:
      (self.configuration.maxUploadBytesPerCaller, self.configuration.maxUploadBytes)
    }
  }

  private func release(_ byteCount: Int, _ kind: Kind, _ owner: String) {
    self.changes.add(1, ordering: .relaxed)
    self.accounts.withLock { accounts in
      accounts[kind]?.total -= byteCount
      let left = (accounts[kind]?.owners[owner] ?? 0) - byteCount
      accounts[kind]?.owners[owner] = left > 0 ? left : nil
    }
  }
}
