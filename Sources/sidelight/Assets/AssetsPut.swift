import ArgumentParser
import SidelightClient

/// `sidelight assets put`: a file to a server.
struct AssetsPut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Puts a PNG, JPEG or .cube file; what has the name already is replaced.")

  @Argument(help: "The name that pipelines use.")
  var name: String

  @Argument(help: "The PNG, JPEG or .cube file.", completion: .file())
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
