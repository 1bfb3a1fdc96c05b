#if Vision
  import CVision
#endif

/// The reason why a model or a cascade cannot be used, or failed on a picture.
public struct VisionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The name of the code.
    public let description: String

    /// The file cannot be opened or read.
    public static let unreadable = Code(description: "unreadable")
    /// The file, its tensors or the cost of a run exceed a limit.
    public static let limitExceeded = Code(description: "limitExceeded")
    /// The file violates its format.
    public static let malformed = Code(description: "malformed")
    /// The model may be valid, but the runtime cannot run it. The message describes how to export
    /// it.
    public static let unsupported = Code(description: "unsupported")
    /// The model's shapes don't fit a known convention, and a description of its use is missing.
    public static let unknownConvention = Code(description: "unknownConvention")
    /// The description does not fit the model, or is invalid itself.
    public static let invalidDescription = Code(description: "invalidDescription")
    /// The name, task or runtime of a model is invalid, or the number of models exceeds the limit.
    public static let invalidConfiguration = Code(description: "invalidConfiguration")
    /// A library cannot be loaded.
    public static let unavailable = Code(description: "unavailable")
    /// A search, a run or another operation failed.
    public static let failed = Code(description: "failed")
  }

  /// The kind of error.
  public let code: Code
  /// The fault with its values, in one sentence.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Creates an error from any error of this module.
  init(_ error: any Error) {
    self = error as? VisionError ?? VisionError(.failed, "\(error)")
  }

  /// The code and the message.
  public var description: String { "\(self.code): \(self.message)" }

  #if Vision
    /// The message of this thread's last failure in the C functions, on one line.
    static var lastFailure: String {
      let message = unsafe String(cString: cvision_last_error())
      // OpenCV prefixes messages with its version and a line of its sources.
      let reason =
        message.firstRange(of: "error: ").map { message[$0.upperBound...] } ?? message[...]
      return reason.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
  #endif
}
