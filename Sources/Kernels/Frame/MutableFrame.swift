/// A frame in the making: the only owner of its buffer, until ``finish()`` makes it a ``Frame``.
public struct MutableFrame: ~Copyable, Sendable {
  /// Format, size and planes.
  public let layout: FrameLayout
  /// What the samples will mean as colours.
  public var color: ColorDescription
  /// How the frame is to be shown.
  public var orientation: Orientation
  let buffer: PixelBuffer

  /// Puts a layout on a buffer that is to be written: one of the pool's, or somebody else's memory,
  /// such as a slot of shared memory or part of an outgoing message.
  ///
  /// - Parameters:
  ///   - layout: Where the planes lie in the buffer.
  ///   - color: What the samples will mean as colours.
  ///   - orientation: How the frame is to be shown.
  ///   - buffer: Bytes that nobody else reads or writes until ``finish()``; undefined until written.
  /// - Precondition: The buffer holds at least `layout.byteCount` bytes.
  public init(
    layout: FrameLayout, color: ColorDescription = ColorDescription(),
    orientation: Orientation = .upright, buffer: PixelBuffer
  ) {
    precondition(buffer.byteCount >= layout.byteCount, "the buffer is shorter than the layout")
    self.layout = layout
    self.color = color
    self.orientation = orientation
    self.buffer = buffer
  }

  /// Writes one row of one plane; its padding is left alone.
  ///
  /// - Precondition: Row and plane exist.
  public mutating func withMutableRow<Result>(
    _ row: Int, plane: Int = 0, _ body: (inout MutableRawSpan) throws -> Result
  ) rethrows -> Result {
    precondition((0 ..< self.layout.planes.count).contains(plane), "no such plane")
    let format = self.layout.format
    let rows = format.rowCount(plane: plane, height: self.layout.size.height)
    precondition((0 ..< rows).contains(row), "no such row")
    let count = format.rowByteCount(plane: plane, width: self.layout.size.width)
    let bytes = unsafe UnsafeMutableRawBufferPointer(
      start: self.baseAddress(plane: plane) + row * self.layout.planes[plane].stride, count: count)
    var span = unsafe bytes.mutableBytes
    return try body(&span)
  }

  /// The first sample of a plane. Bands of one frame write disjoint rows through it at a time.
  package func baseAddress(plane: Int) -> UnsafeMutablePointer<UInt8> {
    unsafe self.buffer.bytes.baseAddress.unsafelyUnwrapped
      .advanced(by: self.layout.planes[plane].offset)
      .assumingMemoryBound(to: UInt8.self)
  }

  /// Ends the writing.
  public consuming func finish() -> Frame {
    Frame(
      layout: self.layout, color: self.color, orientation: self.orientation, buffer: self.buffer)
  }
}
