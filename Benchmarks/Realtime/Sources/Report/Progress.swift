import BenchmarkSupport
import Foundation

/// Progress messages on standard error.
enum Progress {
  static func report(_ name: String, _ outcome: Trial.Outcome) {
    let total = outcome.total
    let line =
      "\(name): \(outcome.goodput.text(1)) fps, age p50 \(total.ages.percentile(50).milliseconds)"
      + " p99 \(total.ages.percentile(99).milliseconds) ms, work p50"
      + " \(total.work.percentile(50).milliseconds) ms, dropped \(total.droppedFraction.percent)"
      + " (\(total.reasons)), CPU \(outcome.server.processors.percent(0))"
      + " + \(outcome.sender.processors.percent(0)), RSS \(outcome.server.peakMemory >> 20) MiB\n"
    FileHandle.standardError.write(Data(line.utf8))
  }
}
