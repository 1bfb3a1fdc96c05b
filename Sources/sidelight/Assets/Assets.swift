import ArgumentParser
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
