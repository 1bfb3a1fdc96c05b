import ArgumentParser
import SidelightClient
import SidelightKernels
import SidelightWire

/// `sidelight assets`: manages the caller's assets on a server.
struct Assets: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Manage images and colour tables on a server.",
    discussion: """
      An asset belongs to the caller that uploads it: on a Unix socket the user, else the client's \
      address. The caller's pipelines refer to it by name:

        sidelight assets put hat images/hat.png --server 127.0.0.1:50051
        sidelight stream in.y4m out.y4m --server 127.0.0.1:50051 --pipeline 'overlay(asset: hat)'

      With --participant an asset belongs to a participant of the caller.
      """,
    subcommands: [AssetsPut.self, AssetsList.self, AssetsDelete.self])
}

/// The `--server` option of the subcommands.
struct AssetServerOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("Address of the server: HOST:PORT or unix:PATH.", valueName: "address"),
    transform: Address.init(argument:))
  var server: Address
}

/// `sidelight assets put`: uploads an asset.
struct AssetsPut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Upload a PNG, JPEG or .cube file, or a kernel; replaces an asset of the same name.")

  @Argument(help: "Name of the asset in pipelines.")
  var name: String

  @Argument(help: "PNG, JPEG or .cube file, or kernel, to upload.", completion: .file())
  var file: String

  @OptionGroup var address: AssetServerOption

  @OptionGroup var participant: ParticipantOption

  func run() async throws {
    let contents = try FileContents.read(self.file)
    let asset = try await SidelightClient.connect(to: self.address.server) { client in
      try await client.putAsset(
        named: self.name, contents: contents, participant: self.participant.name)
    }
    print(asset.line)
  }
}

/// `sidelight assets list`: lists the assets that the caller's pipelines can name.
struct AssetsList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the assets that your pipelines can name, one per line.")

  @OptionGroup var address: AssetServerOption

  @OptionGroup var participant: ParticipantOption

  func run() async throws {
    let assets = try await SidelightClient.connect(to: self.address.server) { client in
      try await client.listAssets(participant: self.participant.name)
    }
    for asset in assets { print(asset.line) }
  }
}

extension AssetDescription {
  /// A human-readable line with name, contents, origin and memory.
  fileprivate var line: String {
    let kind =
      switch self.contents {
      case .image(let size): "image \(size)"
      case .cube(let entries): "cube of \(entries) entries a side"
      case .curves(let entries): "curves of \(entries) entries"
      case .font(let name): "font \(name)"
      case .kernel(let name, let parameters):
        parameters.isEmpty
          ? "kernel \(name)" : "kernel \(name) with \(parameters.joined(separator: ", "))"
      case nil: "unknown"
      }
    let origin = self.isOfParticipant ? "\tof the participant" : ""
    return self.isProvidedByServer
      ? "\(self.name)\t\(kind)\tprovided by the server"
      : "\(self.name)\t\(kind)\t\(self.memoryByteCount) bytes in memory\(origin)"
  }
}

/// `sidelight assets delete`: deletes an asset.
struct AssetsDelete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete one of your assets; sessions that use it keep it.")

  @Argument(help: "Name of the asset.")
  var name: String

  @OptionGroup var address: AssetServerOption

  @OptionGroup var participant: ParticipantOption

  func run() async throws {
    try await SidelightClient.connect(to: self.address.server) { client in
      try await client.deleteAsset(named: self.name, participant: self.participant.name)
    }
  }
}

/// A parameter in a pipeline that names an asset.
struct AssetUse {
  let name: String
  /// The path of the parameter, as in ``PipelineError``: `stages[1].filter.parameters["asset"]`.
  let path: String
}

extension Pipeline {
  /// Returns the parameters that name an asset, of filters that are in the catalogue. Parameters
  /// that name the source frame are left out.
  func assetUses(in catalogue: FilterCatalogue) -> [AssetUse] {
    self.assetUses(in: catalogue, path: "")
  }

  private func assetUses(in catalogue: FilterCatalogue, path: String) -> [AssetUse] {
    self.stages.enumerated().flatMap { index, stage -> [AssetUse] in
      switch stage.content {
      case .pipeline(let inner):
        return inner.assetUses(in: catalogue, path: "\(path)stages[\(index)].pipeline.")
      case .filter(let call):
        let parameters = catalogue.description(named: call.name)?.parameters ?? []
        return call.parameters.compactMap { name, value -> AssetUse? in
          guard case .text(let asset) = value, !asset.isEmpty, asset != Asset.sourceName,
            parameters.contains(where: { $0.assetKind != nil && $0.isSpelled(name) })
          else { return nil }
          return AssetUse(
            name: asset, path: "\(path)stages[\(index)].filter.parameters[\"\(name)\"]")
        }.sorted { $0.path < $1.path }
      }
    }
  }
}

extension ParameterDescription {
  /// Returns whether a name is the parameter's, or its Core Image name: `inputMaskImage` for
  /// `maskImage`.
  fileprivate func isSpelled(_ name: String) -> Bool {
    name == self.name || name == "input" + self.name.prefix(1).uppercased() + self.name.dropFirst()
  }
}
