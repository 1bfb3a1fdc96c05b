import GRPCCore
package import SidelightKernels

extension Pipeline {
  /// Reads a pipeline, and checks its structure and its sizes. Fields that this build does not know
  /// are not kept. The catalogue checks whether the filters exist.
  ///
  /// - Throws: ``FieldFault`` whose field is relative to the pipeline.
  package init(_ wire: Sidelight_V1_Pipeline) throws(FieldFault) {
    try self.init(wire, depth: 1)
    do throws(PipelineError) {
      try self.checkSizes()
    } catch {
      throw FieldFault(error)
    }
    try self.checkByteCount()
  }

  private init(_ wire: Sidelight_V1_Pipeline, depth: Int) throws(FieldFault) {
    guard depth <= Pipeline.maxDepth else {
      throw FieldFault(
        field: "stages", reason: "pipelines nest deeper than the limit of \(Pipeline.maxDepth)")
    }
    guard wire.stages.count <= Pipeline.maxStages else {
      throw FieldFault(
        field: "stages",
        reason: "has \(wire.stages.count) stages, the limit is \(Pipeline.maxStages)")
    }
    self.init(workingSpace: try WorkingSpace.read(wire.workingSpace))
    for (index, stage) in wire.stages.enumerated() {
      do throws(FieldFault) {
        self.stages.append(try Self.stage(stage, depth: depth))
      } catch {
        throw error.within("stages[\(index)]")
      }
    }
  }

  private static func stage(
    _ wire: Sidelight_V1_Stage, depth: Int
  ) throws(FieldFault) -> Stage {
    let content: Stage.Content
    switch wire.content {
    case .filter(let filter)?:
      var parameters: [String: ParameterValue] = [:]
      for (name, value) in filter.parameters {
        do throws(FieldFault) {
          parameters[name] = try ParameterValue(value)
        } catch {
          throw error.within("filter.parameters[\"\(name.clipped(toBytes: 64))\"]")
        }
      }
      content = .filter(FilterCall(name: filter.name, parameters: parameters))
    case .pipeline(let pipeline)?:
      do throws(FieldFault) {
        content = .pipeline(try Pipeline(pipeline, depth: depth + 1))
      } catch {
        throw error.within("pipeline")
      }
    case nil:
      throw FieldFault(field: "content", reason: "neither a filter nor a pipeline is set")
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
  /// - Returns: `nil` if none is stated.
  /// - Throws: ``FieldFault`` for one that this build does not know.
  fileprivate static func read(
    _ wire: Sidelight_V1_WorkingSpace
  ) throws(FieldFault) -> WorkingSpace? {
    switch wire {
    case .unspecified: return nil
    case .srgbGamma: return .sRGBGamma
    case .srgbLinear: return .sRGBLinear
    case .UNRECOGNIZED(let value):
      throw FieldFault(field: "working_space", reason: "\(value) is no working space")
    }
  }
}

extension Sidelight_V1_Stage {
  init(_ stage: Stage) {
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
  init(_ wire: Sidelight_V1_Region) throws(FieldFault) {
    self.init(
      origin: try Point(wire.origin), width: try Length(wire.width),
      height: try Length(wire.height))
  }
}

extension Sidelight_V1_Region {
  init(_ region: Region) {
    self.init()
    self.origin = Sidelight_V1_Point(region.origin)
    self.width = Sidelight_V1_Length(region.width)
    self.height = Sidelight_V1_Length(region.height)
  }
}
