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
    subcommands: [Serve.self, Stream.self, Apply.self, Check.self, Filters.self])
}
