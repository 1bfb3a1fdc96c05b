import SidelightKernels

extension Pipeline {
  /// Removes stages, nesting, mixes, regions and parameters from a failing pipeline as long as it
  /// fails without them.
  func shrunk(while fails: (Pipeline) async throws -> Bool) async throws -> Pipeline {
    var least = self
    var isSmaller = true
    while isSmaller {
      isSmaller = false
      for candidate in least.simpler where try await fails(candidate) {
        least = candidate
        isSmaller = true
        break
      }
    }
    return least
  }

  /// The pipelines that lack one element of this one.
  private var simpler: [Pipeline] {
    var result: [Pipeline] = []
    for (index, stage) in self.stages.enumerated() {
      func replaced(_ stages: [Stage]) {
        var copy = self
        copy.stages.replaceSubrange(index ... index, with: stages)
        result.append(copy)
      }
      replaced([])
      if case .pipeline(let inner) = stage.content {
        replaced(inner.stages)
        for simpler in inner.simpler {
          var copy = stage
          copy.content = .pipeline(simpler)
          replaced([copy])
        }
      }
      var plain = stage
      plain.mix = 1
      if plain != stage { replaced([plain]) }
      plain = stage
      plain.region = nil
      if plain != stage { replaced([plain]) }
      guard case .filter(var call) = stage.content else { continue }
      for name in call.parameters.keys.sorted() {
        let value = call.parameters.removeValue(forKey: name)
        plain = stage
        plain.content = .filter(call)
        // An asset must be named.
        if (try? ChainBench.catalogue.resolve([plain])) != nil { replaced([plain]) }
        call.parameters[name] = value
      }
    }
    return result
  }
}
