/// Why a picture could not be read or written.
public struct CodecError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Value: String, Sendable {
      case unknownFormat, truncated, corrupt, unsupported, limitExceeded, invalidOption, failed
    }
    private let value: Value

    /// The bytes are of no format that is read.
    public static let unknownFormat = Code(value: .unknownFormat)
    /// The file ends before the picture does.
    public static let truncated = Code(value: .truncated)
    /// The file contradicts its format.
    public static let corrupt = Code(value: .corrupt)
    /// The file may be sound, but is of a kind that is not read: CMYK, 12 bits, lossless JPEG.
    public static let unsupported = Code(value: .unsupported)
    /// The picture is larger than the ``ImageLimits``; nothing was allocated for it.
    public static let limitExceeded = Code(value: .limitExceeded)
    /// An option of the encoder is out of its range.
    public static let invalidOption = Code(value: .invalidOption)
    /// The library below refused, for a reason that the message repeats: out of memory, usually.
    public static let failed = Code(value: .failed)

    /// The code's name.
    public var description: String { self.value.rawValue }
  }

  /// The kind of fault.
  public let code: Code
  /// What is wrong, with the figures, in one sentence.
  public let message: String

  /// States a fault.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The code and the message.
  public var description: String { "\(self.code): \(self.message)" }
}
