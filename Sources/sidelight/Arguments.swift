public import ArgumentParser
public import SidelightKernels
import SidelightWire

extension Address {
  /// Reads an address as the command line has it.
  ///
  /// - Throws: `ValidationError` that says what was expected.
  init(argument: String) throws {
    do throws(AddressError) {
      self = try Address(argument)
    } catch {
      throw ValidationError(error.reason)
    }
  }
}

extension FrameSize: ExpressibleByArgument {
  /// Reads a size such as `1920x1080`.
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

/// The `--pipeline` option, read and checked in one way by every verb.
struct PipelineOption: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The filters, for example 'sepiaTone(intensity: 0.8), vignette(intensity: 1)'.",
      valueName: "text"))
  var pipeline = ""

  /// What the text says. Whether its filters exist is asked where they run.
  ///
  /// - Throws: `ValidationError` that points at the character.
  func parsed() throws -> PipelineText { try PipelineText(argument: self.pipeline) }
}

extension PipelineText {
  /// Reads a pipeline as the command line has it.
  ///
  /// - Throws: `ValidationError` that points at the character.
  init(argument: String) throws {
    do throws(PipelineTextError) {
      try self.init(argument)
    } catch {
      throw ValidationError("\(error)")
    }
  }

  /// Finds the pipeline's filters.
  ///
  /// - Throws: `ValidationError` that points at the character.
  func resolved(in catalogue: FilterCatalogue) throws -> ResolvedPipeline {
    do throws(PipelineTextError) {
      return try self.resolve { pipeline throws(PipelineError) in try catalogue.resolve(pipeline) }
    } catch {
      throw ValidationError("\(error)")
    }
  }
}
