import SidelightWire
import SwiftProtobuf
import Synchronization

/// Watches what becomes of a session's frames, second by second: says when a cheaper variant should
/// stand in, when the full one may come back, and what the sender could do better. A pure state
/// machine; time is handed in.
///
/// Life: full -> reduced when more than 1 frame in 20 of a second is lost to time; reduced -> full
/// after some seconds without loss, more of them if the full variant would not have fitted. Each return
/// that fails doubles that wait, up to a minute, so that the picture does not flicker.
package struct QualityGovernor: Sendable {
  /// What became of a frame.
  package enum Event: Sendable, Hashable {
    /// It was made, in full or by the cheaper variant.
    case finished
    /// It was lost because there was not the time to make it.
    case lostBeforePipeline
    /// It was lost because the client did not read.
    case lostAtOutput
  }

  /// What a second that was lossy comes to.
  package struct Verdict: Sendable, Hashable {
    /// Whether more frames were lost for the reader's slowness than for want of computing.
    package var isOutputSlow: Bool
    /// Frames a second that got through.
    package var framesPerSecond: Double
    /// Scale of width and height at which all would have: pixels are the work.
    package var scale: Double
  }

  private static let window = Duration.seconds(1)
  private static let lossLimit = 0.05
  private static let maxWait = 60

  private let mayReduce: Bool
  /// Whether the cheaper variant should stand in.
  package private(set) var isReduced = false
  private var windowStart: Duration?
  private var finished = 0
  private var lostBefore = 0
  private var lostAtOutput = 0
  private var quietWindows = 0
  /// Quiet windows after which the full variant is tried again.
  private var wait = 2
  private var restoredAt: Duration?

  /// - Parameter mayReduce: Whether the session allows a cheaper variant.
  package init(mayReduce: Bool) {
    self.mayReduce = mayReduce
  }

  /// Something became of a frame.
  ///
  /// - Parameters:
  ///   - event: What.
  ///   - fullCost: What a frame takes in full, as far as known.
  ///   - now: The time.
  /// - Returns: What to tell the sender, at most once a second.
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
    // Computing less does not help a client that does not read.
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
    // What the full variant took is known from before, when others may have been in the way; so it is
    // tried after a longer wait even if it did not fit then.
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

/// Keeps a session's ``QualityGovernor`` informed, and keeps what it advises until it is told.
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

  /// Whether the cheaper variant should stand in.
  var isReduced: Bool { self.state.withLock { $0.governor.isReduced } }

  /// What there is to tell the sender since the last call.
  func takeAdvice() -> Sidelight_V1_Advice? {
    self.state.withLock { $0.advice.take() }
  }

  /// A frame was made.
  ///
  /// - Parameters:
  ///   - fullCost: What one takes in full, as far as known.
  ///   - slowest: The pass that took longest.
  func recordFinished(fullCost: Duration?, slowest: String) {
    self.record(.finished) { state in
      state.fullCost = fullCost
      state.slowest = slowest
    }
  }

  /// A frame was lost because there was not the time to make it.
  func recordLost() {
    self.record(.lostBeforePipeline) { _ in }
  }

  /// A frame was lost because the client did not read.
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
