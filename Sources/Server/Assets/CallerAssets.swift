import SidelightKernels

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
