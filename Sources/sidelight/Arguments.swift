public import ArgumentParser
public import SidelightKernels
import SidelightWire

extension Address {
  /// Parses an address from the command line.
  ///
  /// - Throws: `ValidationError` that states the expected form.
  init(argument: String) throws {
    do throws(AddressError) {
      self = try Address(argument)
    } catch {
      throw ValidationError(error.reason)
    }
  }
}

extension FrameSize: ExpressibleByArgument {
  /// Parses a size such as `1920x1080`.
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

/// The `--pipeline` option of all subcommands.
struct PipelineOption: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Filters, for example 'sepiaTone(intensity: 0.8), vignette(intensity: 1)'.",
      valueName: "text"))
  var pipeline = ""

  /// Parses the text. Its filters are looked up where they run.
  ///
  /// - Throws: `ValidationError` with the position of the fault.
  func parsed() throws -> PipelineText { try PipelineText(argument: self.pipeline) }
}

extension PipelineText {
  /// Parses a pipeline from the command line.
  ///
  /// - Throws: `ValidationError` with the position of the fault.
  init(argument: String) throws {
    do throws(PipelineTextError) {
      try self.init(argument)
    } catch {
      throw ValidationError("\(error)")
    }
  }

  /// Looks up the pipeline's filters.
  ///
  /// - Throws: `ValidationError` with the position of the fault.
  func resolved(in catalogue: FilterCatalogue) throws -> ResolvedPipeline {
    do throws(PipelineTextError) {
      return try self.resolve { pipeline throws(PipelineError) in try catalogue.resolve(pipeline) }
    } catch {
      throw ValidationError("\(error)")
    }
  }
}
