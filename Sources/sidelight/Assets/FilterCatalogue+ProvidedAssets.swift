import ArgumentParser
import SidelightConfiguration
import SidelightKernels
import SidelightServer

extension FilterCatalogue {
  /// Creates a catalogue of the built-in filters, with assets that all callers can name.
  ///
  /// - Throws: `ValidationError` with the file that cannot be read.
  init(providing files: [ProvidedAsset]) throws {
    self = .builtIn
    let store = AssetStore()
    for file in files {
      do {
        store.put(try AssetFile(path: file.path).read(), named: file.name)
      } catch {
        throw ValidationError("assets.provided: \(file.name): \(error)")
      }
    }
    self.assets = store
  }
}
