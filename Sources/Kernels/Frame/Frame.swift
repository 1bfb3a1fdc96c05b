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

/// How a frame is to be shown: first mirrored, then turned. Passed on as it came; pixels stay.
public struct Orientation: Sendable, Hashable {
  /// Clockwise quarter turns, 0 ... 3.
  public var quarterTurns: Int
  /// Whether left and right are exchanged before the turn.
  public var isMirrored: Bool

  /// States an orientation; ``upright`` by default.
  public init(quarterTurns: Int = 0, isMirrored: Bool = false) {
    self.quarterTurns = quarterTurns
    self.isMirrored = isMirrored
  }

  /// Shown as stored.
  public static let upright = Orientation()
}

/// Which frame of a stream is being filtered, for filters that change with time.
public struct FrameMoment: Sendable, Hashable {
  /// The frame's number in its stream. The same number gives the same noise.
  ///
  /// In a session of the server: how many frames arrived on the stream before it, those that were
  /// dropped or refused included.
  public var index: UInt64

  /// - Parameter index: The frame's number; 0 for a still image, unless it is to be filtered as
  ///   another frame of a session.
  public init(index: UInt64 = 0) {
    self.index = index
  }
}
