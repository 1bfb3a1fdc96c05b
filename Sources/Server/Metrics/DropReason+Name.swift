extension DropReason {
  /// As metrics and traces have it: the wire's name in lower case.
  package var name: String {
    switch self {
    case .superseded: "superseded"
    case .queueFull: "queue_full"
    case .lateOnArrival: "late_on_arrival"
    case .lateInPipeline: "late_in_pipeline"
    case .lateOnOutput: "late_on_output"
    case .noCredit: "no_credit"
    case .rateLimited: "rate_limited"
    case .paused: "paused"
    case .invalidFrame: "invalid_frame"
    case .stageFailed: "stage_failed"
    case .draining: "draining"
    case .outputSuperseded: "output_superseded"
    }
  }
}

extension Disposition {
  /// As metrics and traces have it.
  package var name: String {
    switch self {
    case .filtered: "filtered"
    case .passedThrough: "passed_through"
    case .degraded: "degraded"
    }
  }
}
