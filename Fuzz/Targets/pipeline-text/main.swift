import FuzzDriver
import SidelightKernels
import SidelightWire

// Parses the text of a pipeline. A pipeline must survive printing and parsing, and
// encoding and decoding; an error must have a position in the text.

fuzz { input in
  let bytes = input.withUnsafeBytes { [UInt8]($0) }
  guard let text = String(validating: bytes, as: UTF8.self) else { return }
  let pipeline: Pipeline
  do throws(PipelineTextError) {
    let parsed = try PipelineText(text)
    pipeline = parsed.pipeline
    // Errors of the catalogue have a position in the text too.
    do throws(PipelineTextError) {
      _ = try parsed.resolve { pipeline throws(PipelineError) in
        try FilterCatalogue.builtIn.resolve(pipeline)
      }
    } catch {
      precondition((0 ... bytes.count).contains(error.utf8Offset), "a place beyond the text")
      precondition(!"\(error)".isEmpty)
    }
  } catch {
    precondition((0 ... bytes.count).contains(error.utf8Offset), "a place beyond the text")
    precondition(!"\(error)".isEmpty)
    return
  }
  let printed = pipeline.text
  // NaN is not equal to itself.
  let mayBeUnequal = printed.contains("nan")
  if printed.utf8.count <= PipelineText.maxLength {
    guard let again = try? PipelineText(printed).pipeline else {
      preconditionFailure("cannot be read again: \(printed)")
    }
    precondition(again == pipeline || mayBeUnequal, "is another when it is read again: \(printed)")
    precondition(again.text == printed, "is printed otherwise the next time: \(printed)")
  }
  let message = Sidelight_V1_Pipeline(pipeline)
  if let back = try? Pipeline(message) {
    precondition(back == pipeline || mayBeUnequal, "the message says something else: \(printed)")
  }
}
