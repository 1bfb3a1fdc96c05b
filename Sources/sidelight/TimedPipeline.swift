import ArgumentParser
import SidelightKernels
import SidelightWire

/// A change of the pipeline at a time of the video: `2.5=gaussianBlur(radius: 8)`.
struct TimedPipeline: Sendable {
  /// The time from the start of the video.
  let time: Duration
  let pipeline: Pipeline

  /// Parses an argument.
  ///
  /// - Throws: `ValidationError`, with the position of a fault in the pipeline.
  init(argument: String) throws {
    guard let separator = argument.firstIndex(of: "=") else {
      throw ValidationError("expected SECONDS=TEXT")
    }
    let time = argument[..<separator]
    guard let seconds = Double(time), seconds.isFinite, seconds >= 0 else {
      throw ValidationError("'\(time)' is not a time in seconds")
    }
    self.time = .seconds(seconds)
    self.pipeline =
      try PipelineText(argument: String(argument[argument.index(after: separator)...])).pipeline
  }
}
