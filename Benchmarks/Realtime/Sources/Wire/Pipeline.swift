/// A pipeline, encoded as `sidelight.v1.Pipeline`.
struct Pipeline: Sendable {
  /// A filter with its parameters that are numbers.
  struct Filter: Sendable {
    var name: String
    var parameters: [String: Double] = [:]
  }

  /// As reports name it.
  let name: String
  let filters: [Filter]

  static let passThrough = Pipeline(name: "pass-through", filters: [])
  static let vintage = Pipeline(name: "vintage", filters: [Filter(name: "vintage")])
  static let blur = Pipeline(
    name: "gaussianBlur 10",
    filters: [Filter(name: "gaussianBlur", parameters: ["radius": 10])])
  /// The dearest plan here: no two of its passes fuse. For frames that are small and yet much work, so
  /// that what is short is processors and not the wire.
  static let dear = Pipeline(
    name: "4 x (median, zoomBlur)",
    filters: (0 ..< 4).flatMap { _ in [Filter(name: "median"), Filter(name: "zoomBlur")] })

  /// The message.
  var encoded: [UInt8] {
    WireWriter.message { pipeline in
      for filter in self.filters {
        let encodedFilter = WireWriter.message {
          $0.string(1, filter.name)
          for (name, value) in filter.parameters {
            let number = WireWriter.message { $0.double(1, value) }
            $0.message(
              2,
              WireWriter.message {
                $0.string(1, name)
                $0.message(2, number)
              })
          }
        }
        pipeline.message(1, WireWriter.message { $0.message(5, encodedFilter) })
      }
    }
  }
}
