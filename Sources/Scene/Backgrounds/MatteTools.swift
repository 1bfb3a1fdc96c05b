import SidelightKernels

/// The sources of mattes that need a library or a model.
package struct MatteTools: Sendable {
  /// Creates a source of mattes for a session.
  package typealias Source = @Sendable () throws -> any MatteSource

  /// The operator's models, by name.
  package let models: [String: Source]
  /// The matte from the outline of head and shoulders; `nil` without Vision.
  package let portrait: Source?
  /// The finder and tracker of faces; `nil` without Vision.
  package let faces: FaceTools?

  package init(
    faces: FaceTools? = nil, portrait: Source? = nil, models: [String: Source] = [:]
  ) {
    self.faces = faces
    self.portrait = portrait
    self.models = models
  }

  /// The names of the mattes that exist without models.
  package static let plate = "plate"
  package static let key = "key"
  package static let portraitName = "portrait"

  /// The reason why ``portrait`` cannot be used; `nil` if it can.
  var portraitUnavailability: String? {
    self.portrait == nil || self.faces == nil ? "this server is built without Vision" : nil
  }
}

/// The matte of a background filter, by its arguments.
struct MatteChoice: Sendable {
  enum Kind: Sendable {
    /// A picture of the empty room; `nil` if it is to be learned.
    case plate(ImageAsset?)
    case key(KeyMatte)
    case model(name: String, MatteTools.Source)
    case portrait(MatteTools.Source)
    /// A source that this program lacks.
    case missing
  }

  let kind: Kind
  /// The weight of the last matte in areas without change.
  let smoothing: Double
  /// Whether the filter hides the whole frame if the matte is uncertain.
  let protects: Bool
  let faces: FaceTools?
  let unavailability: String?

  init(_ arguments: Arguments, _ tools: MatteTools) {
    let name = arguments.text("matte")
    let isPortrait = name == MatteTools.portraitName
    self.unavailability = isPortrait ? tools.portraitUnavailability : nil
    switch name {
    case MatteTools.plate: self.kind = .plate(arguments.image("plate"))
    case MatteTools.key: self.kind = .key(KeyMatte(color: arguments.color("color")))
    case MatteTools.portraitName: self.kind = tools.portrait.map { .portrait($0) } ?? .missing
    default: self.kind = tools.models[name].map { .model(name: name, $0) } ?? .missing
    }
    self.smoothing = arguments.number("smoothing")
    // A guess cannot protect.
    self.protects = arguments.flag("protect") && !isPortrait
    self.faces = tools.faces
  }

  /// The faces that the matte needs to know; `nil` if it doesn't need faces.
  var faceRequest: FaceRequest? {
    guard let faces = self.faces else { return nil }
    switch self.kind {
    case .portrait, .plate(nil): return FaceRequest(FaceTracker.Configuration(), tools: faces)
    // A model that leaves out a known face is uncertain.
    case .model where self.protects:
      return FaceRequest(FaceTracker.Configuration(), tools: faces)
    case .model, .plate, .key, .missing: return nil
    }
  }

  /// Whether the state of another choice can be continued.
  func continues(_ other: MatteChoice) -> Bool {
    switch (self.kind, other.kind) {
    case (.plate(let own), .plate(let image)): own == image
    case (.key, .key), (.portrait, .portrait): true
    case (.model(let own, _), .model(let name, _)): own == name
    default: false
    }
  }

  /// A line about the matte, for descriptions.
  var summary: String {
    switch self.kind {
    case .plate(nil): "a learned plate"
    case .plate: "a plate"
    case .key: "a key colour"
    case .model(let name, _): "the model \(name)"
    case .portrait: "head and shoulders"
    case .missing: "nothing"
    }
  }
}

extension MatteChoice {
  /// The parameters that select a matte.
  ///
  /// - Parameter names: The names of the mattes.
  static func parameters(_ names: [String], portrait: Bool) -> [ParameterDescription] {
    let guess =
      portrait
      ? " portrait guesses head and shoulders from the face: no protection." : ""
    return [
      ParameterDescription(
        "matte", .choice(names), default: .text(MatteTools.plate),
        "The source of the matte: plate compares with the empty room, key with a colour; other "
          + "names are the operator's models." + guess),
      .image(
        "plate", isOptional: true,
        "The name of a picture of the empty room by the same camera, upright; by default it is "
          + "learned when the room is empty for 2 seconds."),
      ParameterDescription(
        "color", .color, default: .color(RGBAColor(red: 0, green: 0.69, blue: 0.25)),
        "The colour of the wall for the matte key, as the camera shows it. Alpha is ignored."),
      ParameterDescription(
        "edge", .number, default: .number(0.5), slider: 0 ... 1, limits: 0 ... 1,
        "The position of the edge: lower keeps more around the person, higher cuts closer."),
      ParameterDescription(
        "smoothing", .number, default: .number(0.7), slider: 0 ... 0.95, limits: 0 ... 0.95,
        "The weight of the last matte where the picture does not change."),
      ParameterDescription(
        "protect", .flag, default: .flag(true),
        "Whether failures never show the room, and the whole frame is hidden while the matte is "
          + "not sure; otherwise it is blurred then."),
    ]
  }
}
