package import CKernels

/// The samples that a pass reads or writes, of a frame or of a picture between two passes.
@safe
package struct Raster: Sendable {
  /// The layout of the samples as bytes in a separate buffer. Deep samples have other strides.
  package let layout: FrameLayout
  /// The storage of samples.
  package let depth: SampleDepth
  /// The addresses of the rows; valid while the raster lives.
  package let view: RasterView
  private let buffer: PixelBuffer

  /// The samples of a frame.
  package init(_ frame: Frame) {
    self.init(frame.layout, .eight, frame.layout.planes, frame.buffer)
  }

  /// The samples of a frame that is being written, for passes. The frame's planes may be anywhere
  /// in a buffer.
  package init(_ frame: borrowing MutableFrame) {
    self.init(frame.layout, .eight, frame.layout.planes, frame.buffer)
  }

  /// Samples to be written, in a buffer of the pool.
  package init(layout: FrameLayout, depth: SampleDepth, pool: BufferPool) {
    guard depth == .deep else {
      let buffer = pool.makeBuffer(byteCount: layout.byteCount)
      self.init(layout, depth, layout.planes, buffer)
      return
    }
    // Doubled strides may become multiples of 4096, which slow vertical passes down.
    var planes: [PlaneLayout] = []
    var offset = 0
    for (index, plane) in layout.planes.enumerated() {
      var stride = plane.stride * depth.byteCount
      if stride.isMultiple(of: 4096) { stride += 64 }
      planes.append(PlaneLayout(offset: offset, stride: stride))
      offset += stride * layout.format.rowCount(plane: index, height: layout.size.height)
    }
    self.init(layout, depth, planes, pool.makeBuffer(byteCount: offset))
  }

  private init(
    _ layout: FrameLayout, _ depth: SampleDepth, _ planes: [PlaneLayout], _ buffer: PixelBuffer
  ) {
    self.layout = layout
    self.depth = depth
    self.buffer = buffer
    self.view = RasterView(
      buffer, planes, format: layout.format, size: layout.size, depth: depth)
  }

  /// The layout of samples.
  package var format: PixelFormat { self.layout.format }
  /// The size in pixels.
  package var size: FrameSize { self.layout.size }

  /// The first byte of a row. Only the pass that outputs this raster may write the row, one band at
  /// a time.
  @inline(__always)
  package func row(_ row: Int, plane: Int = 0) -> UnsafeMutableRawPointer {
    unsafe self.view.row(row, plane: plane)
  }

  /// Returns the samples as a frame to be written by a custom function.
  ///
  /// - Precondition: The samples are bytes, and other code doesn't write them meanwhile.
  package func mutableFrame(color: ColorDescription) -> MutableFrame {
    precondition(self.depth == .eight, "deep samples are not those of a frame")
    return MutableFrame(
      layout: self.layout, color: color, orientation: .upright, buffer: self.buffer)
  }

  /// The owner of memory that another process may change, if it is such memory.
  var foreignMemory: (any ForeignMemory)? { self.buffer.origin as? any ForeignMemory }

  /// Returns the samples as a frame.
  ///
  /// - Precondition: The samples are bytes.
  package func frame(
    color: ColorDescription, orientation: Orientation
  ) -> Frame {
    precondition(self.depth == .eight, "deep samples are not those of a frame")
    return Frame(layout: self.layout, color: color, orientation: orientation, buffer: self.buffer)
  }
}

/// The addresses of a raster's rows: plain numbers. Many threads read them at the same time and
/// would contend for the reference count of an array or object.
@safe
package struct RasterView: @unchecked Sendable {  // used only while its raster lives
  /// The layout of samples.
  package let format: PixelFormat
  /// The size in pixels.
  package let size: FrameSize
  /// The storage of samples.
  package let depth: SampleDepth
  private let bases: (UnsafeMutableRawPointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer)
  private let strides: (Int, Int, Int)

  init(
    _ buffer: PixelBuffer, _ planes: [PlaneLayout], format: PixelFormat, size: FrameSize,
    depth: SampleDepth
  ) {
    self.format = format
    self.size = size
    self.depth = depth
    let start = unsafe buffer.bytes.baseAddress.unsafelyUnwrapped
    // Formats with fewer planes repeat their last one.
    let all = (0 ..< 3).map { planes[min($0, planes.count - 1)] }
    unsafe self.bases = (start + all[0].offset, start + all[1].offset, start + all[2].offset)
    self.strides = (all[0].stride, all[1].stride, all[2].stride)
  }

  /// The first byte of a row. Only the pass that outputs this raster may write the row, one band at
  /// a time.
  @inline(__always)
  package func row(_ row: Int, plane: Int = 0) -> UnsafeMutableRawPointer {
    switch plane {
    case 0: unsafe self.bases.0 + row * self.strides.0
    case 1: unsafe self.bases.1 + row * self.strides.1
    default: unsafe self.bases.2 + row * self.strides.2
    }
  }
}

extension RasterView {
  /// Bytes from one row of a plane to the next.
  func stride(plane: Int) -> Int {
    unsafe self.row(1, plane: plane) - self.row(0, plane: plane)
  }
}

extension RasterView {
  /// The samples for kernel programs, of a format with four channels.
  package var kernelPicture: sl_kernel_picture {
    unsafe sl_kernel_picture(
      start: self.row(0), stride: self.stride(plane: 0), width: Int32(self.size.width),
      height: Int32(self.size.height), is_deep: self.depth == .deep ? 1 : 0,
      is_bgra: self.format == .bgra8 ? 1 : 0)
  }
}

/// The storage of a sample.
package enum SampleDepth: Sendable, Hashable {
  /// A byte: a level 0 ... 255. The samples of frames.
  case eight
  /// A signed 16-bit number in units of 1/32 level, about -1024 ... 1024. The samples between
  /// passes, which delays clamping and rounding to levels to the last pass.
  case deep

  /// The bytes of one sample.
  package var byteCount: Int {
    switch self {
    case .eight: 1
    case .deep: 2
    }
  }
}

/// The relation of one raster's memory to another's.
package enum MemoryRelation: Sendable, Hashable {
  /// They don't share memory.
  case disjoint
  /// All samples of one are the same samples of the other.
  case same
  /// They share bytes in another way: writing one may change other samples of the other.
  case overlapping
}

extension Raster {
  /// Returns the relation of this raster's memory to another's. Rasters with interleaved planes
  /// that don't share bytes count as overlapping.
  package func relation(to other: Raster) -> MemoryRelation {
    let (mine, theirs) = (self.extents, other.extents)
    guard mine.contains(where: { extent in theirs.contains { $0.overlaps(extent) } }) else {
      return .disjoint
    }
    let isSame =
      self.format == other.format && self.size == other.size && self.depth == other.depth
      && mine.map(\.lowerBound) == theirs.map(\.lowerBound)
      && mine.indices.allSatisfy {
        self.view.stride(plane: $0) == other.view.stride(plane: $0)
          || self.format.rowCount(plane: $0, height: self.size.height) == 1
      }
    return isSame ? .same : .overlapping
  }

  /// The addresses from every plane's first sample to its last.
  private var extents: [Range<UInt>] {
    PlaneShape.planes(self.format, self.size).map { shape in
      let first = unsafe UInt(bitPattern: self.row(0, plane: shape.plane))
      let last = unsafe UInt(bitPattern: self.row(shape.height - 1, plane: shape.plane))
      return first ..< last + UInt(shape.samples * self.depth.byteCount)
    }
  }
}
