import CKernels
import SidelightKernels

/// The state of an adaptive operation in one session.
struct AdaptiveStage: SceneStage {
  private var operation: any AdaptiveOperation
  private var smoothing: TemporalSmoothing
  private var last: SampleGrid?

  init(_ operation: some AdaptiveOperation) {
    self.operation = operation
    self.smoothing = TemporalSmoothing(seconds: operation.smoothing)
  }

  mutating func adopt(_ request: any SceneRequest) -> Bool {
    guard let other = request as? any AdaptiveOperation,
      type(of: other) == type(of: self.operation)
    else { return false }
    self.operation = other
    self.smoothing.seconds = other.smoothing
    return true
  }

  mutating func step(_ view: SceneView) -> any Sendable {
    let samples = view.samples()
    let isCut = self.last.map { samples.isCut(from: $0) } ?? true
    self.last = samples
    return AdaptiveDrawing(
      value: self.smoothing.advance(
        to: self.operation.measure(samples), at: view.time, restarts: isCut))
  }
}

/// The smoothing of two measured numbers over the frames of a stream, using the frames' capture
/// times.
///
/// The value moves towards every measurement m: value += (m - value) (1 - e^(-t / time constant)),
/// t the time since the last frame. The value at a time therefore doesn't depend on the frame rate
/// or on dropped frames, if the measurements are equal. Measurements that alternate between two
/// numbers at an interval of t give values with the difference tanh(t / (2 time constants)) of the
/// measurements' difference.
///
/// - The first measurement is the first value, and the value after a restart, such as a cut.
/// - A frame without a measurement does not change the value.
/// - The time between two frames is measured between their capture times, if both have one, and
///   otherwise between their arrivals. It is 0 if the time runs backwards.
package struct TemporalSmoothing: Sendable, Hashable {
  /// The time constant in seconds; 0 follows every measurement.
  package var seconds: Double
  /// The latest value; `nil` before the first measurement.
  package private(set) var value: SIMD2<Double>?
  private var latest: SceneTime?

  /// - Parameter seconds: The time constant; at least 0.
  package init(seconds: Double) {
    self.seconds = seconds
  }

  /// Moves the value towards the measurement of the next frame.
  ///
  /// - Parameters:
  ///   - measured: The measurement; `nil` keeps the value.
  ///   - time: The frame's position.
  ///   - restarts: Whether the measurement replaces the value.
  /// - Returns: The value; `nil` before the first measurement.
  package mutating func advance(
    to measured: SIMD2<Double>?, at time: SceneTime, restarts: Bool
  ) -> SIMD2<Double>? {
    let elapsed = self.latest.map { time.seconds(since: $0) } ?? 0
    self.latest = time
    guard let measured else { return self.value }
    guard let value, !restarts, self.seconds > 0 else {
      self.value = measured
      return measured
    }
    let next = value + (measured - value) * -expm1(-elapsed / self.seconds)
    self.value = next
    return next
  }
}

extension SceneTime {
  /// The seconds since an earlier frame, at least 0.
  fileprivate func seconds(since earlier: SceneTime) -> Double {
    if self.captureNanoseconds != 0, earlier.captureNanoseconds != 0 {
      return max(0, (Double(self.captureNanoseconds) - Double(earlier.captureNanoseconds)) / 1e9)
    }
    return max(0, (self.time - earlier.time) / .seconds(1))
  }
}
