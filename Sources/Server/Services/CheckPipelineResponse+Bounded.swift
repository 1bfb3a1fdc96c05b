package import SidelightKernels
package import SidelightWire
import SwiftProtobuf

extension Sidelight_V1_CheckPipelineResponse {
  /// The answer to a check, which has at most a number of bytes: passes that do not fit are left
  /// out from the end and counted, then the text, then the pipeline.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline, which resolves.
  ///   - passes: The passes that it compiles to.
  ///   - limit: The most bytes of the serialized response.
  package init(of pipeline: Pipeline, passes: [PassDescription], atMost limit: Int) {
    self.init()
    var left = limit - Self.omittedPassesBytes
    let message = Sidelight_V1_Pipeline(pipeline)
    if Self.take(message.byteCount, from: &left) { self.pipeline = message }
    let text = pipeline.text
    if text.utf8.count <= ContractLimits.maxPipelineTextBytes,
      Self.take(text.utf8.count, from: &left)
    {
      self.text = text
    }
    for pass in passes {
      let compiled = Sidelight_V1_CompiledPass.with {
        $0.name = pass.name
        $0.filters = pass.filters
        $0.description_p = pass.words.clipped(toBytes: ContractLimits.maxPassDescriptionBytes)
      }
      guard Self.take(compiled.byteCount, from: &left) else { break }
      self.passes.append(compiled)
    }
    self.omittedPasses = UInt32(clamping: passes.count - self.passes.count)
  }

  /// Tag and value of `omitted_passes`.
  private static let omittedPassesBytes = 6
  /// The most bytes of a field's tag and length; all fields here have numbers below 16.
  private static let fieldOverhead = 6

  /// Takes the bytes of a field.
  ///
  /// - Returns: Whether there were as many.
  private static func take(_ byteCount: Int, from left: inout Int) -> Bool {
    guard byteCount + Self.fieldOverhead <= left else { return false }
    left -= byteCount + Self.fieldOverhead
    return true
  }
}
