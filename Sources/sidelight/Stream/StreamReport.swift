import Foundation
import SidelightClient
import SidelightServer
import Synchronization

/// Counts the outcomes of a stream's frames, and prints progress on a terminal and a summary.
final class StreamReport: Sendable {
  private struct State {
    var dispositions: [FilteredFrame.Disposition: Int] = [:]
    var dropped: [DroppedFrame.Reason: Int] = [:]
    var roundTrips = DurationHistogram()
    var failure: String?
    var shown = ContinuousClock.now
  }

  private let isLive: Bool
  private let start: ContinuousClock.Instant
  private let count: Int?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - isLive: Whether to print progress.
  ///   - count: The approximate number of frames, if known.
  init(isLive: Bool, start: ContinuousClock.Instant, count: Int?) {
    self.isLive = isLive
    self.start = start
    self.count = count
  }

  /// Counts an event.
  func record(_ event: SessionEvent) {
    guard case .outcome(let outcome) = event else { return }
    self.state.withLock { state in
      switch outcome {
      case .filtered(let frame):
        state.dispositions[frame.disposition, default: 0] += 1
        state.roundTrips.add(frame.roundTripTime)
        if let failure = frame.failure { state.failure = failure }
      case .dropped(let frame):
        state.dropped[frame.reason, default: 0] += 1
      }
    }
  }

  /// Updates the progress line, at most four times a second.
  func showProgress() {
    guard self.isLive else { return }
    let isDue = self.state.withLock { state in
      guard state.shown.duration(to: .now) > .milliseconds(250) else { return false }
      state.shown = .now
      return true
    }
    guard isDue else { return }
    let done = self.state.withLock {
      $0.dispositions.values.reduce(0, +) + $0.dropped.values.reduce(0, +)
    }
    let part = self.count.map { "\(min(100, done * 100 / max($0, 1))) %; " } ?? ""
    FileDescriptorOutput.standardError.write("\r\u{1B}[K" + part + self.line)
  }

  /// Prints the summary.
  func showSummary() {
    let failure = self.state.withLock { $0.failure }.map { "\nlast stage failure: \($0)" } ?? ""
    FileDescriptorOutput.standardError.write(
      (self.isLive ? "\r\u{1B}[K" : "") + self.line + failure + "\n")
  }

  /// Returns the summary as JSON.
  func json() throws -> String {
    let state = self.state.withLock { $0 }
    let roundTrips = [50, 95, 99].compactMap { percent in
      state.roundTrips.percentile(percent).map { ("p\(percent)", $0 / .milliseconds(1)) }
    }
    let object: [String: Any] = [
      "seconds": self.start.duration(to: .now) / .seconds(1),
      "filtered": state.dispositions[.filtered] ?? 0,
      "passedThrough": state.dispositions[.passedThrough] ?? 0,
      "degraded": state.dispositions[.degraded] ?? 0,
      "dropped": Dictionary(uniqueKeysWithValues: state.dropped.map { ($0.rawValue, $1) }),
      "roundTripMilliseconds": Dictionary(uniqueKeysWithValues: roundTrips),
    ]
    let data = try JSONSerialization.data(
      withJSONObject: object, options: [.prettyPrinted, .sortedKeys])
    return String(decoding: data, as: UTF8.self)
  }

  private var line: String {
    let state = self.state.withLock { $0 }
    let delivered = state.dispositions.values.reduce(0, +)
    let dropped = state.dropped.values.reduce(0, +)
    let seconds = self.start.duration(to: .now) / .seconds(1)
    var parts = ["\(delivered + dropped) frames in \(Self.text(seconds)) s"]
    parts.append("\(Self.text(Double(delivered) / max(seconds, 0.001))) fps")
    for (disposition, name) in [
      (FilteredFrame.Disposition.filtered, "filtered"), (.passedThrough, "passed through"),
      (.degraded, "degraded"),
    ] {
      if let count = state.dispositions[disposition] { parts.append("\(count) \(name)") }
    }
    let reasons = DroppedFrame.Reason.allCases.compactMap { reason in
      state.dropped[reason].map { "\(reason.text): \($0)" }
    }
    parts.append(
      dropped == 0 ? "none dropped" : "\(dropped) dropped (\(reasons.joined(separator: ", ")))")
    let percentiles = [50, 95, 99].compactMap { percent in
      state.roundTrips.percentile(percent).map { "p\(percent) \(Self.text($0 / .milliseconds(1)))" }
    }
    if !percentiles.isEmpty {
      parts.append("round trip " + percentiles.joined(separator: ", ") + " ms")
    }
    return parts.joined(separator: "; ")
  }

  private static func text(_ value: Double) -> String {
    String(format: value < 10 ? "%.2f" : "%.0f", value)
  }
}

extension DroppedFrame.Reason {
  /// The name with spaces: `superseded before sending`.
  fileprivate var text: String {
    self.rawValue.map { $0.isUppercase ? " \($0.lowercased())" : "\($0)" }.joined()
  }
}
