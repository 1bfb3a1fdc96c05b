import BenchmarkSupport

/// The selection and the duration of measurements.
struct Settings: Sendable {
  /// A measurement.
  enum Part: String, CaseIterable, Sendable {
    case sessions, overload, large
    case noisyNeighbour = "greedy"
    case neighbours, ping
  }

  /// The `sidelight` command.
  var server = ""
  /// The folder of the report and its plots.
  var output = "."
  /// The duration of a run.
  var duration = Duration.seconds(4)
  /// The time before the run that is not measured.
  var warmUp = Duration.seconds(1)
  var parts = Set(Part.allCases)
  /// Whether to measure fewer figures.
  var isQuick = false
  /// Whether the server has processor 0 to itself. `dev/bench realtime` starts this program on
  /// processor 1 then.
  var isPinned = false
  /// The options that select measurements, as in the arguments.
  private(set) var selection: [String] = []

  /// The time of a run that yields a number of samples at a rate a second, at least ``duration``.
  func duration(for samples: Double, perSecond rate: Double) -> Duration {
    max(self.duration, .seconds(samples / max(rate, 1)))
  }

  /// Reads `--server PATH --output DIRECTORY [--quick] [--pin] [--seconds N] [--only PART]...`.
  init(_ arguments: some Sequence<String>) throws {
    var arguments = Array(arguments)[...]
    var only: Set<Part> = []
    while let option = arguments.popFirst() {
      if option != "--server", option != "--output" {
        self.selection.append(option)
        if option != "--quick", option != "--pin", let value = arguments.first {
          self.selection.append(value)
        }
      }
      switch option {
      case "--quick":
        self.isQuick = true
        self.duration = .seconds(1.5)
        self.warmUp = .seconds(0.5)
      case "--pin": self.isPinned = true
      case "--server": self.server = arguments.popFirst() ?? ""
      case "--output": self.output = arguments.popFirst() ?? ""
      case "--seconds":
        guard let seconds = arguments.popFirst().flatMap(Double.init),
          (0.5 ... 600).contains(seconds)
        else { throw UsageError(description: "--seconds takes a number from 0.5 to 600.") }
        self.duration = .seconds(seconds)
      case "--only":
        guard let part = arguments.popFirst().flatMap(Part.init) else {
          let parts = Part.allCases.map(\.rawValue).joined(separator: ", ")
          throw UsageError(description: "--only takes one of \(parts).")
        }
        only.insert(part)
      default: throw UsageError(description: "\(option) is not an option.")
      }
    }
    if !only.isEmpty { self.parts = only }
    guard !self.server.isEmpty else { throw UsageError(description: "--server is missing.") }
  }
}
