import SidelightKernels

extension Frame {
  /// A copy in a buffer of somebody else's, plane by plane and row by row.
  func copied(to buffer: PixelBuffer, layout: FrameLayout) -> Frame {
    var copy = MutableFrame(layout: layout, color: self.color, buffer: buffer)
    for shape in PlaneShape.planes(self.format, self.size) {
      for y in 0 ..< shape.height {
        self.withRow(y, plane: shape.plane) { from in
          copy.withMutableRow(y, plane: shape.plane) { to in
            for index in 0 ..< from.byteCount {
              to.storeBytes(
                of: unsafe from.unsafeLoad(fromByteOffset: index, as: UInt8.self),
                toByteOffset: index, as: UInt8.self)
            }
          }
        }
      }
    }
    return copy.finish()
  }
}
