/// One picture: planes of samples in a buffer, what they mean as colours, and how to show them.
///
/// A frame is an immutable value; copies share the buffer. Filters make new frames.
public struct Frame: Sendable {
  /// Format, size and planes.
  public let layout: FrameLayout
  /// What the samples mean as colours.
  public let color: ColorDescription
  /// How the frame is to be shown.
  public let orientation: Orientation
  /// The bytes that the layout's offsets refer to.
  public let buffer: PixelBuffer

  /// Puts a layout on a buffer.
  ///
  /// - Precondition: The buffer holds at least `layout.byteCount` bytes.
  public init(
    layout: FrameLayout,
    color: ColorDescription = ColorDescription(),
    orientation: Orientation = .upright,
    buffer: PixelBuffer
  ) {
    precondition(buffer.byteCount >= layout.byteCount, "the buffer is shorter than the layout")
    self.layout = layout
    self.color = color
    self.orientation = orientation
    self.buffer = buffer
  }

  /// The layout of samples.
  public var format: PixelFormat { self.layout.format }
  /// The size in pixels.
  public var size: FrameSize { self.layout.size }
  /// What plans are compiled for.
  public var geometry: FrameGeometry {
    FrameGeometry(format: self.format, size: self.size, color: self.color)
  }

  /// Reads one row of one plane, without its padding.
  ///
  /// - Parameters:
  ///   - row: The row, from the top, `0 ..< rowCount` of the plane.
  ///   - plane: The plane's index.
  /// - Precondition: Row and plane exist.
  public func withRow<Result>(
    _ row: Int, plane: Int = 0, _ body: (RawSpan) throws -> Result
  ) rethrows -> Result {
    precondition((0 ..< self.layout.planes.count).contains(plane), "no such plane")
    let rows = self.format.rowCount(plane: plane, height: self.size.height)
    precondition((0 ..< rows).contains(row), "no such row")
    let count = self.format.rowByteCount(plane: plane, width: self.size.width)
    let bytes = unsafe UnsafeRawBufferPointer(
      start: self.baseAddress(plane: plane) + row * self.layout.planes[plane].stride, count: count)
    return try unsafe body(bytes.bytes)
  }

  /// The first sample of a plane.
  package func baseAddress(plane: Int) -> UnsafePointer<UInt8> {
    unsafe UnsafePointer(
      self.buffer.bytes.baseAddress.unsafelyUnwrapped
        .advanced(by: self.layout.planes[plane].offset)
        .assumingMemoryBound(to: UInt8.self))
  }
}
