package import SidelightKernels

/// The parts of frames hidden by the filters of a pipeline.
///
/// The client knows filters by name only, so their names are listed here. A filter that protects is
/// added to ``filters``.
package struct PipelineProtection: OptionSet, Sendable, Hashable {
  package let rawValue: Int

  package init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// Faces are covered.
  package static let faces = PipelineProtection(rawValue: 1)
  /// The background is replaced or blurred.
  package static let background = PipelineProtection(rawValue: 2)

  /// All parts that a pipeline can hide.
  package static let all: PipelineProtection = [.faces, .background]

  /// The filters that protect, by name. Filters of the background do not if their
  /// parameter ``optOut`` is false.
  private static let filters: [String: PipelineProtection] = [
    "faceBlur": .faces, "facePixellate": .faces, "virtualBackground": .background,
    "backgroundBlur": .background,
  ]
  /// The parameter that ends the protection of the background.
  private static let optOut = "protect"

  /// The protection of a call of a filter. A value of another kind than a flag does not end it.
  fileprivate init(_ call: FilterCall) {
    let protection = Self.filters[Spelling.canonicalFilter(call.name)] ?? []
    let values = call.parameters.filter { Spelling.canonicalParameter($0.key) == Self.optOut }
    let isOff = !values.isEmpty && values.values.allSatisfy { $0 == .flag(false) }
    self = isOff ? protection.subtracting(.background) : protection
  }
}

extension Pipeline {
  /// The parts of frames hidden by the active stages, including stages of nested pipelines.
  package var protection: PipelineProtection {
    self.stages.filter(\.isActive).reduce(into: []) { protection, stage in
      switch stage.content {
      case .filter(let call): protection.formUnion(PipelineProtection(call))
      case .pipeline(let pipeline): protection.formUnion(pipeline.protection)
      }
    }
  }
}
