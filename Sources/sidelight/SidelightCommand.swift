import ArgumentParser
import SidelightServer

/// The `sidelight` command. Each subcommand has a file.
@main
struct SidelightCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sidelight",
    abstract: "Filter live video.",
    discussion: """
      A pipeline is a list of filters with parameters, separated by commas; brackets nest:

        sepiaTone(intensity: 0.8), [pixellate(scale: 12), hueAdjust(angle: 3.14)]

      'sidelight filters' lists the filters; 'sidelight filters NAME' describes one.
      """,
    version: SidelightVersion.current,
    subcommands: [
      Serve.self, StudioCommand.self, Stream.self, Apply.self, Check.self, Filters.self,
      Assets.self, SettingsCommand.self,
    ])
}

extension SidelightCommand {
  /// Runs the subcommand as ArgumentParser does, but `serve` and
  /// `studio` on the main thread, so that it can
  /// apply the allocator's settings before a second thread starts: the C library fixes the number
  /// of heaps at the first allocation of a second thread.
  @MainActor
  static func main() async {
    do {
      var command = try Self.parseAsRoot()
      if let serve = command as? Serve {
        await serve.main()
      } else if let studio = command as? StudioCommand {
        try await studio.serve().main()
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
