import SidelightKernels

/// A pipeline as the model knows it: few kinds of stages with known results.
struct ModelPipeline: Sendable, Hashable {
  struct Stage: Sendable, Hashable {
    enum Content: Sendable, Hashable {
      /// ``ShiftFilter``: a custom filter, which has a timeout.
      case shift(by: Int, rounds: Int)
      /// `colorInvert`: built in.
      case invert
      /// Throws.
      case broken
    }

    var id: String
    var content: Content
    var isActive = true
    var failurePolicy: FailurePolicy?
  }

  var stages: [Stage] = []

  /// The stages that change a frame.
  var active: [Stage] { self.stages.filter(\.isActive) }

  /// Whether custom filters are among them.
  var isCustom: Bool { self.active.contains { $0.content != .invert } }

  /// The first stage that fails.
  var broken: Stage? { self.active.first { $0.content == .broken } }

  /// As it is written.
  var pipeline: Pipeline {
    Pipeline(
      stages: self.stages.map { stage in
        let call: FilterCall =
          switch stage.content {
          case .shift(let by, let rounds):
            FilterCall(
              name: "shift",
              parameters: ["by": .number(Double(by)), "rounds": .number(Double(rounds))])
          case .invert: FilterCall(name: "colorInvert")
          case .broken: FilterCall(name: "broken")
          }
        return SidelightKernels.Stage(
          .filter(call), id: stage.id, isActive: stage.isActive,
          failurePolicy: stage.failurePolicy)
      })
  }
}
