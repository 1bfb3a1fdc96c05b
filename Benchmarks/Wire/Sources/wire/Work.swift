import BenchmarkSupport
import SidelightClient

/// The work on frames.
enum Work: String {
  /// No filter.
  case none
  /// The `vintage` filter.
  case vintage
  /// Five stages that the planner folds into one pass.
  case five

  /// The pipeline, for sessions of the library and for the kernels.
  var pipeline: Pipeline {
    switch self {
    case .none: []
    case .vintage: [.filter("vintage")]
    case .five: .fiveStages
    }
  }
}
