/// Pointers to neighbouring rows of a plane, as rows in C take them.
enum RowPointers {
  /// Calls `body` with a pointer to each row of a range; rows beyond the edges are those at the
  /// edges.
  static func withRows<Result>(
    _ raster: RasterView, _ shape: PlaneShape, _ range: ClosedRange<Int>,
    _ body: (UnsafePointer<UnsafeRawPointer>) -> Result
  ) -> Result {
    unsafe withUnsafeTemporaryAllocation(of: UnsafeRawPointer.self, capacity: range.count) {
      pointers in
      for (index, y) in range.enumerated() {
        let row = min(max(y, 0), shape.height - 1)
        unsafe pointers.initializeElement(
          at: index, to: UnsafeRawPointer(raster.row(row, plane: shape.plane)))
      }
      return unsafe body(UnsafePointer(pointers.baseAddress.unsafelyUnwrapped))
    }
  }
}
