/// A pipeline that the server refused during a stream.
struct RefusedPipeline: Error, CustomStringConvertible {
  /// The server's reason.
  let reason: String

  var description: String { "The server refused a pipeline: \(self.reason)" }
}
