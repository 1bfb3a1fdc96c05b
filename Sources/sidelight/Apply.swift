import ArgumentParser
import Foundation
import SidelightClient
import SidelightCodecs
import SidelightKernels
import SidelightServer
import SidelightWire

/// `sidelight apply`: one still image, here or at a server; the bytes are the same.
struct Apply: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Filters a still image.",
    discussion: """
      Reads PNG and JPEG; the output's kind follows its name.

        sidelight apply in.png out.png --pipeline 'sepiaTone(intensity: 0.8), vignette(intensity: 1)'

      Filters that use another picture or a colour table read it from a file, by its path or under a \
      name:

        sidelight apply in.png out.png --pipeline 'colorCube(asset: "looks/teal.cube")'
        sidelight apply in.png out.png --pipeline 'overlay(asset: logo)' --asset logo=logo.png
      """)

  @Argument(help: "The PNG or JPEG file to read.", completion: .file())
  var input: String

  @Argument(help: "The .png, .jpg or .jpeg file to write.", completion: .file())
  var output: String

  @OptionGroup var pipeline: PipelineOption

  @OptionGroup var assets: AssetOptions

  @Option(
    help: ArgumentHelp(
      "Filter at the server at this address (HOST:PORT or unix:PATH) instead of in this process.",
      valueName: "address"),
    transform: Address.init(argument:))
  var server: Address?

  @Option(help: ArgumentHelp("The quality of a JPEG, 1 to 100.", valueName: "percent"))
  var quality = 90

  @Option(
    help: ArgumentHelp(
      "Filter as the frame with this number of a session, counted from 0, for filters that change "
        + "from frame to frame, such as grain.", valueName: "number"))
  var frameIndex: UInt64 = 0

  func validate() throws {
    guard ImageFileFormat(fileName: self.output) != nil else {
      throw ValidationError("'\(self.output)' ends in none of .png, .jpg, .jpeg.")
    }
    guard (1 ... 100).contains(self.quality) else {
      throw ValidationError("--quality is \(self.quality), the range is 1 to 100.")
    }
    guard self.server == nil || self.assets.files.isEmpty else {
      throw ValidationError(
        "--asset gives a file to this process; 'sidelight assets put' gives one to a server.")
    }
  }

  func run() async throws {
    let file = try FileContents.read(self.input)
    let result =
      if let server {
        try await self.filter(file, at: server)
      } else {
        try await self.filterHere(file)
      }
    try Data(result).write(to: URL(filePath: self.output))
  }

  private var isPNG: Bool { ImageFileFormat(fileName: self.output) == .png }

  private func filterHere(_ file: [UInt8]) async throws -> [UInt8] {
    let text = try self.pipeline.parsed()
    let catalogue = try self.assets.catalogue(for: text)
    // Said at the character; below there is no text any more.
    _ = try text.resolved(in: catalogue)
    let pool = BufferPool()
    let compute = ComputePool()
    defer { compute.shutdown() }
    let still = StillImageFilter(
      catalogue: catalogue, pool: pool, executor: PlanExecutor(pool: pool, compute: compute),
      limits: ImageLimits())
    return try await still.apply(
      text.pipeline, toFile: file,
      output: self.isPNG
        ? OutputShape(coding: .png)
        : OutputShape(coding: .jpeg, jpeg: JPEGSettings(quality: self.quality, subsampling: .none)),
      at: FrameMoment(index: self.frameIndex))
  }

  /// Names are checked where the filters run: a server may have filters of its own.
  private func filter(_ file: [UInt8], at server: Address) async throws -> [UInt8] {
    let pipeline = try self.pipeline.parsed().pipeline
    return try await pipeline.explainingAssets {
      try await SidelightClient.connect(to: server) { client in
        try await client.apply(
          pipeline, toFile: file, as: self.isPNG ? .png : .jpeg(quality: self.quality),
          frameIndex: self.frameIndex)
      }
    }
  }
}
