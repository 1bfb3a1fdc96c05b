import SidelightKernels

extension WorkingSpace {
  /// The name in the text form.
  var text: String {
    switch self {
    case .sRGBGamma: "gamma"
    case .sRGBLinear: "linear"
    }
  }

  /// - Returns: `nil` if there is none of that name.
  init?(text: String) {
    guard let space = Self.allCases.first(where: { $0.text == text }) else { return nil }
    self = space
  }
}
