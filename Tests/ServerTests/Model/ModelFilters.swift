import SidelightKernelLanguage
import SidelightKernels

extension FilterCatalogue {
  /// The built-in filters, and the filters whose results the model knows exactly.
  static var model: FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(ShiftFilter.self)
    catalogue.register(CustomFilter("broken", "Throws.", frame: { _, _, _ in throw Broken() }))
    return catalogue
  }

  struct Broken: Error, CustomStringConvertible {
    var description: String { "the filter is broken" }
  }
}

/// Adds a number to every sample: an output shows the revision that filtered it.
struct ShiftFilter: CatalogueFilter {
  static let description = FilterDescription(
    name: "shift", summary: "Adds to every sample.", category: .custom, reach: .frame,
    fidelity: .custom, formula: "(sample + by) mod 256",
    parameters: [
      ParameterDescription(
        "by", .number, default: .number(1), limits: 0 ... 255, "What is added."),
      ParameterDescription(
        "rounds", .number, default: .number(0), limits: 0 ... 1e9,
        "How often it turns on the spot first, some nanoseconds each."),
    ])

  /// Never thrown; keeps the compiler from leaving the work out.
  struct Exhausted: Error {}

  private let by: UInt8
  private let rounds: Int

  init(_ arguments: Arguments) {
    self.by = UInt8(arguments.number("by"))
    self.rounds = Int(arguments.number("rounds"))
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [
      .frame { input, output, _ in
        try self.turnOnTheSpot()
        for plane in 0 ..< input.format.planeCount {
          for row in 0 ..< input.format.rowCount(plane: plane, height: input.size.height) {
            input.withRow(row, plane: plane) { source in
              output.withMutableRow(row, plane: plane) { target in
                source.withUnsafeBytes { source in
                  target.withUnsafeMutableBytes { target in
                    for index in source.indices { target[index] = source[index] &+ self.by }
                  }
                }
              }
            }
          }
        }
      }
    ]
  }

  private func turnOnTheSpot() throws {
    var state: UInt64 = 1
    for _ in 0 ..< self.rounds {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
    }
    if state == 0 { throw Exhausted() }
  }
}
