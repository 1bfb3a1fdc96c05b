public import SidelightKernels

extension Pipeline {
  /// Parses the text form; see ``PipelineText`` for the grammar.
  ///
  /// - Throws: ``PipelineTextError`` that points at the character at fault.
  public init(text: String) throws(PipelineTextError) {
    self = try PipelineText(text).pipeline
  }

  /// The pipeline in the text form, on one line; ``init(text:)`` gives the same pipeline back.
  ///
  /// Parameters come in the order of their names, so equal pipelines have equal texts. Infinite
  /// numbers are written `1e999`. A pipeline beyond the limits of ``PipelineText`` is written as
  /// well, for logs, but cannot be read back; what is nested too deeply shows as `[...]`.
  public var text: String {
    var printer = PipelineTextPrinter()
    printer.print(self, depth: 1)
    return printer.text
  }

  /// ``text``, cut off with an ellipsis if it is longer than a number of bytes: for lists and logs.
  ///
  /// - Parameter limit: The most bytes of the result; at least 3.
  package func text(clippedToBytes limit: Int) -> String {
    var printer = PipelineTextPrinter(limit: limit)
    printer.print(self, depth: 1)
    return printer.text.clipped(toBytes: limit)
  }
}
