import Foundation

/// The `.json` file next to a model. Its keys are optional if the shapes of the model imply them.
///
/// - `task` (`matte`, `faces` or `landmarks`)
/// - `input.name` (text): the input that takes the picture
/// - `input.layout` (`NCHW` or `NHWC`)
/// - `input.width`, `input.height` (integers): for inputs without a fixed size in the model
/// - `input.order` (`RGB` or `BGR`)
/// - `input.scale`, `input.mean` (number or three numbers): the input is `(sample - mean) * scale`
/// - `input.fit` (`stretch` or `letterbox`)
/// - `output.name` (text), `output.channel` (integer), `output.activation` (`none`, `sigmoid` or
///   `softmax`), `output.inverted` (boolean): for mattes
/// - `faces.encoding` (`blazeFace`, `yuNet`, `scrfd` or `ultraFace`), `faces.threshold`,
///   `faces.overlap` (numbers, 0-1), `faces.anchors` (cells per side and anchors per cell, for
///   every grid)
/// - `states` (list of `input` and `output`): outputs that become inputs of the next run
/// - `constants` (numbers by input)
/// - `about` (any value): ignored
package struct ModelDescriptionFile: Decodable {
  struct Input: Decodable {
    var name: String?
    var layout: ModelDescription.Layout?
    var width: Int?
    var height: Int?
    var order: ModelDescription.ChannelOrder?
    var scale: OneOrThree?
    var mean: OneOrThree?
    var fit: ModelDescription.Fit?
  }

  struct Output: Decodable {
    var name: String?
    var channel: Int?
    var activation: ModelDescription.Activation?
    var inverted: Bool?
  }

  struct Faces: Decodable {
    var encoding: ModelDescription.FaceEncoding?
    var threshold: Double?
    var overlap: Double?
    var anchors: [[Int]]?
  }

  struct State: Decodable {
    var input: String
    var output: String
  }

  /// A number for all channels, or one per channel.
  struct OneOrThree: Decodable {
    let values: [Double]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let value = try? container.decode(Double.self) {
        self.values = [value, value, value]
      } else {
        self.values = try container.decode([Double].self)
      }
    }
  }

  var task: ModelTask?
  var input: Input?
  var output: Output?
  var faces: Faces?
  var states: [State]?
  var constants: [String: Double]?

  private static let keys: [String: Set<String>] = [
    "": ["task", "input", "output", "faces", "states", "constants", "about"],
    "input": ["name", "layout", "width", "height", "order", "scale", "mean", "fit"],
    "output": ["name", "channel", "activation", "inverted"],
    "faces": ["encoding", "threshold", "overlap", "anchors"],
  ]

  /// Reads the file next to a model, and returns `nil` if it doesn't exist.
  ///
  /// - Throws: ``VisionError`` that names the model and the part that is invalid.
  static func read(nextTo model: ModelFile) throws(VisionError) -> ModelDescriptionFile? {
    guard let bytes = try model.descriptionBytes() else { return nil }
    return try self.parse(bytes, model)
  }

  /// Parses the contents of a file.
  package static func parse(_ bytes: [UInt8], _ model: ModelFile) throws(VisionError) -> Self {
    do {
      let tree = try JSONSerialization.jsonObject(with: Data(bytes))
      guard let tree = tree as? [String: Any] else {
        throw VisionError(.invalidDescription, "it is not an object")
      }
      try self.checkKeys(tree)
      return try JSONDecoder().decode(Self.self, from: Data(bytes))
    } catch let error as VisionError {
      throw model.error(error.code, "description: \(error.message)")
    } catch let error as DecodingError {
      throw model.error(.invalidDescription, "description: \(Self.explain(error))")
    } catch {
      throw model.error(.invalidDescription, "description: it is not JSON")
    }
  }

  /// Refuses keys with a typing error, which a decoder would ignore.
  private static func checkKeys(_ tree: [String: Any]) throws(VisionError) {
    for (part, known) in self.keys.sorted(by: { $0.key < $1.key }) {
      guard let object = part.isEmpty ? tree : tree[part] as? [String: Any] else { continue }
      if let unknown = Set(object.keys).subtracting(known).min() {
        throw VisionError(
          .invalidDescription,
          "\(part.isEmpty ? "" : part + ".")\(unknown) is unknown; known are "
            + known.sorted().joined(separator: ", ")
        )
      }
    }
  }

  private static func explain(_ error: DecodingError) -> String {
    let context: DecodingError.Context
    switch error {
    case .typeMismatch(_, let found), .valueNotFound(_, let found), .keyNotFound(_, let found),
      .dataCorrupted(let found):
      context = found
    @unknown default: return "it cannot be read"
    }
    let path = context.codingPath.map(\.stringValue).joined(separator: ".")
    return path.isEmpty ? "it is not JSON" : "\(path) has an invalid value"
  }
}
