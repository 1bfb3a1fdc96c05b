public import ArgumentParser
public import Logging
public import SidelightKernels
public import SidelightWire

extension Address: ExpressibleByArgument {
  public init?(argument: String) {
    guard let address = try? Address(argument) else { return nil }
    self = address
  }
}

extension FrameSize: ExpressibleByArgument {
  public init?(argument: String) {
    let sides = argument.lowercased().split(separator: "x").map { Int($0) }
    guard sides.count == 2, let width = sides[0], let height = sides[1],
      (1 ... FrameLayout.maxDimension).contains(width),
      (1 ... FrameLayout.maxDimension).contains(height)
    else { return nil }
    self.init(width: width, height: height)
  }
}

extension PixelFormat: ExpressibleByArgument {}

extension Logger.Level: @retroactive ExpressibleByArgument {}

/// The `--pipeline` option, read and checked in one way by every verb.
struct PipelineOption: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The filters, for example 'sepiaTone(intensity: 0.8), vignette(intensity: 1)'.",
      valueName: "text"))
  var pipeline = ""

  /// - Throws: `ValidationError` that points at the character.
  func resolved() throws -> Pipeline { try Self.resolve(self.pipeline) }

  /// Reads a pipeline and finds out whether its filters exist.
  static func resolve(_ text: String) throws -> Pipeline {
    do {
      let parsed = try PipelineText(text)
      _ = try parsed.resolve { pipeline throws(PipelineError) in
        try FilterCatalogue.builtIn.resolve(pipeline)
      }
      return parsed.pipeline
    } catch let error as PipelineTextError {
      throw ValidationError("\(error)")
    }
  }
}
