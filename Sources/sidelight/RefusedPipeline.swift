/// A server that refused a pipeline in mid-stream.
struct RefusedPipeline: Error, CustomStringConvertible {
  /// What the server said.
  let reason: String

  var description: String { "The server refused a pipeline: \(self.reason)" }
}
