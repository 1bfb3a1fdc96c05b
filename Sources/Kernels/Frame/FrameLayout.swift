/// The position of a frame's planes in memory: format, size, offsets and strides.
///
/// Every layout is valid: every plane fits its rows, planes don't overlap, and sums don't overflow.
/// Code that reads pixels therefore only compares a layout with the buffer's length once.
public struct FrameLayout: Sendable, Hashable {
  /// The layout of samples.
  public let format: PixelFormat
  /// The size in pixels.
  public let size: FrameSize
  /// One entry per plane, in the order of ``PixelFormat``.
  public let planes: [PlaneLayout]
  /// The minimum size of a buffer: the end of the last row of the plane that ends last.
  public let byteCount: Int

  /// The largest width or height of a frame: 16384 pixels.
  public static let maxDimension = 16384

  /// Creates a layout without padding, the form in which frames travel by default.
  ///
  /// - Throws: ``FrameLayoutError`` for a size outside 1 ... ``maxDimension``.
  public init(
    packed format: PixelFormat, size: FrameSize
  ) throws(FrameLayoutError) {
    try self.init(format, size) { $0 }
  }

  /// Creates a layout for buffers of the pool. Strides are multiples of 64 bytes and never of 4096:
  /// rows that are 4096 bytes apart share cache sets, which makes vertical passes six times slower.
  ///
  /// - Throws: ``FrameLayoutError`` for a size outside 1 ... ``maxDimension``.
  public init(
    aligned format: PixelFormat, size: FrameSize
  ) throws(FrameLayoutError) {
    try self.init(format, size) { row in
      let stride = (row + 63) & ~63
      return stride.isMultiple(of: 4096) ? stride + 64 : stride
    }
  }

  private init(
    _ format: PixelFormat, _ size: FrameSize, stride: (_ rowByteCount: Int) -> Int
  ) throws(FrameLayoutError) {
    try Self.check(size: size)
    var planes: [PlaneLayout] = []
    planes.reserveCapacity(format.planeCount)
    var offset = 0
    for plane in 0 ..< format.planeCount {
      let stride = stride(format.rowByteCount(plane: plane, width: size.width))
      planes.append(PlaneLayout(offset: offset, stride: stride))
      offset += stride * format.rowCount(plane: plane, height: size.height)
    }
    self.init(format: format, size: size, planes: planes, byteCount: offset)
  }

  /// Creates a layout from offsets and strides of another program, after checking them.
  ///
  /// - Parameters:
  ///   - format: The layout of samples.
  ///   - size: The size in pixels.
  ///   - planes: An entry per plane; offsets in bytes from the start of the buffer.
  ///   - available: The bytes of the buffer that the layout must fit.
  /// - Throws: ``FrameLayoutError`` with the invalid plane and figure.
  public init(
    format: PixelFormat, size: FrameSize, planes: [PlaneLayout], available: Int
  ) throws(FrameLayoutError) {
    try Self.check(size: size)
    guard planes.count == format.planeCount else {
      throw .planeCount(format: format, expected: format.planeCount, actual: planes.count)
    }
    var extents: [Range<Int>] = []
    for (index, plane) in planes.enumerated() {
      let row = format.rowByteCount(plane: index, width: size.width)
      guard plane.stride >= row else {
        throw .strideTooSmall(plane: index, stride: plane.stride, minimum: row)
      }
      let rows = format.rowCount(plane: index, height: size.height)
      let (body, overflow) = plane.stride.multipliedReportingOverflow(by: rows - 1)
      let (span, overflow2) = body.addingReportingOverflow(row)
      let (end, overflow3) = plane.offset.addingReportingOverflow(span)
      guard plane.offset >= 0, !overflow, !overflow2, !overflow3, end <= available else {
        throw .outOfBounds(plane: index, available: available)
      }
      let extent = plane.offset ..< end
      if let other = extents.firstIndex(where: { $0.overlaps(extent) }) {
        throw .overlap(plane: index, other: other)
      }
      extents.append(extent)
    }
    let end = extents.reduce(0) { max($0, $1.upperBound) }
    self.init(format: format, size: size, planes: planes, byteCount: end)
  }

  private init(format: PixelFormat, size: FrameSize, planes: [PlaneLayout], byteCount: Int) {
    self.format = format
    self.size = size
    self.planes = planes
    self.byteCount = byteCount
  }

  private static func check(size: FrameSize) throws(FrameLayoutError) {
    guard (1 ... Self.maxDimension).contains(size.width),
      (1 ... Self.maxDimension).contains(size.height)
    else { throw .size(size, limit: Self.maxDimension) }
  }
}

/// The position of one plane within a buffer.
public struct PlaneLayout: Sendable, Hashable {
  /// Bytes from the start of the buffer to the plane's first sample.
  public var offset: Int
  /// Bytes from one row to the next; at least the row's own bytes.
  public var stride: Int

  /// Creates a plane's position.
  public init(offset: Int, stride: Int) {
    self.offset = offset
    self.stride = stride
  }
}

/// An invalid frame layout.
public enum FrameLayoutError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Width or height lies outside 1 ... limit.
  case size(FrameSize, limit: Int)
  /// The number of planes differs from the format's.
  case planeCount(format: PixelFormat, expected: Int, actual: Int)
  /// A row would overlap the next one.
  case strideTooSmall(plane: Int, stride: Int, minimum: Int)
  /// The plane starts before the buffer or ends after it.
  case outOfBounds(plane: Int, available: Int)
  /// Two planes share bytes.
  case overlap(plane: Int, other: Int)

  /// The plane, the value and the limit.
  public var description: String {
    switch self {
    case .size(let size, let limit):
      "size \(size) is outside 1x1 ... \(limit)x\(limit)"
    case .planeCount(let format, let expected, let actual):
      "\(format.rawValue) has \(expected) planes, \(actual) given"
    case .strideTooSmall(let plane, let stride, let minimum):
      "planes[\(plane)].stride is \(stride), a row has \(minimum) bytes"
    case .outOfBounds(let plane, let available):
      "planes[\(plane)] does not lie within the \(available) bytes of pixels"
    case .overlap(let plane, let other):
      "planes[\(plane)] overlaps planes[\(other)]"
    }
  }
}
