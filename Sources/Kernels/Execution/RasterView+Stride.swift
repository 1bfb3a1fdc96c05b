extension RasterView {
  /// Bytes from one row of a plane to the next.
  func stride(plane: Int) -> Int {
    unsafe self.row(1, plane: plane) - self.row(0, plane: plane)
  }
}
