import SidelightKernels
import SidelightWire
import SwiftProtobuf

extension Sidelight_V1_Analysis {
  /// What an analysis found, each value in the field of its kind.
  init(_ values: [String: AnalysisValue]) {
    self.init()
    for (name, value) in values { self.add(value, as: name) }
  }

  private mutating func add(_ value: AnalysisValue, as name: String) {
    switch value {
    case .number(let number): self.figures[name] = number
    case .vector(let numbers): self.rows[name] = .with { $0.values = numbers }
    case .text(let text): self.words[name] = text
    case .list(let values):
      for value in values { self.add(value, as: name) }
    case .region(let region, let confidence, let id):
      self.detections.append(
        .with {
          $0.kind = name
          $0.trackingID = id
          $0.confidence = confidence
          $0.x = region.origin.x.value
          $0.y = region.origin.y.value
          $0.width = region.width.value
          $0.height = region.height.value
        })
    }
  }
}
