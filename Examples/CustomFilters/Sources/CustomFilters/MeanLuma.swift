import SidelightServer

/// An analysis: it reads every tenth input frame, and changes no pixel.
struct MeanLuma: FrameAnalysis {
  var everyNth: Int { 10 }

  func analyze(_ frame: Frame, at time: FrameTime) -> [String: AnalysisValue] {
    guard frame.format.isYUV || frame.format == .gray8 else { return [:] }
    var sum = 0
    for y in 0 ..< frame.size.height {
      frame.withRow(y) { row in
        row.withUnsafeBytes { sum += $0.reduce(0) { $0 + Int($1) } }
      }
    }
    return ["mean": .number(Double(sum) / Double(frame.size.pixelCount))]
  }
}
