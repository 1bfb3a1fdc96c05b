import SidelightKernelLanguage
import SidelightKernels
import SidelightWire

extension FilterCatalogue {
  /// The built-in filters and `long`, which takes 7 vectors of 1000 numbers and 20 of 100, and
  /// returns its input.
  static var withLongFilter: FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    let parameters = Pipeline.longParameters.map { name, count in
      ParameterDescription(
        name, .vector(count: count), default: .vector(Array(repeating: 0, count: count)), "Numbers."
      )
    }
    catalogue.register(
      FilterDescription(
        name: "long", summary: "Takes many numbers.", category: .custom, reach: .pixel,
        fidelity: .formula, formula: "nothing changes", parameters: parameters)
    ) { _ in CustomFilter("long", "Changes nothing.", color: Unchanged()) }
    return catalogue
  }

  private struct Unchanged: ColorKernel {
    func callAsFunction(_ pixel: Pixel, at position: PixelPosition) -> Pixel { pixel }
  }
}

extension Pipeline {
  static let longParameters: [(String, count: Int)] =
    (0 ..< 7).map { ("v\($0)", 1000) } + (0 ..< 20).map { ("w\($0)", 100) }

  /// A pipeline whose message has a given number of bytes: one stage of `long`, and empty stages
  /// with ids that fill the rest.
  static func long(bytes: Int) -> Pipeline {
    var call = FilterCall(name: "long")
    func pipeline(_ call: FilterCall) -> Pipeline { [Stage(.filter(call))] }
    func count(_ pipeline: Pipeline) -> Int { Sidelight_V1_Pipeline(pipeline).byteCount }
    for (name, values) in Self.longParameters {
      var longer = call
      longer.parameters[name] = .vector(Array(repeating: 0.5, count: values))
      if count(pipeline(longer)) + 200 < bytes { call = longer }
    }
    var filled = pipeline(call)
    while count(filled) < bytes, filled.stages.count < Pipeline.maxStages {
      let left = bytes - count(filled)
      let index = "\(filled.stages.count)"
      // An empty stage has 6 bytes and its id.
      let length = left > 140 ? 64 : left > 70 ? left / 2 - 6 : left - 6
      filled.stages.append(
        Stage(
          .pipeline([]),
          id: index + String(repeating: "i", count: max(0, length - index.utf8.count))))
    }
    return filled
  }
}
