import CKernels

/// A picture: planes of samples in a buffer, with their colour description and orientation.
///
/// A frame is an immutable value; copies share the buffer. Filters write new frames.
public struct Frame: Sendable {
  /// Format, size and planes.
  public let layout: FrameLayout
  /// The meaning of the samples as colours.
  public let color: ColorDescription
  /// The orientation in which the frame is displayed.
  public let orientation: Orientation
  /// The bytes that the layout's offsets refer to.
  public let buffer: PixelBuffer

  /// Creates a frame from a layout and a buffer.
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
  /// The geometry: the properties that plans depend on.
  public var geometry: FrameGeometry {
    FrameGeometry(format: self.format, size: self.size, color: self.color)
  }

  /// Reads one row of one plane, without its padding.
  ///
  /// - Parameters:
  ///   - row: The row, from the top, `0 ..< rowCount` of the plane.
  ///   - plane: The plane's index.
  ///   - body: Receives the row's bytes, which are valid during the call.
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

/// A writable frame: the only owner of its buffer until ``finish()`` turns it into a ``Frame``.
public struct MutableFrame: ~Copyable, Sendable {
  /// Format, size and planes.
  public let layout: FrameLayout
  /// The meaning of the samples as colours.
  public var color: ColorDescription
  /// The orientation in which the frame is displayed.
  public var orientation: Orientation
  package let buffer: PixelBuffer

  /// Creates a writable frame in a buffer of the pool or in other memory, such as a slot of shared
  /// memory or a part of an outgoing message.
  ///
  /// - Parameters:
  ///   - layout: The position of the planes in the buffer.
  ///   - color: The meaning of the samples as colours.
  ///   - orientation: The orientation in which the frame is displayed.
  ///   - buffer: Bytes that other code must not read or write until ``finish()``; undefined until
  ///     written.
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

  /// Writes one row of one plane. The row's padding is not changed.
  ///
  /// - Parameters:
  ///   - row: The row, from the top, `0 ..< rowCount` of the plane.
  ///   - plane: The plane's index.
  ///   - body: Receives the row's bytes, which are valid during the call.
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

  /// The first sample of a plane. Bands of one frame write disjoint rows at the same time.
  package func baseAddress(plane: Int) -> UnsafeMutablePointer<UInt8> {
    unsafe self.buffer.bytes.baseAddress.unsafelyUnwrapped
      .advanced(by: self.layout.planes[plane].offset)
      .assumingMemoryBound(to: UInt8.self)
  }

  /// Ends the writing and returns the frame.
  public consuming func finish() -> Frame {
    Frame(
      layout: self.layout, color: self.color, orientation: self.orientation, buffer: self.buffer)
  }
}

/// The orientation in which a frame is displayed: first mirrored, then rotated. Filters pass it on
/// without rotating pixels.
public struct Orientation: Sendable, Hashable {
  /// Clockwise quarter turns, 0 ... 3.
  public var quarterTurns: Int
  /// Whether left and right are exchanged before the rotation.
  public var isMirrored: Bool

  /// Creates an orientation; ``upright`` by default.
  public init(quarterTurns: Int = 0, isMirrored: Bool = false) {
    self.quarterTurns = quarterTurns
    self.isMirrored = isMirrored
  }

  /// Displayed as stored.
  public static let upright = Orientation()
}

/// The position of a frame in its stream, for filters that change with time.
public struct FrameTime: Sendable, Hashable {
  /// The frame's number in its stream. The same number gives the same noise.
  ///
  /// In a session of the server: the number of frames that arrived on the stream before it,
  /// including dropped and refused frames.
  public var index: UInt64
  /// The time of the frame's arrival, since a fixed instant of the session's clock. Zero for a
  /// still image.
  public var arrival: Duration

  /// Creates a position.
  ///
  /// - Parameters:
  ///   - index: The frame's number; 0 for a still image, unless it should be filtered like another
  ///     frame of a session.
  ///   - arrival: The time of its arrival.
  public init(index: UInt64 = 0, arrival: Duration = .zero) {
    self.index = index
    self.arrival = arrival
  }
}

/// The values of a frame that stages can show: its time, its number, and the names of its stream.
public struct FrameDetails: Sendable, Hashable {
  /// The capture time in nanoseconds since the start of 1970 in UTC, as reported by the sender.
  public var captureNanoseconds: Int64
  /// The number that the sender gave the frame.
  public var sequence: UInt64
  /// The name of the stream; may be empty.
  public var label: String
  /// The name of the person or program that owns the stream; may be empty.
  public var participant: String
  /// The texts that the sender attached to the frame, by key.
  public var tags: [String: String]

  /// Creates the values of a frame.
  public init(
    captureNanoseconds: Int64 = 0, sequence: UInt64 = 0, label: String = "",
    participant: String = "", tags: [String: String] = [:]
  ) {
    self.captureNanoseconds = captureNanoseconds
    self.sequence = sequence
    self.label = label
    self.participant = participant
    self.tags = tags
  }
}

extension Frame {
  /// Returns the frame on black, with the same geometry and an alpha of 255; the frame itself if
  /// its format doesn't have alpha, or all of its pixels are opaque.
  ///
  /// A fourth channel that is declared to be ignored (``AlphaMode/opaque``) becomes 255 too.
  package func onBlack(in pool: BufferPool) -> Frame {
    guard self.format.hasAlpha, !self.hasOpaquePixelsOnly else { return self }
    // The size of an existing frame is valid.
    guard let result = try? pool.makeFrame(self.geometry, orientation: self.orientation) else {
      preconditionFailure("no frame has the geometry \(self.geometry)")
    }
    let rows = unsafe sl_rows_current().pointee
    let (width, strides) = (self.size.width, (self.layout.planes[0], result.layout.planes[0]))
    for y in 0 ..< self.size.height {
      let source = unsafe self.baseAddress(plane: 0) + y * strides.0.stride
      let target = unsafe result.baseAddress(plane: 0) + y * strides.1.stride
      let isWritten =
        unsafe self.color.alpha == .straight && rows.premultiply_pixels(source, width, target) != 0
      if !isWritten { unsafe target.update(from: source, count: 4 * width) }
      unsafe rows.set_opaque(target, width)
    }
    return result.finish()
  }

  /// Whether every pixel's fourth channel is 255.
  private var hasOpaquePixelsOnly: Bool {
    let stride = self.layout.planes[0].stride
    for y in 0 ..< self.size.height {
      let row = unsafe self.baseAddress(plane: 0) + y * stride
      var all: UInt8 = 255
      for x in 0 ..< self.size.width { all &= unsafe row[4 * x + 3] }
      guard all == 255 else { return false }
    }
    return true
  }
}
