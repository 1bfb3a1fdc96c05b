import ArgumentParser
import SidelightKernels
import SidelightWire

/// The `--asset` option of the verbs that filter in this process, and the files that a pipeline's text
/// itself names.
struct AssetOptions: ParsableArguments {
  @Option(
    name: .customLong("asset"),
    help: ArgumentHelp(
      "Give the pipeline a file under a name: a PNG, JPEG or .cube. May be repeated. A path may also "
        + "stand in the pipeline itself, as in 'overlay(asset: \"images/logo.png\")'.",
      valueName: "name=path"),
    completion: .file(), transform: NamedFile.init(argument:))
  var files: [NamedFile] = []

  /// The built-in filters, with the assets that a pipeline names. A name that no `--asset` gives is the
  /// path of a file.
  ///
  /// - Throws: `ValidationError`, which points at the asset's name in the text, or names the file.
  func catalogue(for text: PipelineText) throws -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    let store = AssetStore()
    for file in self.files {
      do {
        store.put(try AssetFile(path: file.path).read(), named: file.name)
      } catch {
        throw ValidationError("--asset \(file.name): \(error)")
      }
    }
    for use in text.pipeline.assetUses(in: catalogue) where store.asset(named: use.name) == nil {
      do {
        store.put(try AssetFile(path: use.name).read(), named: use.name)
      } catch {
        let fault = PipelineError(code: .unknownAsset, path: use.path, message: "\(error)")
        throw ValidationError("\(text.locate(fault))")
      }
    }
    catalogue.assets = store
    return catalogue
  }
}
