import FuzzDriver
import SidelightKernels
import SidelightWire

// Reads what is said to be a pipeline's text. What can be read, printed and read again is the same, and
// so is what its message says; what cannot be read is complained of at a place in the text.

fuzz { input in
  let bytes = input.withUnsafeBytes { [UInt8]($0) }
  guard let text = String(validating: bytes, as: UTF8.self) else { return }
  let pipeline: Pipeline
  do throws(PipelineTextError) {
    let parsed = try PipelineText(text)
    pipeline = parsed.pipeline
    // Complaints of the catalogue are pointed at the text too.
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
  // What is no number equals nothing, itself neither.
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
