import ArgumentParser
import SidelightKernels
import SidelightWire

/// The `--asset` option of the subcommands that filter locally, and the files that a pipeline's
/// text names.
struct AssetOptions: ParsableArguments {
  @Option(
    name: .customLong("asset"),
    help: ArgumentHelp(
      "Name of a PNG, JPEG or .cube file in the pipeline. May be repeated. The pipeline can "
        + "also contain paths, as in 'overlay(asset: \"images/logo.png\")'.",
      valueName: "name=path"),
    completion: .file(), transform: NamedFile.init(argument:))
  var files: [NamedFile] = []

  /// Returns the built-in filters with the assets that a pipeline names. A name without an
  /// `--asset` option is the path of a file.
  ///
  /// - Throws: `ValidationError` with the position of the name in the text, or with the file.
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
