import ArgumentParser
import SidelightKernels
import SidelightServer

/// The options of `serve` about assets: those that the server provides, and what callers may put.
struct ServerAssetOptions: ParsableArguments {
  @Option(
    name: .customLong("asset"),
    help: ArgumentHelp(
      "Provide a PNG, JPEG or .cube file to all callers under a name. May be repeated.",
      valueName: "name=path"),
    completion: .file(), transform: NamedFile.init(argument:))
  var files: [NamedFile] = []

  @Option(
    help: ArgumentHelp(
      "Assets that one caller may put. 0: callers put none.", valueName: "count"))
  var maxAssetsPerCaller = AssetConfiguration().maxAssetsPerCaller

  @Option(
    help: ArgumentHelp(
      "What the assets of one caller may take in memory, decoded.", valueName: "bytes"))
  var maxAssetBytesPerCaller = AssetConfiguration().maxMemoryBytesPerCaller

  @Option(
    help: ArgumentHelp(
      "What the assets of all callers may take in memory, decoded.", valueName: "bytes"))
  var maxAssetBytes = AssetConfiguration().maxMemoryBytes

  @Option(help: ArgumentHelp("The largest file that is put.", valueName: "bytes"))
  var maxAssetFileBytes = AssetConfiguration().maxFileBytes

  @Option(
    help: ArgumentHelp(
      "How long the assets of a caller without sessions are kept.", valueName: "seconds"))
  var assetLifetime = AssetConfiguration().lifetime / .seconds(1)

  func validate() throws {
    guard (0 ... 65536).contains(self.maxAssetsPerCaller) else {
      throw ValidationError(
        "--max-assets-per-caller is \(self.maxAssetsPerCaller), the range is 0 to 65536.")
    }
    for (name, value) in [
      ("--max-asset-bytes-per-caller", self.maxAssetBytesPerCaller),
      ("--max-asset-bytes", self.maxAssetBytes), ("--max-asset-file-bytes", self.maxAssetFileBytes),
    ] where !(0 ... 1 << 40).contains(value) {
      throw ValidationError("\(name) is \(value), the range is 0 to \(1 << 40).")
    }
    guard (0 ... 86400).contains(self.assetLifetime) else {
      throw ValidationError("--asset-lifetime is \(self.assetLifetime), the range is 0 to 86400.")
    }
  }

  /// What callers may put.
  var configuration: AssetConfiguration {
    var configuration = AssetConfiguration()
    configuration.maxAssetsPerCaller = self.maxAssetsPerCaller
    configuration.maxMemoryBytesPerCaller = self.maxAssetBytesPerCaller
    configuration.maxMemoryBytes = self.maxAssetBytes
    configuration.maxFileBytes = self.maxAssetFileBytes
    // One file of a caller, and a few of all, can always be on their way.
    configuration.maxUploadBytesPerCaller = max(
      configuration.maxUploadBytesPerCaller, self.maxAssetFileBytes)
    configuration.maxUploadBytes = max(configuration.maxUploadBytes, 4 * self.maxAssetFileBytes)
    configuration.lifetime = .seconds(self.assetLifetime)
    return configuration
  }

  /// The built-in filters, with the files' assets.
  ///
  /// - Throws: `ValidationError` that names the file.
  func catalogue() throws -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    let store = AssetStore()
    for file in self.files {
      do {
        store.put(try AssetFile(path: file.path).read(), named: file.name)
      } catch {
        throw ValidationError("--asset \(file.name): \(error)")
      }
    }
    catalogue.assets = store
    return catalogue
  }
}
