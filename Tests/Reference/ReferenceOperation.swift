package import SidelightKernels

/// A neighbourhood operation with a definition, with which its pass is compared: naive, in double
/// precision. A new operation has its definition in `Operations/`.
package protocol ReferenceOperation: NeighborhoodOperation {
  /// Whether the operation is a weighted sum of pixels. Then chroma that 2x2 pixels share gets
  /// exactly the result of full-size chroma: every pixel has the shared sample, and the result is
  /// the mean of their results. Other operations work on the chroma plane, with samples in the
  /// middle of their pixels.
  var sumsPixels: Bool { get }
  /// Applies the operation to one plane by its definition: naive, in double precision.
  func reference(_ plane: ReferencePlane) -> ReferencePlane
  /// Applies the operation to all planes of a picture by its definition. The default applies it to
  /// every plane independently.
  func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane]
}

extension ReferenceOperation {
  package var sumsPixels: Bool { false }
  package func reference(_ plane: ReferencePlane) -> ReferencePlane { plane }
  package func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane] {
    planes.map { plane in
      guard self.sumsPixels, plane.scale < 1 else { return self.reference(plane) }
      return self.reference(plane.spread(over: geometry.size)).shared()
    }
  }
}

/// A drawing with a definition, with which its pass is compared.
package protocol ReferenceDrawing: DrawingOperation {
  /// Draws on a picture by its definition, in double precision.
  func reference(
    _ picture: ReferencePicture, _ time: FrameTime, _ details: FrameDetails
  ) -> ReferencePicture
}

/// A function of pixels with a definition, with which its implementation is compared.
package protocol ReferenceFunction: Sendable {
  /// Returns the pixel's value in double precision.
  ///
  /// - Parameters:
  ///   - pixel: The pixel; straight.
  ///   - source: The source frame's pixel, if the function reads it; premultiplied.
  func reference(
    _ pixel: SIMD4<Double>, _ source: SIMD4<Double>, x: Int, y: Int, _ time: FrameTime
  ) -> SIMD4<Double>
}

/// An operation on whole pixels with a definition, with which its pass is compared.
package protocol DefinedOperation: NeighborhoodOperation {
  /// Returns the pixels of the result in double precision, premultiplied, as a function of column
  /// and row.
  ///
  /// - Parameter pixel: The input's pixel in a column and a row of the frame; premultiplied.
  func pixels(
    of size: FrameSize, _ time: FrameTime, _ pixel: @escaping (Int, Int) -> SIMD4<Double>
  ) -> (Int, Int) -> SIMD4<Double>
}
