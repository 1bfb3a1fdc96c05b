import ArgumentParser
import SidelightClient

/// `sidelight assets delete`: deletes an asset.
struct AssetsDelete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete one of your assets; sessions that use it keep it.")

  @Argument(help: "Name of the asset.")
  var name: String

  @OptionGroup var at: AssetServerOption

  func run() async throws {
    try await SidelightClient.connect(to: self.at.server) { client in
      try await client.deleteAsset(named: self.name)
    }
  }
}
