package import SidelightKernels

extension FieldFault {
  /// A fault that the catalogue found, as the wire names it.
  package init(_ error: PipelineError) {
    let hint = error.suggestion.map { "; did you mean \($0)?" } ?? ""
    self.init(field: error.path, reason: error.message + hint)
  }
}
