import BenchmarkSupport
import SidelightKernelLanguage
import SidelightKernels
import SidelightVision

/// The catalogue, from the arguments of the program:
///
///     vision [--asset NAME=WIDTHxHEIGHT:FILE]... [--model NAME=TASK@RUNTIME:FILE]...
///       [--onnx-runtime FILE] [--time-finder]
///
/// The file of an asset has rows of RGBA pixels with straight alpha. `--time-finder` also measures
/// the searches of the cascade, as looks and searches; the cascade is then a custom finder.
struct Setup {
  let catalogue: FilterCatalogue
  let pool = BufferPool(maxIdleBytes: 1 << 28)
  let finderTimes = FinderTimes()

  init(_ arguments: [String]) throws {
    var assets: [String: Asset] = [:]
    var models: [ConfiguredModel] = []
    var onnxRuntime: String?
    var timesFinder = false
    var rest = arguments[...]
    while let flag = rest.popFirst() {
      switch flag {
      case "--time-finder": timesFinder = true
      case "--asset":
        let (name, asset) = try Self.asset(rest.popFirst() ?? "", self.pool)
        assets[name] = asset
      case "--model": models.append(try ConfiguredModel(rest.popFirst() ?? ""))
      case "--onnx-runtime": onnxRuntime = rest.popFirst()
      default: throw UsageError(description: "unknown argument \(flag)")
      }
    }
    var vision = try VisionConfiguration(models: models, onnxRuntime: onnxRuntime)
    if timesFinder { try self.finderTimes.install(in: &vision) }
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerVision(vision)
    catalogue.assets = AssetStore(assets)
    self.catalogue = catalogue
  }

  private static func asset(_ text: String, _ pool: BufferPool) throws -> (String, Asset) {
    let fields = text.split(whereSeparator: { "=x:".contains($0) }).map(String.init)
    guard let colon = text.firstIndex(of: ":"), fields.count >= 4, let width = Int(fields[1]),
      let height = Int(fields[2])
    else { throw UsageError(description: "\(text) is not NAME=WIDTHxHEIGHT:FILE") }
    let video = try RawVideo(
      reading: String(text[text.index(after: colon)...]),
      FrameGeometry(format: .rgba8, size: FrameSize(width: width, height: height)))
    return (fields[0], .image(try ImageAsset(try video.next(pool))))
  }
}
