public import SidelightKernels

extension ParameterValue {
  /// The value as a pipeline's text has it: `0.8`, `0.5w`, `(0.5w, 0.5h)`, `#ff8000`.
  public var textForm: String { PipelineTextPrinter.value(self) }
}
