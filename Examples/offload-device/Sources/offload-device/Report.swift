import Foundation
import SidelightClient
import Synchronization

/// Counts the frames, and prints a line about every second.
final class Report: Sendable {
  /// An event of a frame.
  enum Event {
    /// The link had no room.
    case leftOut
    case sent(byteCount: Int)
    case shown(Duration)
    case dropped(DroppedFrame.Reason)
  }

  private struct Counts {
    var leftOut = 0
    var sent = 0
    var bytes = 0
    var shown = 0
    var dropped = 0
    var roundTrips: [Duration] = []

    static func - (left: Counts, right: Counts) -> Counts {
      Counts(
        leftOut: left.leftOut - right.leftOut, sent: left.sent - right.sent,
        bytes: left.bytes - right.bytes, shown: left.shown - right.shown,
        dropped: left.dropped - right.dropped,
        roundTrips: Array(left.roundTrips.dropFirst(right.roundTrips.count)))
    }

    /// The round trips of most frames, and of the slowest.
    var latency: String {
      guard !self.roundTrips.isEmpty else { return "-" }
      let sorted = self.roundTrips.sorted()
      let values = [0.5, 0.95, 0.99, 1].map { share in
        sorted[Int((share * Double(sorted.count - 1)).rounded())] / .milliseconds(1)
      }
      return String(
        format: "%.0f ms (p95 %.0f, p99 %.0f, longest %.0f)", values[0], values[1], values[2],
        values[3])
    }
  }

  private let state = Mutex((now: Counts(), last: Counts(), seconds: 0))

  func record(_ event: Event) {
    self.state.withLock { state in
      switch event {
      case .leftOut: state.now.leftOut += 1
      case .sent(let byteCount):
        state.now.sent += 1
        state.now.bytes += byteCount
      case .shown(let roundTrip):
        state.now.shown += 1
        state.now.roundTrips.append(roundTrip)
      case .dropped: state.now.dropped += 1
      }
    }
  }

  /// Prints the counts of the last second, if another one begins at this time.
  func printLine(at time: Duration, _ target: EncoderTarget) {
    let seconds = Int(time / .seconds(1))
    let counts = self.state.withLock { state -> Counts? in
      guard seconds > state.seconds else { return nil }
      defer { (state.last, state.seconds) = (state.now, seconds) }
      return state.now - state.last
    }
    guard let counts else { return }
    let rates = "\(counts.bytes * 8 / 1000) of \(target.bitRate / 1000) kbit/s"
    print(
      "\(seconds) s: \(counts.sent) sent, \(counts.leftOut) left out, \(rates), "
        + "\(target.width)x\(target.height); \(counts.shown) shown, \(counts.dropped) dropped, "
        + counts.latency)
  }

  func printTotals() {
    let counts = self.state.withLock { $0.now }
    print(
      "\(counts.sent) frames sent, \(counts.leftOut) left out, \(counts.shown) shown, "
        + "\(counts.dropped) dropped, \(counts.latency)")
  }
}
