package import CKernels

/// One plane of a raster as rows of interleaved samples.
package struct PlaneShape: Sendable, Hashable {
  /// The plane's index.
  package let plane: Int
  /// Samples from one pixel of the plane to the next: 1, 2 (NV12's chroma), 3 or 4.
  package let step: Int
  /// Pixels per row.
  package let width: Int
  /// Rows.
  package let height: Int
  /// The plane's pixels per pixel of the frame along either axis: 1, or 1/2 for chroma.
  package let scale: Double

  /// Samples per row.
  package var samples: Int { self.width * self.step }

  package static func planes(_ format: PixelFormat, _ size: FrameSize) -> [PlaneShape] {
    (0 ..< format.planeCount).map { plane in
      let isChroma = format.isYUV && plane > 0
      let width = isChroma ? (size.width + 1) / 2 : size.width
      return PlaneShape(
        plane: plane, step: format.rowByteCount(plane: plane, width: size.width) / width,
        width: width, height: format.rowCount(plane: plane, height: size.height),
        scale: isChroma ? 0.5 : 1)
    }
  }
}

extension RasterView {
  /// The first byte of a row of a plane. Beyond the top and bottom, the row at the edge.
  @inline(__always)
  func row(clamped y: Int, of shape: PlaneShape) -> UnsafeMutableRawPointer {
    unsafe self.row(min(max(y, 0), shape.height - 1), plane: shape.plane)
  }
}

/// A copy of a plane from a pass's input to its output, for all combinations of depths.
package struct PlaneCopy {
  package let shape: PlaneShape

  package init(shape: PlaneShape) {
    self.shape = shape
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let destination = context.output.view
    let shape = self.shape
    await context.bands.run(
      rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.1
    ) { band in
      let rows = unsafe sl_rows_current().pointee
      for y in band {
        let input = unsafe source.row(y, plane: shape.plane)
        let output = unsafe destination.row(y, plane: shape.plane)
        unsafe SampleCopy.copy(
          input, source.depth, output, destination.depth, count: shape.samples, rows)
      }
    }
  }
}

/// Copies of samples between depths. Deep samples become bytes by rounding and clamping.
package enum SampleCopy {
  /// Copies samples.
  package static func copy(
    _ input: UnsafeMutableRawPointer, _ from: SampleDepth, _ output: UnsafeMutableRawPointer,
    _ to: SampleDepth, count: Int, _ rows: sl_rows
  ) {
    switch (from, to) {
    case (.eight, .eight): unsafe output.copyMemory(from: input, byteCount: count)
    case (.deep, .deep): unsafe output.copyMemory(from: input, byteCount: count * 2)
    case (.eight, .deep): unsafe rows.widen(input, count, output)
    case (.deep, .eight):
      unsafe rows.narrow_u8(input.assumingMemoryBound(to: Int16.self), 5, count, output)
    }
  }

  /// Copies every fourth sample.
  ///
  /// - Parameter pixels: The number of pixels of four samples.
  static func copyAlpha(
    _ input: UnsafeMutableRawPointer, _ from: SampleDepth, _ output: UnsafeMutableRawPointer,
    _ to: SampleDepth, pixels: Int, _ rows: sl_rows
  ) {
    switch (from, to) {
    case (.eight, .eight): unsafe rows.copy_alpha_u8(input, pixels, output)
    case (.deep, .deep): unsafe rows.copy_alpha_i16(input, pixels, output)
    case (.eight, .deep): unsafe rows.copy_alpha_u8_i16(input, pixels, output)
    case (.deep, .eight): unsafe rows.copy_alpha_i16_u8(input, pixels, output)
    }
  }
}

/// Pointers to neighbouring rows of a plane, as the C rows take them.
enum RowPointers {
  /// Calls `body` with pointers to the rows of a range. Rows at the edges replace rows beyond them.
  static func withRows<Result>(
    _ raster: RasterView, _ shape: PlaneShape, _ range: ClosedRange<Int>,
    _ body: (UnsafePointer<UnsafeRawPointer>) -> Result
  ) -> Result {
    unsafe withUnsafeTemporaryAllocation(of: UnsafeRawPointer.self, capacity: range.count) {
      pointers in
      for (index, y) in range.enumerated() {
        unsafe pointers.initializeElement(
          at: index, to: UnsafeRawPointer(raster.row(clamped: y, of: shape)))
      }
      return unsafe body(UnsafePointer(pointers.baseAddress.unsafelyUnwrapped))
    }
  }
}
