import ArgumentParser
import SidelightClient

/// `sidelight assets list`: lists the assets that the caller's pipelines can name.
struct AssetsList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the assets that your pipelines can name, one per line.")

  @OptionGroup var at: AssetServerOption

  func run() async throws {
    let assets = try await SidelightClient.connect(to: self.at.server) { client in
      try await client.listAssets()
    }
    for asset in assets { print(asset.line) }
  }
}

extension AssetDescription {
  /// A human-readable line with name, contents, origin and memory.
  var line: String {
    let words =
      switch self.contents {
      case .image(let size): "image \(size)"
      case .cube(let entries): "cube of \(entries) entries a side"
      case .curves(let entries): "curves of \(entries) entries"
      case nil: "unknown"
      }
    return self.isProvidedByServer
      ? "\(self.name)\t\(words)\tprovided by the server"
      : "\(self.name)\t\(words)\t\(self.memoryByteCount) bytes in memory"
  }
}
