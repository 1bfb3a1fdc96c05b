import GRPCCore
package import SidelightKernels

extension Pipeline {
  /// Creates a pipeline, and checks its structure and its sizes. Unknown fields are dropped. The
  /// catalogue checks whether the filters exist.
  ///
  /// - Throws: ``FieldViolation`` with a field relative to the pipeline.
  package init(_ wire: Sidelight_V1_Pipeline) throws(FieldViolation) {
    try self.init(wire, depth: 1)
    do throws(PipelineError) {
      try self.checkSizes()
    } catch {
      throw FieldViolation(error)
    }
    try self.checkByteCount()
  }

  private init(_ wire: Sidelight_V1_Pipeline, depth: Int) throws(FieldViolation) {
    guard depth <= Pipeline.maxDepth else {
      throw FieldViolation(
        field: "stages", reason: "pipelines nest deeper than the limit of \(Pipeline.maxDepth)",
        info: .outOfRange(depth, limit: Pipeline.maxDepth))
    }
    guard wire.stages.count <= Pipeline.maxStages else {
      throw FieldViolation(
        field: "stages",
        reason: "has \(wire.stages.count) stages, the limit is \(Pipeline.maxStages)",
        info: .outOfRange(wire.stages.count, limit: Pipeline.maxStages))
    }
    self.init(workingSpace: try WorkingSpace.read(wire.workingSpace))
    for (index, stage) in wire.stages.enumerated() {
      self.stages.append(
        try FieldViolation.within("stages[\(index)]") { () throws(FieldViolation) in
          try Self.stage(stage, depth: depth)
        })
    }
  }

  private static func stage(
    _ wire: Sidelight_V1_Stage, depth: Int
  ) throws(FieldViolation) -> Stage {
    let content: Stage.Content
    switch wire.content {
    case .filter(let filter)?:
      var parameters: [String: ParameterValue] = [:]
      for (name, value) in filter.parameters {
        parameters[name] = try FieldViolation.within(
          "filter.parameters[\"\(name.clipped(toBytes: 64))\"]"
        ) { () throws(FieldViolation) in try ParameterValue(value) }
      }
      content = .filter(FilterCall(name: filter.name, parameters: parameters))
    case .pipeline(let pipeline)?:
      content = .pipeline(
        try FieldViolation.within("pipeline") { () throws(FieldViolation) in
          try Pipeline(pipeline, depth: depth + 1)
        })
    case nil:
      throw FieldViolation(field: "content", reason: "neither a filter nor a pipeline is set")
    }
    return Stage(
      content,
      id: wire.id.isEmpty ? nil : wire.id,
      isActive: wire.hasActive ? wire.active : true,
      mix: wire.hasMix ? wire.mix : 1,
      region: wire.hasRegion ? try Region(wire.region) : nil,
      failurePolicy: try FailurePolicy.stated(by: wire.failurePolicy))
  }
}

extension Sidelight_V1_Pipeline {
  package init(_ pipeline: Pipeline) {
    self.init()
    self.stages = pipeline.stages.map(Sidelight_V1_Stage.init)
    self.workingSpace =
      switch pipeline.workingSpace {
      case nil: .unspecified
      case .sRGBGamma: .srgbGamma
      case .sRGBLinear: .srgbLinear
      }
  }
}

extension WorkingSpace {
  /// Returns the working space of a message, if it states one.
  ///
  /// - Throws: ``FieldViolation`` for an unknown value.
  fileprivate static func read(
    _ wire: Sidelight_V1_WorkingSpace
  ) throws(FieldViolation) -> WorkingSpace? {
    switch wire {
    case .unspecified: return nil
    case .srgbGamma: return .sRGBGamma
    case .srgbLinear: return .sRGBLinear
    case .UNRECOGNIZED(let value):
      throw FieldViolation(field: "working_space", reason: "\(value) is not a known working space")
    }
  }
}

extension Sidelight_V1_Stage {
  fileprivate init(_ stage: Stage) {
    self.init()
    self.id = stage.id ?? ""
    if !stage.isActive { self.active = false }
    if stage.mix != 1 { self.mix = stage.mix }
    if let region = stage.region { self.region = Sidelight_V1_Region(region) }
    if let policy = stage.failurePolicy {
      self.failurePolicy = Sidelight_V1_FailurePolicy(policy)
    }
    switch stage.content {
    case .filter(let call):
      self.filter.name = call.name
      self.filter.parameters = call.parameters.mapValues(Sidelight_V1_ParameterValue.init)
    case .pipeline(let pipeline):
      self.pipeline = Sidelight_V1_Pipeline(pipeline)
    }
  }
}

extension Region {
  fileprivate init(_ wire: Sidelight_V1_Region) throws(FieldViolation) {
    self.init(
      origin: try FramePoint(wire.origin), width: try Length(wire.width),
      height: try Length(wire.height))
  }
}

extension Sidelight_V1_Region {
  fileprivate init(_ region: Region) {
    self.init()
    self.origin = Sidelight_V1_Point(region.origin)
    self.width = Sidelight_V1_Length(region.width)
    self.height = Sidelight_V1_Length(region.height)
  }
}

extension FailurePolicy {
  /// Returns the policy of a message, if it states one.
  ///
  /// - Throws: ``FieldViolation`` for an unknown value.
  package static func stated(
    by wire: Sidelight_V1_FailurePolicy
  ) throws(FieldViolation) -> FailurePolicy? {
    switch wire {
    case .unspecified: nil
    case .passThrough: .passThrough
    case .drop: .drop
    case .blur: .blur
    case .UNRECOGNIZED(let value):
      throw FieldViolation(
        field: "failure_policy", reason: "\(value) is not a known failure policy")
    }
  }
}

extension Sidelight_V1_FailurePolicy {
  package init(_ policy: FailurePolicy) {
    self =
      switch policy {
      case .passThrough: .passThrough
      case .drop: .drop
      case .blur: .blur
      }
  }
}

extension ParameterValue {
  /// Creates a value.
  ///
  /// - Throws: ``FieldViolation`` if the kind is missing or unknown.
  package init(_ wire: Sidelight_V1_ParameterValue) throws(FieldViolation) {
    switch wire.kind {
    case .number(let value)?: self = .number(value)
    case .length(let value)?: self = .length(try Length(value))
    case .point(let value)?: self = .point(try FramePoint(value))
    case .color(let value)?: self = .color(RGBAColor(value))
    case .vector(let value)?: self = .vector(value.values)
    case .flag(let value)?: self = .flag(value)
    case .text(let value)?: self = .text(value)
    case nil: throw FieldViolation(field: "kind", reason: "no kind of value is set")
    }
  }
}

extension Sidelight_V1_ParameterValue {
  package init(_ value: ParameterValue) {
    self.init()
    switch value {
    case .number(let value): self.number = value
    case .length(let value): self.length = Sidelight_V1_Length(value)
    case .point(let value): self.point = Sidelight_V1_Point(value)
    case .color(let value): self.color = Sidelight_V1_Color(value)
    case .vector(let value): self.vector.values = value
    case .flag(let value): self.flag = value
    case .text(let value): self.text = value
    }
  }
}

extension Length {
  fileprivate init(_ wire: Sidelight_V1_Length) throws(FieldViolation) {
    let unit: Unit =
      switch wire.unit {
      case .unspecified, .pixels: .pixels
      case .width: .width
      case .height: .height
      case .shortSide: .shortSide
      case .UNRECOGNIZED(let value):
        throw FieldViolation(field: "unit", reason: "\(value) is not a known unit of length")
      }
    self.init(wire.value, unit)
  }
}

extension Sidelight_V1_Length {
  fileprivate init(_ length: Length) {
    self.init()
    self.value = length.value
    self.unit =
      switch length.unit {
      case .pixels: .pixels
      case .width: .width
      case .height: .height
      case .shortSide: .shortSide
      }
  }
}

extension FramePoint {
  fileprivate init(_ wire: Sidelight_V1_Point) throws(FieldViolation) {
    self.init(x: try Length(wire.x), y: try Length(wire.y))
  }
}

extension Sidelight_V1_Point {
  fileprivate init(_ point: FramePoint) {
    self.init()
    self.x = Sidelight_V1_Length(point.x)
    self.y = Sidelight_V1_Length(point.y)
  }
}

extension RGBAColor {
  fileprivate init(_ wire: Sidelight_V1_Color) {
    self.init(
      red: wire.red, green: wire.green, blue: wire.blue,
      alpha: wire.hasAlpha ? wire.alpha : 1)
  }
}

extension Sidelight_V1_Color {
  fileprivate init(_ color: RGBAColor) {
    self.init()
    self.red = color.red
    self.green = color.green
    self.blue = color.blue
    self.alpha = color.alpha
  }
}
