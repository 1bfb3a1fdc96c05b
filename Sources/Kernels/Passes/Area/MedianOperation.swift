/// The median of 3 x 3 samples, of each channel by itself.
struct MedianOperation: NeighborhoodOperation {
  var words: String { "the median of 3x3" }

  func makePass(_ setting: PassSetting) -> any Pass {
    MedianPass(setting)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    plane.map { x, y, channel in
      (0 ..< 9).map { plane[x + $0 % 3 - 1, y + $0 / 3 - 1, channel] }.sorted()[4]
    }
  }
}
