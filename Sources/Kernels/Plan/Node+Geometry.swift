extension Node {
  /// A rectangle of the frame, resampled to a size: linear where it grows, the mean of what a pixel
  /// covers where it shrinks. The frames that come out have that size.
  ///
  /// - Parameters:
  ///   - origin: The left top corner, in pixels.
  ///   - extent: What is taken, in pixels; beyond the frame lies what is at its edge.
  ///   - size: The size of what comes out, 1 ... ``FrameLayout/maxDimension`` each way.
  package static func resample(
    from origin: (x: Double, y: Double), extent: (width: Double, height: Double), to size: FrameSize
  ) -> Node {
    Node(.neighborhood(ResampleOperation(origin: origin, extent: extent, size: size)))
  }

  /// The pixels turned and mirrored; what comes out is shown as it is stored.
  package static func orient(_ orientation: Orientation) -> Node {
    Node(.neighborhood(OrientOperation(orientation: orientation)))
  }
}
