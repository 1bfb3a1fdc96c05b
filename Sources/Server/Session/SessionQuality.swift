import SidelightWire
import SwiftProtobuf
import Synchronization

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
