import ArgumentParser
import Logging
import SidelightBarcode
import SidelightCodecs
import SidelightConfiguration
import SidelightFilterProcesses
import SidelightKernelLanguage
import SidelightKernels
import SidelightText
import SidelightVision
import SidelightWire

/// The `--asset` option of the subcommands that filter locally, and the files that a pipeline's
/// text names.
struct AssetOptions: ParsableArguments {
  @Option(
    name: .customLong("asset"),
    help: ArgumentHelp(
      "Name of a file in the pipeline: a sticker, logo, mask or background as PNG or JPEG, a "
        + ".cube table, a font, or a kernel. May be repeated. The pipeline can also contain paths, as in "
        + "'overlay(asset: \"images/logo.png\")'.",
      valueName: "name=path"),
    completion: .file(), transform: NamedFile.init(argument:))
  var files: [NamedFile] = []

  /// Returns the filters of the command with the assets that a pipeline names. A name without an
  /// `--asset` option is the path of a file.
  ///
  /// - Parameter vision: The models.
  /// - Throws: `ValidationError` with the position of the name in the text, or with the file.
  func catalogue(
    for text: PipelineText, vision: VisionConfiguration, processes: FilterProcessHost
  ) async throws -> FilterCatalogue {
    var vision = vision
    try await vision.add(processes)
    var catalogue = FilterCatalogue.command(vision)
    try await processes.register(in: &catalogue)
    let store = AssetStore()
    for file in self.files {
      do {
        store.put(try AssetFile(path: file.path, fonts: catalogue.fonts).read(), named: file.name)
      } catch {
        throw ValidationError("--asset \(file.name): \(error)")
      }
    }
    for use in text.pipeline.assetUses(in: catalogue) where store.asset(named: use.name) == nil {
      do {
        store.put(try AssetFile(path: use.name, fonts: catalogue.fonts).read(), named: use.name)
      } catch {
        let error = PipelineError(code: .unknownAsset, path: use.path, message: "\(error)")
        throw ValidationError("\(text.locate(error))")
      }
    }
    catalogue.assets = store
    return catalogue
  }
}

/// The name and the file of an asset: `logo=images/logo.png`.
struct NamedFile: Sendable {
  let name: String
  let path: String

  /// Parses an argument.
  ///
  /// - Throws: `ValidationError` if the name or the path is missing.
  init(argument: String) throws {
    guard let separator = argument.firstIndex(of: "="), separator > argument.startIndex,
      argument.index(after: separator) < argument.endIndex
    else { throw ValidationError("expected NAME=PATH") }
    self.name = String(argument[..<separator])
    self.path = String(argument[argument.index(after: separator)...])
  }
}

/// The filter processes of the subcommands that filter locally.
struct ProcessOptions: ParsableArguments {
  @Option(
    name: .customLong("filter-process"),
    help: ArgumentHelp(
      "Command that serves filters, such as 'python3 filters.py'. May be repeated.",
      valueName: "command"))
  var commands: [String] = []

  /// Calls a function while the processes run. Their output goes to standard error.
  func with<Result: Sendable>(
    _ body: @Sendable (FilterProcessHost) async throws -> Result
  ) async throws -> Result {
    let logger = Logger(label: "sidelight") { label in
      var handler = LineLogHandler.standardError(label: label, format: .text)
      handler.logLevel = .notice
      return handler
    }
    return try await FilterProcessHost.with(self.commands, logger: logger, body)
  }
}

/// The models of the subcommands that filter locally.
struct ModelOptions: ParsableArguments {
  @Option(
    name: .customLong("model"),
    help: ArgumentHelp(
      "ONNX model for the task matte, faces or landmarks. May be repeated. TASK@RUNTIME selects "
        + "the runtime opencv or onnxruntime.",
      valueName: "name=task:file"),
    completion: .file(), transform: ConfiguredModel.init(argument:))
  var models: [ConfiguredModel] = []

  @Option(
    help: ArgumentHelp("ONNX Runtime's shared library, in which models run.", valueName: "file"),
    completion: .file())
  var onnxRuntime: String?

  /// Loads the models.
  ///
  /// - Throws: `ValidationError` that names the model and its file.
  func configuration() throws -> VisionConfiguration {
    try VisionConfiguration(loading: self.models, onnxRuntime: self.onnxRuntime)
  }
}

extension ConfiguredModel {
  /// Parses an argument.
  ///
  /// - Throws: `ValidationError` that states the expected form.
  init(argument: String) throws {
    do throws(VisionError) {
      try self.init(argument)
    } catch {
      throw ValidationError(error.message)
    }
  }
}

extension VisionConfiguration {
  /// Loads models, and runs them once.
  ///
  /// - Throws: `ValidationError` that names the model and its file.
  init(loading models: [ConfiguredModel], onnxRuntime: String?) throws {
    do throws(VisionError) {
      try self.init(models: models, onnxRuntime: onnxRuntime)
    } catch {
      throw ValidationError(error.message)
    }
  }

  /// Adds the mattes and the face finder of filter processes.
  ///
  /// - Throws: `ValidationError` that names the matte or the finder.
  mutating func add(_ processes: FilterProcessHost) async throws {
    let (mattes, finder) = (try await processes.mattes(), try await processes.faceFinder())
    do throws(VisionError) {
      try self.add(mattes: mattes, faceFinder: finder)
    } catch {
      throw ValidationError("filter process: \(error.message)")
    }
  }
}

extension FilterCatalogue {
  /// The filters of this command without models: the built-in ones, and the filters of
  /// SidelightVision, SidelightText and SidelightBarcode.
  static let command = Self.command(VisionConfiguration())

  /// Returns the filters of this command with models.
  static func command(_ vision: VisionConfiguration) -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerVision(vision)
    catalogue.registerText()
    catalogue.registerBarcodes()
    return catalogue
  }

  /// Creates a catalogue of the command's filters, with assets that all callers can name.
  ///
  /// - Throws: `ValidationError` with the file that cannot be read.
  init(providing files: [ProvidedAsset], vision: VisionConfiguration) throws {
    self = .command(vision)
    let store = AssetStore()
    for file in files {
      do {
        store.put(try AssetFile(path: file.path, fonts: self.fonts).read(), named: file.name)
      } catch {
        throw ValidationError("assets.provided: \(file.name): \(error)")
      }
    }
    self.assets = store
  }
}

/// A file that a pipeline can use in addition to the frame: a PNG or JPEG image, a `.cube` table, a
/// font, or a kernel.
private struct AssetFile {
  /// The path, absolute or relative to the working directory.
  let path: String
  /// The parser of fonts.
  let fonts: (any FontReader)?

  /// Reads and decodes the file. Its content determines the format, not its name.
  ///
  /// - Throws: ``AssetFileError`` if the file cannot be read or doesn't have one of these formats.
  func read() throws(AssetFileError) -> Asset {
    let bytes: [UInt8]
    do {
      bytes = try FileContents.read(self.path)
    } catch {
      throw AssetFileError(path: self.path, reason: error.reason)
    }
    if self.isPicture(bytes) { return try self.picture(bytes) }
    if let fonts, FontAsset.isFont(bytes) { return try self.font(bytes, fonts) }
    return KernelText.isKernel(bytes) ? try self.kernel(bytes) : try self.table(bytes)
  }

  private func isPicture(_ bytes: [UInt8]) -> Bool {
    ImageFileFormat(sniffing: bytes.span.bytes) != nil
  }

  private func picture(_ bytes: [UInt8]) throws(AssetFileError) -> Asset {
    do {
      return .image(try ImageAsset(ImageDecoder(pool: BufferPool(maxIdleBytes: 0)).decode(bytes)))
    } catch {
      throw AssetFileError(path: self.path, reason: "\(error)")
    }
  }

  private func font(
    _ bytes: [UInt8], _ fonts: any FontReader
  ) throws(AssetFileError) -> Asset {
    do {
      return .font(try fonts.readFont(bytes, lease: nil))
    } catch {
      throw AssetFileError(path: self.path, reason: error.message)
    }
  }

  private func kernel(_ bytes: [UInt8]) throws(AssetFileError) -> Asset {
    do throws(KernelTextError) {
      return .kernel(try KernelAsset(bytes))
    } catch {
      throw AssetFileError(path: self.path, reason: "\(error)")
    }
  }

  private func table(_ bytes: [UInt8]) throws(AssetFileError) -> Asset {
    do throws(CubeFileError) {
      return .cube(try CubeFile.read(bytes))
    } catch {
      guard self.path.lowercased().hasSuffix(".cube") else {
        throw AssetFileError(
          path: self.path, reason: "not a PNG, JPEG or .cube file, nor a font or a kernel")
      }
      throw AssetFileError(path: self.path, reason: "\(error)")
    }
  }
}

/// The reason why a file cannot be used as an asset.
private struct AssetFileError: Error, CustomStringConvertible {
  let path: String
  /// The error, with the line in a table.
  let reason: String

  var description: String { "cannot use \(self.path): \(self.reason)" }
}
