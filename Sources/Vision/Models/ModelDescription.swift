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
struct ModelDescription: Sendable, Hashable {
  /// The order of the dimensions of a picture.
  enum Layout: String, Sendable, Hashable, Codable {
    case nchw = "NCHW"
    case nhwc = "NHWC"
  }

  /// The order of the colours of a pixel.
  enum ChannelOrder: String, Sendable, Hashable, Codable {
    case rgb = "RGB"
    case bgr = "BGR"
  }

  /// How a picture of another shape becomes the input.
  enum Fit: String, Sendable, Hashable, Codable {
    /// The picture fills the input; its sides change by different factors.
    case stretch
    /// The picture keeps its shape, starts at the top left, and the rest of the input is 0.
    case letterbox
  }

  /// A function that turns outputs of a model into probabilities.
  enum Activation: String, Sendable, Hashable, Codable {
    /// The outputs are probabilities.
    case none
    case sigmoid
    /// Over all channels.
    case softmax
  }

  /// The way in which a model of faces states them.
  enum FaceEncoding: String, Sendable, Hashable, CaseIterable, Codable {
    case blazeFace, yuNet, scrfd, ultraFace
  }

  /// The picture that a model takes.
  struct Input: Sendable, Hashable {
    var name: String
    var layout: Layout
    var width: Int
    var height: Int
    var order = ChannelOrder.rgb
    /// The input of a sample `v` of 0 to 255 is `(v - mean) * scale`. One per channel, in the order
    /// of the channels.
    var scale = [Double](repeating: 1 / 255, count: 3)
    var mean = [Double](repeating: 0, count: 3)
    var fit: Fit
  }

  /// The output of a model of mattes.
  struct Matte: Sendable, Hashable {
    var name: String
    /// The channel that is used.
    var channel = 0
    var activation = Activation.none
    /// Whether the channel is the background instead of the person.
    var isInverted = false
  }

  /// The outputs of a model of faces.
  struct Faces: Sendable, Hashable {
    var encoding: FaceEncoding
    /// The least confidence of a face, 0 to 1.
    var threshold = 0.5
    /// The overlap (intersection by union) from which on two boxes are of one face.
    var overlap = 0.3
    /// For `blazeFace`: cells to a side and anchors to a cell, for each grid.
    var anchors: [[Int]] = []
  }

  /// The outputs of a model of landmarks: MediaPipe's mesh of 468 points.
  struct Landmarks: Sendable, Hashable {
    /// The output with x, y and z of each point, in pixels of the input.
    var points: String
    /// The output whose logistic function is the confidence that there is a face.
    var presence: String
  }

  /// The meaning of the outputs.
  enum Output: Sendable, Hashable {
    case matte(Matte)
    case faces(Faces)
    case landmarks(Landmarks)
  }

  /// An output that becomes an input of the next run, 0 at first.
  struct State: Sendable, Hashable {
    var input: String
    var output: String
  }

  var input: Input
  var output: Output
  var states: [State] = []
  /// The values of inputs that are the same in every run.
  var constants: [String: Double] = [:]

  /// The purpose of the model.
  var task: ModelTask {
    switch self.output {
    case .matte: .matte
    case .faces: .faces
    case .landmarks: .landmarks
    }
  }
}
