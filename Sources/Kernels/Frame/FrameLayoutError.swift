/// Why a stated layout cannot be a frame.
public enum FrameLayoutError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Width or height lies outside 1 ... limit.
  case size(FrameSize, limit: Int)
  /// The format has another number of planes.
  case planeCount(format: PixelFormat, expected: Int, actual: Int)
  /// A row would overlap the next one.
  case strideTooSmall(plane: Int, stride: Int, minimum: Int)
  /// The plane ends past the bytes that are there, or starts before them.
  case outOfBounds(plane: Int, available: Int)
  /// Two planes share bytes.
  case overlap(plane: Int, other: Int)

  /// What is wrong, with plane, value and limit.
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
