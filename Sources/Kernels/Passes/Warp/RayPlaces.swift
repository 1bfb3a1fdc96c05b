import CKernels

/// Where the pixels of a row are read along rays: every row of a plane reads at the same columns.
@safe
final class RayPlaces: @unchecked Sendable {
  /// The places as rows in C take them. Written by nobody after `init`.
  let pointers: UnsafeMutablePointer<sl_zoom_positions>

  /// Works out the places, if the rows in C gain from them.
  ///
  /// - Parameters:
  ///   - shape: The plane.
  ///   - scales: How far from the centre each tap reads, as shares of a pixel's own distance.
  ///   - center: The centre's column.
  init?(_ shape: PlaneShape, scales: [Double], center: Double) {
    let rows = unsafe sl_rows_current().pointee
    let block = unsafe rows.zoom_block
    guard
      block > 0, shape.step == 4, shape.width > block, scales.allSatisfy({ abs($0) <= 1 })
    else { return nil }
    let runs = (shape.width + block - 1) / block * scales.count
    unsafe self.pointers = .allocate(capacity: 1)
    unsafe self.pointers.initialize(
      to: sl_zoom_positions(
        first: .allocate(capacity: runs), pixels: .allocate(capacity: runs * block))
    )
    unsafe rows.zoom_blur_positions(
      scales.map(Float.init), scales.count, Float(center), shape.width, self.pointers.pointee)
  }

  deinit {
    unsafe self.pointers.pointee.first.deallocate()
    unsafe self.pointers.pointee.pixels.deallocate()
    unsafe self.pointers.deallocate()
  }
}
