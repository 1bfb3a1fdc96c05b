import ArgumentParser
import SidelightKernels

/// `sidelight check`: what a pipeline compiles to, in words.
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Says what a pipeline compiles to, without running it.",
    discussion: """
      Adjacent colour filters fold into one pass, filters that change nothing vanish, and nested \
      pipelines are flattened; this shows what is left.

        sidelight check --pipeline 'sepiaTone, hueAdjust(angle: 1), gaussianBlur' --format bgra8
      """)

  @OptionGroup var pipeline: PipelineOption

  @OptionGroup var assets: AssetOptions

  @Option(help: "The size of the frames.")
  var size = FrameSize(width: 1280, height: 720)

  @Option(
    help:
      "The layout of the frames: \(PixelFormat.allCases.map(\.rawValue).joined(separator: ", ")).")
  var format = PixelFormat.i420

  func run() throws {
    let text = try self.pipeline.parsed()
    let resolved = try text.resolved(in: try self.assets.catalogue(for: text))
    print(resolved.plan(for: FrameGeometry(format: self.format, size: self.size)).description)
  }
}
