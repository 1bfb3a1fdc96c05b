import ArgumentParser
import SidelightClient

/// `sidelight assets delete`: takes an asset away from a server.
struct AssetsDelete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Deletes an asset that you have put; sessions that use it keep it.")

  @Argument(help: "The name.")
  var name: String

  @OptionGroup var at: AssetServerOption

  func run() async throws {
    try await SidelightClient.connect(to: self.at.server) { client in
      try await client.deleteAsset(named: self.name)
    }
  }
}
