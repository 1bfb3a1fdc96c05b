import SidelightKernels

/// A pipeline that is measured, with the names of assets and mattes that `bench.py` provides.
struct Work {
  let pipeline: Pipeline

  init(_ stages: Stage...) {
    self.pipeline = Pipeline(stages: stages)
  }

  /// The works, by the key of a request.
  static let all: [String: Work] = [
    "nothing": Work(),
    // Stickers.
    "glasses": Work(Self.glasses),
    "stickers": Work(Self.glasses, Self.moustache, Self.hat),
    "stickers-all": Work(
      Self.sticker("hat", "forehead", 1.7, [0, -0.52], ["which": .text("all")]),
      Self.sticker("moustache", "mouth", 0.6, [0, -0.1], ["which": .text("all")])),
    // A disc at the middle of the face, from which the place of stickers is measured.
    "marker": Work(Self.marker([:])),
    "marker-first": Work(Self.marker(["which": .text("id"), "id": .number(1)])),
    "marker-all": Work(Self.marker(["which": .text("all")])),
    // Privacy.
    "face-blur": Work(.filter("faceBlur")),
    "face-pixellate": Work(.filter("facePixellate")),
    // Backgrounds with pictures, and mattes alone: the alpha of frames that have alpha.
    "plate": Work(Self.background("plate")),
    "plate-matte": Work(Self.matte("plate")),
    "plate-blur": Work(Self.blur("plate")),
    // The cheapest background, with which a blur is compared.
    "plate-color": Work(
      .filter(
        "virtualBackground",
        Self.mattes("plate").merging([
          "backgroundColor": .color(RGBAColor(red: 0.2, green: 0.3, blue: 0.4)),
          "lightWrap": .number(0),
        ]) { own, _ in own })),
    "opencv": Work(Self.background("opencv")),
    "opencv-matte": Work(Self.matte("opencv")),
    "opencv-blur": Work(Self.blur("opencv")),
    "onnxruntime": Work(Self.background("onnxruntime")),
    "onnxruntime-matte": Work(Self.matte("onnxruntime")),
    "onnxruntime-blur": Work(Self.blur("onnxruntime")),
    "portrait-blur": Work(Self.blur("portrait")),
    "key": Work(.filter("chromaKey", ["backgroundImage": .text("background")])),
    "key-matte": Work(.filter("chromaKey")),
  ]

  private static let glasses = Self.sticker("glasses", "eyes", 1, [0, 0])
  private static let moustache = Self.sticker("moustache", "mouth", 0.6, [0, -0.1])
  private static let hat = Self.sticker("hat", "forehead", 1.7, [0, -0.52])

  private static func sticker(
    _ asset: String, _ anchor: String, _ scale: Double, _ offset: [Double],
    _ parameters: [String: ParameterValue] = [:]
  ) -> Stage {
    .filter(
      "overlay",
      parameters.merging([
        "asset": .text(asset), "anchor": .text(anchor), "scale": .number(scale),
        "faceOffset": .vector(offset),
      ]) { own, _ in own })
  }

  private static func marker(_ parameters: [String: ParameterValue]) -> Stage {
    Self.sticker(
      "marker", "face", 0.3, [0, 0], parameters.merging(["fade": .number(0)]) { own, _ in own })
  }

  private static func mattes(_ matte: String) -> [String: ParameterValue] {
    var parameters: [String: ParameterValue] = ["matte": .text(matte)]
    if matte == "plate" { parameters["plate"] = .text("room") }
    return parameters
  }

  private static func background(_ matte: String) -> Stage {
    .filter(
      "virtualBackground",
      Self.mattes(matte).merging(["backgroundImage": .text("background")]) { own, _ in own })
  }

  private static func matte(_ matte: String) -> Stage {
    .filter("virtualBackground", Self.mattes(matte))
  }

  private static func blur(_ matte: String) -> Stage {
    .filter(
      "backgroundBlur", Self.mattes(matte).merging(["sigma": .length(Length(12))]) { own, _ in own }
    )
  }
}
