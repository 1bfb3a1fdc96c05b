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
    /// The channel that is used.
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
