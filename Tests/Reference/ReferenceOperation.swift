package import SidelightKernels

/// A neighbourhood operation with a definition, with which its pass is compared: naive, in double
/// precision. A new operation has its definition in `Operations/`.
package protocol ReferenceOperation: NeighborhoodOperation {
  /// Applies the operation to one plane by its definition: naive, in double precision.
  func reference(_ plane: ReferencePlane) -> ReferencePlane
  /// Applies the operation to all planes of a picture by its definition. The default applies it to
  /// every plane independently.
  func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane]
}

extension ReferenceOperation {
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
