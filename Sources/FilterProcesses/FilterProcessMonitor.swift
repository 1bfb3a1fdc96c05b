import Metrics
import SidelightKernels
import Synchronization

/// The metrics of the processes of one command, and the signal that one has started or ended.
final class FilterProcessMonitor: Sendable {
  /// The end of a frame that a session has for a process.
  enum FrameOutcome: String, CaseIterable {
    /// The process returned it in time.
    case filtered
    /// The filter reported an error.
    case failed
    /// Its deadline passed.
    case late
    /// The process ended, or was being started again.
    case lost
  }

  /// The reason for which a process is started again.
  enum RestartReason: String, CaseIterable {
    /// It exited, or was ended by a signal.
    case ended
    /// It did not answer.
    case hung
    /// It broke a rule of the contract.
    case contract
  }

  private static let restartsName = "sidelight_filter_process_restarts_total"
  private static let framesName = "sidelight_filter_process_frames_total"
  private static let processesName = "sidelight_filter_processes"
  private static let copiesName = "sidelight_filter_process_copies_total"

  private let frames: [FrameOutcome: Counter]
  private let restarts: [RestartReason: Counter]
  private let copies: Counter
  private let attached: Gauge
  private let starting: Gauge
  private let counts = Mutex((attached: 0, starting: 0))
  private let changes: AsyncStream<Void>.Continuation

  /// - Parameter changes: Gets an element whenever a process has attached or ended.
  init(
    _ command: String, factory: any MetricsFactory, changes: AsyncStream<Void>.Continuation
  ) {
    let process = ("process", command.clipped(toBytes: 200))
    func counter(_ name: String, _ labels: (String, String)...) -> Counter {
      let counter = Counter(label: name, dimensions: [process] + labels, factory: factory)
      counter.increment(by: 0)
      return counter
    }
    self.frames = Dictionary(
      uniqueKeysWithValues: FrameOutcome.allCases.map {
        ($0, counter(Self.framesName, ("outcome", $0.rawValue)))
      })
    self.restarts = Dictionary(
      uniqueKeysWithValues: RestartReason.allCases.map {
        ($0, counter(Self.restartsName, ("reason", $0.rawValue)))
      })
    self.copies = counter(Self.copiesName)
    func gauge(_ state: String) -> Gauge {
      Gauge(label: Self.processesName, dimensions: [process, ("state", state)], factory: factory)
    }
    (self.attached, self.starting) = (gauge("attached"), gauge("starting"))
    self.changes = changes
  }

  func count(_ outcome: FrameOutcome) { self.frames[outcome]?.increment() }

  /// Counts a copy of a picture into or out of the memory.
  func countCopy() { self.copies.increment() }

  func count(_ reason: RestartReason) { self.restarts[reason]?.increment() }

  /// Changes the number of processes by state.
  func add(attached: Int = 0, starting: Int = 0) {
    self.counts.withLock { counts in
      counts.attached += attached
      counts.starting += starting
      self.attached.record(counts.attached)
      self.starting.record(counts.starting)
    }
    self.changes.yield()
  }
}

extension FilterProcessHost {
  /// The help texts of the metrics, by name.
  public static let metricDescriptions = [
    "sidelight_filter_process_restarts_total":
      "Restarts of filter processes by command and by reason: ended, hung, contract (a rule of the "
      + "contract was broken).",
    "sidelight_filter_process_frames_total":
      "Frames for filter processes by command and by outcome: filtered, failed, late, lost (the "
      + "process ended, or was being started again).",
    "sidelight_filter_process_copies_total":
      "Pictures that were copied into or out of the memory of filter processes, by command. Others "
      + "are converted or handed on there.",
    "sidelight_filter_processes": "Filter processes by command and state: attached, starting.",
  ]
}
