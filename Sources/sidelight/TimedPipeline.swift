import ArgumentParser
import SidelightKernels
import SidelightWire

/// A change of the pipeline at a time of the video: `2.5=gaussianBlur(radius: 8)`.
struct TimedPipeline: ExpressibleByArgument, Sendable {
  /// From the start of the video.
  let time: Duration
  let pipeline: Pipeline

  init?(argument: String) {
    guard let separator = argument.firstIndex(of: "="),
      let seconds = Double(argument[..<separator]), seconds.isFinite, seconds >= 0,
      let pipeline = try? Pipeline(text: String(argument[argument.index(after: separator)...]))
    else { return nil }
    self.time = .seconds(seconds)
    self.pipeline = pipeline
  }
}
