import BenchmarkSupport
import SidelightClient

/// What is done to frames.
enum Work: String {
  /// They come back as they went.
  case none
  /// A look that photographs have.
  case vintage
  /// Sepia, temperature, vignette, controls, grain: one pass, which all the memory goes through once.
  case five

  /// For sessions of the library, and for the kernels.
  var pipeline: Pipeline {
    switch self {
    case .none: []
    case .vintage: [.filter("vintage")]
    case .five: .fiveStages
    }
  }
}
