import BenchmarkSupport
import SidelightClient

/// The work on frames.
enum Work: String {
  /// Disables filtering.
  case none
  /// The `vintage` filter.
  case vintage
  /// Five stages that the planner folds into one pass.
  case five
  /// A look of two stages, which `dev/bench offload` has.
  case look
  /// A Gaussian blur of radius 10.
  case blur

  /// The pipeline, for sessions of the library and for the kernels.
  var pipeline: Pipeline {
    switch self {
    case .none: []
    case .vintage: [.filter("vintage")]
    case .five: .fiveStages
    case .look: [.filter("sepiaTone"), .filter("vignette", ["intensity": .number(1)])]
    case .blur: [.filter("gaussianBlur", ["radius": .number(10)])]
    }
  }
}
