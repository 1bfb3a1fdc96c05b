import Foundation
import SidelightServer

/// A filter that takes a stated time per frame, like a filter that waits for another device. Frames
/// that arrive faster are dropped instead of queued.
struct Slow: CatalogueFilter {
  static let description = FilterDescription(
    name: "slow", summary: "Turns the picture over, after a stated time.",
    category: .custom, reach: .frame, fidelity: .custom,
    formula: "out(x, y) = in(x, height - 1 - y)",
    parameters: [
      ParameterDescription(
        "seconds", .number, default: .number(0.2), slider: 0 ... 1, limits: 0 ... 10,
        "The time for each frame.")
    ])

  private let seconds: Double

  init(_ arguments: Arguments) {
    self.seconds = arguments.number("seconds")
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let seconds = self.seconds
    return [
      .frame { input, output, time in
        Thread.sleep(forTimeInterval: seconds)
        upsideDown(input, &output, time)
      }
    ]
  }
}
