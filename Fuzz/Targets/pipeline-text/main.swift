import FuzzDriver
import SidelightKernelLanguage
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
      precondition((0 ... bytes.count).contains(error.utf8Offset), "a position beyond the text")
      precondition(!"\(error)".isEmpty)
    }
  } catch {
    precondition((0 ... bytes.count).contains(error.utf8Offset), "a position beyond the text")
    precondition(!"\(error)".isEmpty)
    return
  }
  let printed = pipeline.text
  // NaN is not equal to itself.
  let mayBeUnequal = printed.contains("nan")
  if printed.utf8.count <= PipelineText.maxLength {
    guard let again = try? PipelineText(printed).pipeline else {
      preconditionFailure("printed text cannot be parsed: \(printed)")
    }
    precondition(again == pipeline || mayBeUnequal, "printed text is another pipeline: \(printed)")
    precondition(again.text == printed, "printing is not stable: \(printed)")
  }
  let message = Sidelight_V1_Pipeline(pipeline)
  if let back = try? Pipeline(message) {
    precondition(
      back == pipeline || mayBeUnequal, "the message contains another pipeline: \(printed)")
  }
}
