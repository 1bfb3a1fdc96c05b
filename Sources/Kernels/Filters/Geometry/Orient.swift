/// Turns and mirrors the picture.
struct Orient: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "orient",
    summary: "Mirrors the picture and turns it by quarters.",
    category: .geometry, reach: .frame, fidelity: .formula,
    formula: """
      The same pixels at other places: first mirrored, then turned. Four quarter turns, or mirroring \
      twice, are nothing. The frame's own orientation is passed on as it came
      """,
    parameters: [
      ParameterDescription(
        "quarterTurns", .number, default: .number(0), slider: 0 ... 3, limits: -1000 ... 1000,
        "Clockwise quarter turns, a whole number; less than 0 turns the other way."),
      ParameterDescription(
        "mirrored", .flag, default: .flag(false),
        "Whether left and right are exchanged before the turn."),
    ])

  private let orientation: Orientation

  /// Reads the settings.
  init(_ arguments: Arguments) {
    let turns = Int(arguments.number("quarterTurns").rounded()) % 4
    self.orientation = Orientation(
      quarterTurns: turns < 0 ? turns + 4 : turns, isMirrored: arguments.flag("mirrored"))
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    self.orientation == .upright ? [] : [.orient(self.orientation)]
  }
}
