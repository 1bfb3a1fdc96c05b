/// A filter's work that depends on a measurement of the frame, such as its light.
///
/// Every frame of a stream is measured as it arrives, before the first stage, on a grid of samples
/// (``SampleGrid``). The measurement is smoothed over the stream (`TemporalSmoothing`), and the
/// smoothed value determines the nodes that filter the frame.
///
/// The state belongs to a stage of a session (`StreamScene`):
///
/// - It advances with every filtered frame, in order. Frames that are dropped, or skipped in a
///   pause, are not measured; time passes over them.
/// - Other arguments of the filter continue the state. A pipeline without the filter, an inactive
///   stage and a resumed session end it: the next frame is filtered by using its own measurement.
/// - In a transition both pipelines have a copy of the state.
/// - A frame that shows another scene than the last (``SampleGrid/isCut(from:)``) restarts it.
/// - A picture without a stream, such as a still image, is filtered by using its own measurement.
package protocol AdaptiveOperation: SceneOperation {
  /// The time constant of the smoothing in seconds; at least 0.
  var smoothing: Double { get }
  /// Whether the nodes are colour matrices, which then fold with neighbours in the pipeline.
  var isColorMatrix: Bool { get }
  /// Measures a frame. The measurement doesn't depend on the filter's arguments.
  ///
  /// - Returns: Two numbers; `nil` if too little is visible.
  func measure(_ samples: SampleGrid) -> SIMD2<Double>?
  /// Returns the nodes for a frame.
  ///
  /// - Parameter value: The smoothed measurement.
  func nodes(for value: SIMD2<Double>, of geometry: FrameGeometry) -> [FilterNode]
}

extension AdaptiveOperation {
  package var isCopyable: Bool { true }
  package var readsPicture: Bool { false }

  /// Returns the colour matrix for a value; the identity if the nodes don't change the frame.
  ///
  /// - Precondition: ``isColorMatrix``.
  func matrix(for value: SIMD2<Double>?, of geometry: FrameGeometry) -> ColorMatrix {
    guard let value else { return .identity }
    return self.nodes(for: value, of: geometry).reduce(.identity) { product, node in
      guard case .matrix(let matrix) = node.kind else {
        preconditionFailure("the operation is not a colour matrix: \(self.summary)")
      }
      return product.followed(by: matrix)
    }
  }
}

/// The smoothed measurement of a frame, of one stage; `nil` before the first.
package struct AdaptiveDrawing: Sendable {
  package let value: SIMD2<Double>?

  package init(value: SIMD2<Double>?) {
    self.value = value
  }
}
