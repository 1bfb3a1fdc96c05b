import ArgumentParser
import SidelightClient

/// `sidelight assets put`: uploads an asset.
struct AssetsPut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Upload a PNG, JPEG or .cube file; replaces an asset of the same name.")

  @Argument(help: "Name of the asset in pipelines.")
  var name: String

  @Argument(help: "PNG, JPEG or .cube file to upload.", completion: .file())
  var file: String

  @OptionGroup var at: AssetServerOption

  func run() async throws {
    let contents = try FileContents.read(self.file)
    let asset = try await SidelightClient.connect(to: self.at.server) { client in
      try await client.putAsset(named: self.name, contents: contents)
    }
    print(asset.line)
  }
}
