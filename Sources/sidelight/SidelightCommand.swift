import ArgumentParser
import SidelightServer

/// The command line: one verb a file.
@main
struct SidelightCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sidelight",
    abstract: "Filters live video.",
    discussion: """
      A pipeline is written as filters with their parameters, separated by commas; brackets nest:

        sepiaTone(intensity: 0.8), [pixellate(scale: 12), hueAdjust(angle: 3.14)]

      'sidelight filters' lists the filters, 'sidelight filters NAME' describes one.
      """,
    version: SidelightVersion.current,
    subcommands: [
      Serve.self, Stream.self, Apply.self, Check.self, Filters.self, Assets.self,
      SettingsCommand.self,
    ])
}

extension SidelightCommand {
  /// Runs what the arguments ask for, as ArgumentParser does it; but the allocator's settings come
  /// first, on the only thread there is: once a second one has asked for memory, the C library has
  /// settled how many heaps there may be.
  @MainActor
  static func main() async {
    do {
      var command = try Self.parseAsRoot()
      if let serve = command as? Serve {
        await serve.main()
      } else if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      Self.exit(withError: error)
    }
  }
}
