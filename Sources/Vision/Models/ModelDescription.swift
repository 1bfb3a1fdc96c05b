/// How a model is fed, and what its outputs mean.
public struct ModelDescription: Sendable, Hashable {
  /// The purpose of a model.
  public enum Task: String, Sendable, Hashable, CaseIterable, Codable {
    case matte, faces
  }

  /// The order of the dimensions of a picture.
  public enum Layout: String, Sendable, Hashable, Codable {
    case nchw = "NCHW"
    case nhwc = "NHWC"
  }

  /// The order of the colours of a pixel.
  public enum ChannelOrder: String, Sendable, Hashable, Codable {
    case rgb = "RGB"
    case bgr = "BGR"
  }

  /// How a picture of another shape becomes the input.
  public enum Fit: String, Sendable, Hashable, Codable {
    /// The picture fills the input; its sides change by different factors.
    case stretch
    /// The picture keeps its shape, starts at the top left, and the rest of the input is 0.
    case letterbox
  }

  /// A function that turns outputs of a model into probabilities.
  public enum Activation: String, Sendable, Hashable, Codable {
    /// The outputs are probabilities.
    case none
    case sigmoid
    /// Over all channels.
    case softmax
  }

  /// The way in which a model of faces states them.
  public enum FaceEncoding: String, Sendable, Hashable, CaseIterable, Codable {
    case blazeFace, yuNet, scrfd, ultraFace
  }

  /// The picture that a model takes.
  public struct Input: Sendable, Hashable {
    public var name: String
    public var layout: Layout
    public var width: Int
    public var height: Int
    public var order = ChannelOrder.rgb
    /// The input of a sample `v` of 0 to 255 is `(v - mean) * scale`. One per channel, in the order
    /// of the channels.
    public var scale = [Double](repeating: 1 / 255, count: 3)
    public var mean = [Double](repeating: 0, count: 3)
    public var fit: Fit
  }

  /// The output of a model of mattes.
  public struct Matte: Sendable, Hashable {
    public var name: String
    /// The channel that is used.
    public var channel = 0
    public var activation = Activation.none
    /// Whether the channel is the background instead of the person.
    public var isInverted = false
  }

  /// The outputs of a model of faces.
  public struct Faces: Sendable, Hashable {
    public var encoding: FaceEncoding
    /// The least confidence of a face, 0 to 1.
    public var threshold = 0.5
    /// The overlap (intersection by union) from which on two boxes are of one face.
    public var overlap = 0.3
    /// For `blazeFace`: cells to a side and anchors to a cell, for each grid.
    public var anchors: [[Int]] = []
  }

  /// What the outputs mean.
  public enum Output: Sendable, Hashable {
    case matte(Matte)
    case faces(Faces)
  }

  /// An output that becomes an input of the next run, 0 at first.
  public struct State: Sendable, Hashable {
    public var input: String
    public var output: String
  }

  public var input: Input
  public var output: Output
  public var states: [State] = []
  /// The values of inputs that are the same in every run.
  public var constants: [String: Double] = [:]

  /// The purpose of the model.
  public var task: Task {
    switch self.output {
    case .matte: .matte
    case .faces: .faces
    }
  }
}
