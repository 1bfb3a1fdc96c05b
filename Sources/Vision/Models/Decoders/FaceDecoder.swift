#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Reads the faces out of the outputs of a model.
package protocol FaceDecoder: Sendable {
  /// Returns the faces above the threshold, one per face.
  ///
  /// - Parameter outputs: The outputs, in the order and with the shapes that the decoder was
  ///   created with.
  func faces(_ outputs: [Tensor]) -> [FaceCandidate]
}

/// Creates the decoder for a model.
///
/// - Throws: ``VisionError`` if the outputs do not have the shapes of the encoding.
package func makeFaceDecoder(
  _ faces: ModelDescription.Faces, _ input: ModelDescription.Input, outputs: [TensorShape]
) throws(VisionError) -> any FaceDecoder {
  switch faces.encoding {
  case .blazeFace: try BlazeFaceDecoder(faces, input, outputs: outputs)
  case .yuNet: try YuNetDecoder(faces, input, outputs: outputs)
  case .scrfd: try SCRFDDecoder(faces, input, outputs: outputs)
  case .ultraFace: try UltraFaceDecoder(faces, input, outputs: outputs)
  }
}

/// Returns the index of the output with a number of rows and columns.
///
/// - Throws: ``VisionError`` with code `invalidDescription` that names the encoding.
func outputIndex(
  _ encoding: ModelDescription.FaceEncoding, rows: Int, columns: Int, named name: String? = nil,
  in outputs: [TensorShape]
) throws(VisionError) -> Int {
  let index = outputs.firstIndex {
    ($0.dimensions.last ?? 0) == columns && $0.count == rows * columns
      && (name == nil || $0.name == name)
  }
  if let index { return index }
  throw VisionError(
    .invalidDescription,
    "faces.encoding \(encoding.rawValue) needs an output \(name.map { "\($0) " } ?? "")of "
      + "\(rows)x\(columns); the model has "
      + outputs.prefix(16).map(\.description).joined(separator: ", ")
  )
}

/// The logistic function of a number of any size.
func logistic(_ value: Float) -> Double { 1 / (1 + exp(-Double(max(-100, min(100, value))))) }
