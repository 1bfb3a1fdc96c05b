import ArgumentParser
import GRPCCore
import SidelightClient
import SidelightKernels
import SidelightWire

extension PipelineText {
  /// Runs an operation that sends the pipeline to a server.
  ///
  /// - Throws: `ValidationError` with the position in the text if the server refuses the pipeline;
  ///   other errors of `body`.
  func locatingRefusals<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch let error as RPCError {
      guard let refusal = FieldViolation(error)?.pipelineError else { throw error }
      let hint = self.pipeline.assetHint(for: refusal.message)
      throw ValidationError("\(self.locate(refusal))\(hint)")
    }
  }
}

extension Pipeline {
  /// Returns a line that follows the refusal of the pipeline's asset; empty for other refusals.
  fileprivate func assetHint(for reason: String) -> String {
    let use = self.assetUses(in: .command).first { use in
      reason.contains("no asset named \"\(use.name)\"")
    }
    guard let use else { return "" }
    return """

      A server cannot read the local file "\(use.name)": upload it with 'sidelight assets put', or \
      run 'sidelight apply' without --server.
      """
  }
}

extension ValidationError {
  /// Describes the refusal of a pipeline that was sent as text.
  init(_ change: RejectedChange, among pipelines: [TimedPipeline]) {
    let path = change.field.map { "\($0): " } ?? ""
    let reason = change.message.trimmingPrefix(path)
    let hints = pipelines.lazy.map { $0.text.pipeline.assetHint(for: change.message) }
    self.init("\(reason)\(hints.first { !$0.isEmpty } ?? "")")
  }
}

extension RPCError {
  /// The reason in one line, without the path of a field.
  var explanation: String {
    if let violation = FieldViolation(self) {
      let name = violation.field.split(separator: ".").last.map { "\($0) " } ?? ""
      return "\(name)\(violation.reason)"
    }
    let cause = self.cause.map { " (\($0))" } ?? ""
    return "\(self.message)\(cause)"
  }
}
