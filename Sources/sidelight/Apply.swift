import ArgumentParser
import SidelightClient
import SidelightCodecs
import SidelightFilterProcesses
import SidelightKernels
import SidelightServer
import SidelightWire

/// `sidelight apply`: filters a still image, locally or on a server, with identical results.
struct Apply: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Filter a still image.",
    discussion: """
      Reads PNG and JPEG. The extension of the output selects its format; pipes have the format of
      the input.

        sidelight apply in.png out.png --pipeline 'sepiaTone(intensity: 0.8), vignette'
        curl -s https://example.org/in.jpg | sidelight apply - - --pipeline 'sepiaTone' >out.jpg

      Filters that use an image or a colour table read it from a file, by path or by name:

        sidelight apply in.png out.png --pipeline 'colorCube(asset: "looks/teal.cube")'
        sidelight apply in.png out.png --pipeline 'overlay(asset: logo)' --asset logo=logo.png

      Stickers on faces need a build with Vision, and so do faceBlur and facePixellate:

        sidelight apply in.png out.png --pipeline 'overlay(asset: hat, anchor: forehead)' \\
          --asset hat=hat.png
      """)

  @Argument(help: "PNG or JPEG file to read; - is standard input.", completion: .file())
  var input: String

  @Argument(
    help: "The .png, .jpg or .jpeg file to write; - is standard output.", completion: .file())
  var output: String

  @OptionGroup var pipeline: PipelineOption

  @OptionGroup var assets: AssetOptions

  @OptionGroup var models: ModelOptions

  @OptionGroup var processes: ProcessOptions

  @Option(
    help: ArgumentHelp(
      "Filter on the server at this address (HOST:PORT or unix:PATH) instead of locally.",
      valueName: "address"),
    transform: Address.init(argument:))
  var server: Address?

  @OptionGroup var participant: ParticipantOption

  @Option(help: ArgumentHelp("JPEG quality, 1 to 100.", valueName: "percent"))
  var quality = 90

  @Option(
    help: ArgumentHelp(
      "Filter as the frame with this index in a session, from 0, for filters that vary from frame "
        + "to frame, such as grain.", valueName: "number"))
  var frameIndex: UInt64 = 0

  func validate() throws {
    guard ImageFileFormat(fileName: self.output) != nil || FileLocation.isPipe(self.output) else {
      throw ValidationError("'\(self.output)' must end in .png, .jpg or .jpeg.")
    }
    guard (1 ... 100).contains(self.quality) else {
      throw ValidationError("--quality is \(self.quality); the range is 1 to 100.")
    }
    guard self.server == nil || self.assets.files.isEmpty else {
      throw ValidationError(
        "--asset cannot be combined with --server. Upload the file with 'sidelight assets put'.")
    }
    guard self.server != nil || self.participant.name.isEmpty else {
      throw ValidationError("--participant requires --server.")
    }
    guard self.server == nil || self.models.models.isEmpty else {
      throw ValidationError(
        "--model cannot be combined with --server. Models are settings of the server.")
    }
    guard self.server == nil || self.processes.commands.isEmpty else {
      throw ValidationError(
        "--filter-process cannot be combined with --server. Filter processes are settings of the "
          + "server.")
    }
  }

  func run() async throws {
    let text = try self.pipeline.parsed()
    try FileIdentity.check(
      output: self.output,
      differsFrom: [self.input] + self.assets.files.map(\.path)
        + (self.server == nil ? text.pipeline.assetUses(in: .command).map(\.name) : []))
    let file = try FileContents.read(self.input)
    let format =
      ImageFileFormat(fileName: self.output) ?? ImageFileFormat(sniffing: file.span.bytes) ?? .png
    let result =
      if let server {
        try await self.filter(file, text, as: format, at: server)
      } else {
        try await self.processes.with { processes in
          try await self.filterLocally(file, text, as: format, processes)
        }
      }
    try await OutputFile.write(path: self.output) { output in
      try result.withUnsafeBytes { try output.write($0) }
    }
  }

  private func filterLocally(
    _ file: [UInt8], _ text: PipelineText, as format: ImageFileFormat,
    _ processes: FilterProcessHost
  ) async throws -> [UInt8] {
    let catalogue = try await self.assets.catalogue(
      for: text, vision: try self.models.configuration(), processes: processes)
    // Errors contain their position in the text here, but no longer below.
    _ = try text.resolved(in: catalogue)
    let pool = BufferPool()
    let compute = ComputePool()
    defer { compute.shutdown() }
    let still = StillImageFilter(
      catalogue: catalogue, pool: pool, executor: PlanExecutor(pool: pool, compute: compute),
      limits: ImageLimits())
    return try await still.apply(
      text.pipeline, toFile: file,
      output: format == .png
        ? OutputShape(coding: .png)
        : OutputShape(coding: .jpeg, jpeg: JPEGSettings(quality: self.quality, subsampling: .none)),
      at: FrameTime(index: self.frameIndex), details: FrameDetails(sequence: self.frameIndex))
  }

  /// The server checks the names of filters, since it may have custom ones.
  private func filter(
    _ file: [UInt8], _ text: PipelineText, as format: ImageFileFormat, at server: Address
  ) async throws -> [UInt8] {
    try await text.locatingRefusals {
      try await SidelightClient.connect(to: server) { client in
        try await client.apply(
          text.pipeline, toFile: file, as: format == .png ? .png : .jpeg(quality: self.quality),
          frameIndex: self.frameIndex, participant: self.participant.name)
      }
    }
  }
}
