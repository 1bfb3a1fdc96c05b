extension FilterCatalogue {
  /// Returns a pipeline whose parameters are between two pipelines' parameters.
  ///
  /// A parameter is (1 - p) a + p b of its values a and b: numbers, lengths of one unit, positions,
  /// colours (gamma-encoded, with straight alpha) and the numbers of vectors. A length of 0 has
  /// every unit. p = 0 gives the first pipeline and p = 1 the second one.
  ///
  /// - Parameter progress: 0 ... 1.
  /// - Returns: `nil` if the pipelines differ in more than such parameters: in stages, filters,
  ///   activation, mix, regions, flags, texts, assets, or numbers of values.
  package func interpolate(
    from first: ResolvedPipeline, to second: ResolvedPipeline, at progress: Double
  ) -> ResolvedPipeline? {
    guard first.workingSpace == second.workingSpace, first.shape == second.shape,
      let stages = self.interpolate(first.stages, second.stages, progress)
    else { return nil }
    return ResolvedPipeline(items: stages, workingSpace: second.workingSpace)
      .shaped(second.shape)
  }

  private func interpolate(
    _ first: [ResolvedStage], _ second: [ResolvedStage], _ progress: Double
  ) -> [ResolvedStage]? {
    guard first.count == second.count else { return nil }
    var result: [ResolvedStage] = []
    for (from, to) in zip(first, second) {
      guard from.id == to.id, from.isActive == to.isActive, from.mix == to.mix,
        from.region == to.region, from.failurePolicy == to.failurePolicy
      else { return nil }
      var stage = to
      switch (from.content, to.content) {
      case (.filter(let name, let old, let oldValue), .filter(let other, let new, let newValue)):
        guard name == other else { return nil }
        if old == new || progress >= 1 {
          stage.content = .filter(name: name, arguments: new, value: newValue)
        } else if progress <= 0 {
          stage.content = .filter(name: name, arguments: old, value: oldValue)
        }
        guard old != new else { break }
        guard let entry = self.entry(named: name),
          let arguments = Arguments(interpolating: old, new, at: progress)
        else { return nil }
        guard progress > 0, progress < 1 else { break }
        // The texts of both are equal.
        let filter =
          (newValue as? any AdjustableFilter)?.with(arguments) ?? entry.make(arguments)
        stage.content = .filter(name: name, arguments: arguments, value: filter)
      case (.stages(let old, in: let space), .stages(let new, in: let otherSpace)):
        guard space == otherSpace, let inner = self.interpolate(old, new, progress) else {
          return nil
        }
        stage.content = .stages(inner, in: space)
      case (.filter, .stages), (.stages, .filter): return nil
      }
      result.append(stage)
    }
    return result
  }
}

extension Arguments {
  /// Creates arguments between two; `nil` if they cannot be interpolated.
  fileprivate init?(interpolating first: Arguments, _ second: Arguments, at progress: Double) {
    guard first.assets == second.assets, first.values.count == second.values.count else {
      return nil
    }
    var values: [String: ParameterValue] = [:]
    for (name, from) in first.values {
      guard let to = second.values[name],
        let value = ParameterValue(interpolating: from, to, at: progress)
      else { return nil }
      values[name] = value
    }
    self.init(values: values, assets: second.assets)
  }
}

extension ParameterValue {
  /// Creates a value between two; `nil` if they cannot be interpolated.
  fileprivate init?(interpolating first: ParameterValue, _ second: ParameterValue, at p: Double) {
    guard first != second else {
      self = second
      return
    }
    func mix(_ from: Double, _ to: Double) -> Double { (1 - p) * from + p * to }
    func mix(_ from: Length, _ to: Length) -> Length? {
      let unit = from.value == 0 ? to.unit : from.unit
      guard unit == to.unit || to.value == 0 else { return nil }
      return Length(mix(from.value, to.value), unit)
    }
    switch (first, second) {
    case (.number(let from), .number(let to)): self = .number(mix(from, to))
    case (.length(let from), .length(let to)):
      guard let length = mix(from, to) else { return nil }
      self = .length(length)
    case (.point(let from), .point(let to)):
      guard let x = mix(from.x, to.x), let y = mix(from.y, to.y) else { return nil }
      self = .point(FramePoint(x: x, y: y))
    case (.color(let from), .color(let to)):
      self = .color(
        RGBAColor(
          red: mix(from.red, to.red), green: mix(from.green, to.green),
          blue: mix(from.blue, to.blue), alpha: mix(from.alpha, to.alpha)))
    case (.vector(let from), .vector(let to)):
      guard from.count == to.count else { return nil }
      self = .vector(zip(from, to).map(mix))
    case (.number, _), (.length, _), (.point, _), (.color, _), (.vector, _), (.flag, _),
      (.text, _):
      return nil
    }
  }
}
