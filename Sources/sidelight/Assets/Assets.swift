import ArgumentParser
import SidelightWire

/// `sidelight assets`: what a server keeps for its caller's pipelines.
struct Assets: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Puts, lists and deletes pictures and colour tables at a server.",
    discussion: """
      What is put belongs to whoever puts it: the user at a Unix socket, else the address. Its \
      pipelines name it:

        sidelight assets put hat images/hat.png --server 127.0.0.1:50051
        sidelight stream in.y4m out.y4m --server 127.0.0.1:50051 --pipeline 'overlay(asset: hat)'
      """,
    subcommands: [AssetsPut.self, AssetsList.self, AssetsDelete.self])
}

/// Whose assets they are.
struct AssetServerOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("The server: HOST:PORT or unix:PATH.", valueName: "address"),
    transform: Address.init(argument:))
  var server: Address
}
