import SidelightWire
import SwiftProtobuf
import Synchronization

/// Decides second by second whether a session uses a cheaper variant of its pipeline, and advises
/// the sender. A pure state machine; callers pass the time in.
///
/// States: full -> reduced when more than 1 frame in 20 of a second is lost for lack of time;
/// reduced -> full after several seconds without loss, and after more if the full variant would not
/// have fitted. Every failed return doubles the wait, up to a minute, to keep the picture from
/// flickering.
package struct QualityGovernor: Sendable {
  /// The end of a frame.
  package enum Event: Sendable, Hashable {
    /// The frame was filtered, in full or by the cheaper variant.
    case finished
    /// The frame was dropped for lack of time to filter it.
    case lostBeforePipeline
    /// The frame was dropped because the client did not read.
    case lostAtOutput
  }

  /// The result of a second with losses.
  package struct Verdict: Sendable, Hashable {
    /// Whether more frames were lost because the client read slowly than for lack of time.
    package var isOutputSlow: Bool
    /// The number of finished frames per second.
    package var framesPerSecond: Double
    /// The scale of width and height at which all frames would have been finished, because the work
    /// is proportional to the pixels.
    package var scale: Double
  }

  private static let window = Duration.seconds(1)
  private static let lossLimit = 0.05
  private static let maxWait = 60

  private let mayReduce: Bool
  /// Whether to use the cheaper variant.
  package private(set) var isReduced = false
  private var windowStart: Duration?
  private var finished = 0
  private var lostBefore = 0
  private var lostAtOutput = 0
  private var quietWindows = 0
  /// The quiet windows after which the full variant is tried again.
  private var wait = 2
  private var restoredAt: Duration?

  /// - Parameter mayReduce: Whether the session allows a cheaper variant.
  package init(mayReduce: Bool) {
    self.mayReduce = mayReduce
  }

  /// Records the end of a frame.
  ///
  /// - Parameter fullCost: The full variant's time for a frame, or `nil` if unknown.
  /// - Returns: The advice for the sender, at most once a second.
  package mutating func record(
    _ event: Event, fullCost: Duration?, at now: Duration
  ) -> Verdict? {
    let start = self.windowStart ?? now
    self.windowStart = start
    switch event {
    case .finished:
      self.finished += 1
    case .lostBeforePipeline: self.lostBefore += 1
    case .lostAtOutput: self.lostAtOutput += 1
    }
    guard now - start >= Self.window else { return nil }
    defer { self.startWindow(at: now) }
    return self.judge(over: now - start, fullCost: fullCost, at: now)
  }

  private mutating func judge(
    over elapsed: Duration, fullCost: Duration?, at now: Duration
  ) -> Verdict? {
    let lost = self.lostBefore + self.lostAtOutput
    let all = self.finished + lost
    guard Double(lost) > Self.lossLimit * Double(all) else {
      self.considerRestoring(all, over: elapsed, fullCost: fullCost, at: now)
      return nil
    }
    self.quietWindows = 0
    // Less computing doesn't help a client that reads too slowly.
    if self.mayReduce, !self.isReduced, self.lostBefore > self.lostAtOutput {
      self.isReduced = true
      if let restoredAt, now - restoredAt < Self.window * 10 {
        self.wait = min(self.wait * 2, Self.maxWait)
      }
    }
    return Verdict(
      isOutputSlow: self.lostAtOutput > self.lostBefore,
      framesPerSecond: Double(self.finished) / (elapsed / .seconds(1)),
      scale: (Double(self.finished) / Double(all)).squareRoot())
  }

  private mutating func considerRestoring(
    _ frames: Int, over elapsed: Duration, fullCost: Duration?, at now: Duration
  ) {
    guard self.isReduced else { return }
    self.quietWindows += 1
    let fits = fullCost.map { $0 * frames < elapsed * 0.8 } ?? true
    // The known cost is from earlier, when other sessions may have slowed it down. So the full
    // variant is tried after a longer wait even if it would not fit at that cost.
    guard self.quietWindows >= (fits ? self.wait : self.wait * 8) else { return }
    self.isReduced = false
    self.quietWindows = 0
    self.restoredAt = now
  }

  private mutating func startWindow(at now: Duration) {
    self.windowStart = now
    self.finished = 0
    self.lostBefore = 0
    self.lostAtOutput = 0
  }
}

/// The ``QualityGovernor`` of a session, and its latest advice for the client.
final class SessionQuality: Sendable {
  private struct State {
    var governor: QualityGovernor
    var fullCost: Duration?
    var slowest = ""
    var advice: Sidelight_V1_Advice?
  }

  private let state: Mutex<State>
  private let clock: SessionClock

  /// - Parameter mayReduce: Whether the session allows a cheaper variant.
  init(mayReduce: Bool, clock: SessionClock) {
    self.state = Mutex(State(governor: QualityGovernor(mayReduce: mayReduce)))
    self.clock = clock
  }

  /// Whether to use the cheaper variant.
  var isReduced: Bool { self.state.withLock { $0.governor.isReduced } }

  /// Returns the advice since the last call, if any.
  func takeAdvice() -> Sidelight_V1_Advice? {
    self.state.withLock { $0.advice.take() }
  }

  /// Records a finished frame.
  ///
  /// - Parameter fullCost: The full variant's time for a frame, or `nil` if unknown.
  func recordFinished(fullCost: Duration?, slowest: String) {
    self.record(.finished) { state in
      state.fullCost = fullCost
      state.slowest = slowest
    }
  }

  /// Records a frame dropped for lack of time to filter it.
  func recordLost() {
    self.record(.lostBeforePipeline) { _ in }
  }

  /// Records a frame dropped because the client did not read.
  func recordLostAtOutput() {
    self.record(.lostAtOutput) { _ in }
  }

  private func record(_ event: QualityGovernor.Event, _ body: (inout State) -> Void) {
    let now = self.clock.now()
    self.state.withLock { state in
      body(&state)
      guard let verdict = state.governor.record(event, fullCost: state.fullCost, at: now) else {
        return
      }
      state.advice = .with {
        $0.bottleneck =
          verdict.isOutputSlow ? "output" : state.slowest.isEmpty ? "queue" : state.slowest
        $0.suggestedFps = verdict.framesPerSecond
        $0.suggestedScale = verdict.scale
      }
    }
  }
}
