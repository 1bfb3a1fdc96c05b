/// Why a pipeline cannot be run, and where the fault lies.
public struct PipelineError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault.
  public enum Code: String, Sendable, Hashable {
    /// The catalogue has no filter of that name.
    case unknownFilter
    /// The filter has no parameter of that name.
    case unknownParameter
    /// The same parameter was given twice, once under another spelling.
    case duplicateParameter
    /// A parameter that has no default was not given.
    case missingParameter
    /// The value is of another kind than the parameter.
    case wrongType
    /// The value is not finite, or lies beyond the parameter's hard limits.
    case outOfLimits
    /// The pipeline has more than ``Pipeline/maxStages`` stages.
    case tooManyStages
    /// Pipelines nest deeper than ``Pipeline/maxDepth``.
    case tooDeep
    /// Two stages have the same id.
    case duplicateStageID
    /// No stage has that id.
    case unknownStage
    /// There is no asset of that name, or it is of another kind.
    case unknownAsset
    /// A stage's mix or region cannot be.
    case invalidStage
    /// A name, a text, or a list of values or parameters is larger than ``Pipeline`` allows.
    case tooLarge
  }

  /// The kind of fault.
  public let code: Code
  /// Where: `stages[1].pipeline.stages[0].filter.parameters["radius"]`.
  public let path: String
  /// What is wrong, with the figures, in one sentence.
  public let message: String
  /// The nearest name that exists, for faults of spelling.
  public let suggestion: String?

  /// States a fault.
  public init(code: Code, path: String, message: String, suggestion: String? = nil) {
    self.code = code
    self.path = path
    self.message = message
    self.suggestion = suggestion
  }

  /// Where, what, and the nearest name.
  public var description: String {
    let hint = self.suggestion.map { "; did you mean \($0)?" } ?? ""
    return "\(self.path): \(self.message)\(hint)"
  }
}

extension String {
  /// The text, cut off at a character boundary after a number of bytes, with an ellipsis where it
  /// is cut.
  ///
  /// For text of a caller that an error, a log line or a list repeats: errors travel in headers,
  /// and clients refuse headers of more than 8 KiB. The bound counts bytes, since one character may
  /// have any number of them.
  ///
  /// - Parameter limit: The most bytes of the result; at least 3.
  package func clipped(toBytes limit: Int) -> String {
    guard self.utf8.count > limit else { return self }
    // A position within a scalar is rounded down to the scalar's start.
    let end = self.utf8.index(self.utf8.startIndex, offsetBy: limit - 3)
    return String(self.unicodeScalars[..<end]) + "..."
  }
}
