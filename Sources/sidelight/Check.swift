import ArgumentParser
import SidelightKernels
import SidelightWire

/// `sidelight check`: describes the passes that a pipeline compiles to.
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the passes that a pipeline compiles to, without running it.",
    discussion: """
      Adjacent colour filters are combined into one pass, filters without effect are removed, and \
      nested pipelines are flattened. A warning names filters that change nothing.

        sidelight check --pipeline 'sepiaTone, hueAdjust(angle: 1), gaussianBlur' --format bgra8
      """)

  @OptionGroup var pipeline: PipelineOption

  @OptionGroup var assets: AssetOptions

  @OptionGroup var models: ModelOptions

  @Option(help: "Size of the frames.")
  var size = FrameSize(width: 1280, height: 720)

  @Option(
    help: """
      Pixel format of the frames: \(PixelFormat.allCases.map(\.rawValue).joined(separator: ", ")).
      """)
  var format = PixelFormat.i420

  func run() throws {
    let text = try self.pipeline.parsed()
    let catalogue = try self.assets.catalogue(
      for: text, vision: try self.models.configuration())
    let resolved = try text.resolved(in: catalogue)
    let plan = resolved.plan(for: FrameGeometry(format: self.format, size: self.size))
    print(plan.description)
    for stage in plan.idleStages {
      let warning = text.locate(
        PipelineError(
          code: .invalidStage, path: "\(stage.path).filter",
          message: "\(stage.filter) changes nothing with these parameters"))
      FileDescriptorOutput.standardError.write("Warning: \(warning)\n")
    }
  }
}
