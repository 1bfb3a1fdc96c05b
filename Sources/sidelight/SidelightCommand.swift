import ArgumentParser
import GRPCCore
import SidelightKernels
import SidelightServer

/// The `sidelight` command. Every subcommand has its own file.
@main
struct SidelightCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sidelight",
    abstract: "Filter live video.",
    discussion: """
      A pipeline is a list of filters with parameters, separated by commas; brackets nest:

        sepiaTone(intensity: 0.8), [pixellate(scale: 12), hueAdjust(angle: 3.14)]

      'sidelight filters' lists the filters; 'sidelight filters NAME' describes one.

      The exit status is 64 if the command line, a pipeline or a setting is invalid, 1 after other
      errors, and 130 after Ctrl-C.
      """,
    version: SidelightVersion.current,
    subcommands: [
      Serve.self, StudioCommand.self, Stream.self, Apply.self, Check.self, Filters.self,
      Assets.self, Sessions.self, Load.self, SettingsCommand.self,
    ])
}

extension SidelightCommand {
  /// Runs the subcommand as ArgumentParser does, but runs `serve` and `studio` on the main thread
  /// to apply the allocator's settings before a second thread starts: the C library fixes the
  /// number of heaps at the first allocation of a second thread.
  @MainActor
  static func main() async {
    do {
      var command = try Self.parsedCommand()
      if let serve = command as? Serve {
        try await serve.main()
      } else if let studio = command as? StudioCommand {
        try await studio.serve().main()
      } else if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      Self.exit(reporting: error)
    }
  }

  /// Parses the command line.
  ///
  /// - Throws: `ValidationError` that names the command whose help describes the arguments;
  ///   requests for help.
  private static func parsedCommand() throws -> any ParsableCommand {
    var command = "sidelight"
    var known = Self.configuration.subcommands
    for argument in CommandLine.arguments.dropFirst() {
      guard !known.isEmpty, !argument.hasPrefix("-"), argument != "help" else { break }
      let verbs = known.map(Self.verb)
      guard let index = verbs.firstIndex(of: argument) else {
        let nearest = Spelling.nearest(to: argument, among: verbs)
        let hint = nearest.map { "; did you mean '\($0)'?" } ?? "."
        throw ValidationError(
          "There is no verb '\(argument)'\(hint)\nSee '\(command) --help'.")
      }
      command += " \(argument)"
      known = known[index].configuration.subcommands
    }
    do {
      return try Self.parseAsRoot()
    } catch {
      guard !Self.exitCode(for: error).isSuccess else { throw error }
      throw ValidationError("\(Self.message(for: error))\nSee '\(command) --help'.")
    }
  }

  /// Returns the name of a subcommand on the command line.
  private static func verb(of command: any ParsableCommand.Type) -> String {
    command.configuration.commandName ?? String(describing: command).lowercased()
  }

  /// Prints an error, and exits: with 64 if the command line, a pipeline or a setting is invalid,
  /// else with 1.
  private static func exit(reporting error: any Error) -> Never {
    let code = Self.exitCode(for: error)
    // Help, versions, and errors that have been printed.
    guard !code.isSuccess, !(error is ExitCode) else { Self.exit(withError: error) }
    let reason = (error as? RPCError)?.explanation ?? Self.message(for: error)
    FileDescriptorOutput.standardError.write("Error: \(reason)\n")
    Self.exit(withError: code)
  }
}
