import ArgumentParser
import SidelightKernels
import SidelightWire

/// `sidelight check`: describes the passes that a pipeline compiles to.
struct Check: AsyncParsableCommand {
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

  @OptionGroup var processes: ProcessOptions

  @Option(help: "Size of the frames.")
  var size = FrameSize(width: 1280, height: 720)

  @Option(
    help: """
      Pixel format of the frames: \(PixelFormat.allCases.map(\.rawValue).joined(separator: ", ")).
      """)
  var format = PixelFormat.i420

  func run() async throws {
    let text = try self.pipeline.parsed()
    let resolved = try await self.processes.with { processes in
      try text.resolved(
        in: try await self.assets.catalogue(
          for: text, vision: try self.models.configuration(), processes: processes))
    }
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
