import Foundation

/// The purpose of a model.
public enum ModelTask: String, Sendable, Hashable, CaseIterable, Codable {
  /// Separating a person from the background.
  case matte
  /// Finding faces.
  case faces
  /// Locating the eyes and the mouth of a known face.
  case landmarks
}

/// How a model is fed, and how its outputs are read.
package struct ModelDescription: Sendable, Hashable {
  /// The order of the dimensions of a picture.
  package enum Layout: String, Sendable, Hashable, Codable {
    case nchw = "NCHW"
    case nhwc = "NHWC"
  }

  /// The order of the colours of a pixel.
  package enum ChannelOrder: String, Sendable, Hashable, Codable {
    case rgb = "RGB"
    case bgr = "BGR"
  }

  /// How a picture of another shape becomes the input.
  package enum Fit: String, Sendable, Hashable, Codable {
    /// The picture fills the input; its sides change by different factors.
    case stretch
    /// The picture keeps its shape, starts at the top left, and the rest of the input is 0.
    case letterbox
  }

  /// A function that turns outputs of a model into probabilities.
  package enum Activation: String, Sendable, Hashable, Codable {
    /// The outputs are probabilities.
    case none
    case sigmoid
    /// Over all channels.
    case softmax
  }

  /// The encoding of faces in a model's outputs.
  package enum FaceEncoding: String, Sendable, Hashable, CaseIterable, Codable {
    case blazeFace, yuNet, scrfd, ultraFace
  }

  /// The picture that a model takes.
  package struct Input: Sendable, Hashable {
    package var name: String
    package var layout: Layout
    package var width: Int
    package var height: Int
    package var order: ChannelOrder
    /// The input of a sample `v` of 0 to 255 is `(v - mean) * scale`. One per channel, in the order
    /// of the channels.
    package var scale: [Double]
    package var mean: [Double]
    package var fit: Fit

    package init(
      name: String, layout: Layout, width: Int, height: Int, order: ChannelOrder = .rgb,
      scale: [Double] = [Double](repeating: 1 / 255, count: 3),
      mean: [Double] = [Double](repeating: 0, count: 3), fit: Fit
    ) {
      self.name = name
      self.layout = layout
      self.width = width
      self.height = height
      self.order = order
      self.scale = scale
      self.mean = mean
      self.fit = fit
    }
  }

  /// The output of a model of mattes.
  package struct Matte: Sendable, Hashable {
    package var name: String
    package var channel = 0
    package var activation = Activation.none
    /// Whether the channel is the background instead of the person.
    package var isInverted = false
  }

  /// The outputs of a model of faces.
  package struct Faces: Sendable, Hashable {
    package var encoding: FaceEncoding
    /// The minimum confidence of a face, 0 to 1.
    package var threshold: Double
    /// The overlap (intersection over union) above which two boxes belong to the same face.
    package var overlap: Double
    /// For `blazeFace`: cells per side and anchors per cell, for every grid.
    package var anchors: [[Int]]

    package init(
      encoding: FaceEncoding, threshold: Double = 0.5, overlap: Double = 0.3,
      anchors: [[Int]] = []
    ) {
      self.encoding = encoding
      self.threshold = threshold
      self.overlap = overlap
      self.anchors = anchors
    }
  }

  /// The outputs of a model of landmarks: MediaPipe's mesh of 468 points.
  package struct Landmarks: Sendable, Hashable {
    /// The output with x, y and z of the points, in pixels of the input.
    package var points: String
    /// The output with the logit of the confidence that the input shows a face.
    package var presence: String

    /// The values of the 468 points of the mesh.
    static let valueCount = 3 * 468
  }

  /// The meaning of the outputs.
  package enum Output: Sendable, Hashable {
    case matte(Matte)
    case faces(Faces)
    case landmarks(Landmarks)
  }

  /// An output that becomes an input of the next run, 0 at first.
  package struct State: Sendable, Hashable {
    package var input: String
    package var output: String
  }

  package var input: Input
  package var output: Output
  package var states: [State] = []
  /// The values of inputs that are the same in every run.
  package var constants: [String: Double] = [:]

  /// The purpose of the model.
  package var task: ModelTask {
    switch self.output {
    case .matte: .matte
    case .faces: .faces
    case .landmarks: .landmarks
    }
  }
}

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
